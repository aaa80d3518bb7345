"""The term-document matrix of a field: extraction, first positions and norms."""
