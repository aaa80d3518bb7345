"""The demonstration: the whole job on a sample of Wikipedia."""
