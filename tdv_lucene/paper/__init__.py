"""The paper's experiment: its tables, its recipe, and the neural re-rankers it compares with.

Nothing in the package imports it; the command line finds it by its name.
"""
