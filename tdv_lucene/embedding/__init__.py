"""Word vectors for index terms: from the matrix itself, from files, or trained on stored text."""
