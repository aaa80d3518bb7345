"""Predictions for an index from other judged collections."""
