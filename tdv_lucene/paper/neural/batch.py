"""What re-rankers score."""

from __future__ import annotations

from typing import Any, NamedTuple

Array = Any
"""A NumPy or JAX array."""


class Batch(NamedTuple):
    """Queries with documents to score; for shapes and padding see :mod:`.layers`.

    Attributes
    ----------
    query : int32[B, L]
        Term numbers.
    query_vectors : float32[B, L, E]
        Zeros for padding, as all below.
    idf : float32[B, L]
    docs : int32[B, C, N]
    doc_vectors : float32[B, C, N, E]
    """

    query: Array
    query_vectors: Array
    idf: Array
    docs: Array
    doc_vectors: Array
