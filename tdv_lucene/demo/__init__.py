"""The demonstration: the whole job on the documentation of Python's standard library."""
