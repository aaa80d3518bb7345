"""Ten documents small enough to work out by hand."""

from __future__ import annotations

from lucene_indexes import Doc

TINY_TEXTS = [
    "the quick brown fox jumps over the lazy dog",
    "a quick brown dog outpaces a quick fox",
    "lazy dogs sleep all day and the fox runs",
    "information retrieval ranks documents by term weights",
    "inverted index pruning drops postings of poor terms",
    "term weights change the ranking of documents",
    "the index stores postings of every term term term",
    "foxes dogs and other animals sleep",
    "retrieval of documents from a pruned index is fast fast",
    "quick ranking needs a small inverted index",
]


def tiny_segments(per_segment: int = 4) -> list[list[Doc]]:
    """The tiny collection, d0 to d9, in segments of at most ``per_segment`` documents."""
    docs = [Doc(f"d{i}", text.split()) for i, text in enumerate(TINY_TEXTS)]
    return [docs[i : i + per_segment] for i in range(0, len(docs), per_segment)]
