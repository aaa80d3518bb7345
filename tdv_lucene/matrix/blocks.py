"""A matrix's postings in blocks: what works on all of them needs the memory of one block."""

from __future__ import annotations

import itertools
import mmap
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .term_document_matrix import TermDocumentMatrix

_BLOCK = 1 << 22
"""Postings worked on at a time: bounds the working memory to tens of megabytes."""


class Block(NamedTuple):
    """Terms in a row.

    Attributes
    ----------
    terms, postings : slice
        Of what has an entry a term, and a posting.
    sizes : int64[n]
        Postings of each term.
    """

    terms: slice
    postings: slice
    sizes: np.ndarray


def blocks(indptr: np.ndarray, size: int = _BLOCK) -> Iterator[Block]:
    """Yield all terms, about ``size`` postings at a time."""
    edges = np.searchsorted(indptr, np.arange(0, indptr[-1], size))
    edges = np.unique(np.append(edges, len(indptr) - 1))
    for first, last in itertools.pairwise(edges.tolist()):
        postings = slice(int(indptr[first]), int(indptr[last]))
        yield Block(slice(first, last), postings, np.diff(indptr[first : last + 1]))


def row_sums(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return float64[n]: sums of consecutive rows, exact for whole numbers; a row may be empty."""
    sums, held = np.zeros(len(sizes)), sizes > 0
    starts = np.cumsum(sizes) - sizes
    sums[held] = np.add.reduceat(values, starts[held], dtype=np.float64)
    return sums


def release(matrix: TermDocumentMatrix) -> None:
    """Give back the memory of what was read of a matrix that is mapped from files.

    The system would do so by itself when memory is short, but until then a reader of the whole
    matrix looks as if it held it.
    """
    for array in (matrix.indices, matrix.data, matrix.first_positions):
        mapped = getattr(array, "_mmap", None)
        if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED)
