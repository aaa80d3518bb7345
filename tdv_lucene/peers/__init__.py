"""Unlearned prunings, which a learned one has to beat at the same size."""
