"""What a matrix's postings sum to; a whole collection's from a pool's, see :mod:`..matrix.pool`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..matrix.blocks import Block, row_sums
from ..matrix.pool import ListSample, Pool
from ..matrix.term_document_matrix import TermDocumentMatrix

_GOLDEN = (5**0.5 - 1) / 2
"""Multiples of it are spread evenly over [0, 1), however many are taken."""
_ROUNDING = 1e-9  # of quotients that are whole numbers


class Sums:
    """What the postings of a matrix sum to, term by term, after something was done to them.

    Of a pool's matrix they are estimates of the whole collection's. The pool's documents count for
    themselves. Of a term's other postings as large a share is left as of those in drawn documents,
    with one more posting added that fares as those of terms of its kind do: many terms have no or
    few postings in drawn documents.
    """

    def __init__(self, matrix: TermDocumentMatrix) -> None:
        self._matrix, self._pool = matrix, matrix.pool
        shape = (1 if matrix.pool is None else 2), matrix.shape[0]  # all documents, and drawn ones
        self._doc_freq, self._total = np.zeros(shape), np.zeros(shape)

    def add(self, block: Block, docs: np.ndarray, tf: np.ndarray) -> None:
        """Add the postings of a block: the documents, and their frequencies now."""
        parts = (tf,) if self._pool is None else (tf, tf * self._pool.drawn[docs])
        for row, part in enumerate(parts):
            self._doc_freq[row, block.terms] = row_sums(part > 0, block.sizes)
            self._total[row, block.terms] = row_sums(part, block.sizes)

    @property
    def sizes(self) -> np.ndarray:
        """int64[V]: the postings left of the matrix itself."""
        return np.asarray(self._doc_freq[0], np.int64)

    def of_collection(self, factors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return int64[V] document frequencies and float64[V] sums of the collection's postings.

        ``factors`` float[V] are what frequencies were multiplied by; 0 for a dropped term.
        """
        matrix, pool = self._matrix, self._pool
        if pool is None:
            return self.sizes, self._total[0]
        factors = np.asarray(factors, np.float64)
        unseen = np.asarray(matrix.doc_freq) - np.diff(matrix.indptr)
        left = _left(unseen, pool.doc_freq_drawn, self._doc_freq[1], factors > 0, pool.kinds)
        whole = _whole(left)
        unseen = np.maximum(np.asarray(matrix.total_term_freq) - pool.total, 0)
        total = _left(unseen, pool.total_drawn, self._total[1], factors, pool.kinds)
        total *= np.divide(whole, left, out=np.zeros(len(left)), where=left > 0)
        return self.sizes + whole, self._total[0] + total

    def doc_count(self, doc_len: np.ndarray) -> int:
        """Return the documents of the collection with a term left, from lengths of D documents."""
        here = int(np.count_nonzero(doc_len))
        if self._pool is None:
            return here
        drawn, before = self._pool.drawn, np.asarray(self._matrix.doc_len) > 0
        unseen = self._matrix.doc_count - int(np.count_nonzero(before))
        left = int(np.count_nonzero((doc_len > 0) & drawn))
        share = left / max(1, int(np.count_nonzero(before & drawn)))
        return here + round(unseen * share)

    def pool_left(self, lists: tuple[ListSample, ...]) -> Pool:
        """Return the pool of the matrix that has what was added, and nothing else."""
        assert self._pool is not None
        doc_freq, total = self._doc_freq.astype(np.int64), self._total.astype(np.int64)
        return replace(
            self._pool, doc_freq_drawn=doc_freq[1], total=total[0], total_drawn=total[1],
            lists=lists,
        )  # fmt: skip


def _left(
    unseen: np.ndarray, drawn: np.ndarray, left: np.ndarray, factors: np.ndarray, kinds: np.ndarray
) -> np.ndarray:
    """Return float64[V]: what is left of the ``unseen``, where of ``drawn`` there is ``left``."""
    numbers = int(kinds.max(initial=0)) + 1
    found = np.bincount(kinds, left, minlength=numbers)
    out_of = np.bincount(kinds, drawn * factors, minlength=numbers)
    share = found.sum() / out_of.sum() if out_of.sum() > 0 else 1.0
    of_kind = np.divide(found, out_of, out=np.full(numbers, share), where=out_of > 0)
    result: np.ndarray = np.maximum(unseen, 0) * (left + factors * of_kind[kinds]) / (drawn + 1)
    return result


def _whole(numbers: np.ndarray) -> np.ndarray:
    """Round float64[n] up or down to int64[n], so that sums over many of them stay.

    A term's postings are a whole number; were all terms of a kind rounded alike, none or all of
    the rare ones would be dropped.
    """
    steps = np.arange(len(numbers)) * _GOLDEN % 1
    whole: np.ndarray = np.floor(numbers + steps + _ROUNDING).astype(np.int64)
    return whole
