"""Searching with the parameters an index records, and tuning them."""
