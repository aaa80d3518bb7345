"""Whole experiments: the paper's tables, and the demonstration."""
