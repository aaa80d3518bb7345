"""A matrix without the occurrences that topics were made of; it is read and written in blocks."""

from __future__ import annotations

from dataclasses import replace
from tempfile import TemporaryFile

import numpy as np

from ..interruption import check
from ..matrix.blocks import blocks, release, row_sums
from ..matrix.norms import has_exact_norms
from ..matrix.term_document_matrix import TermDocumentMatrix


class LoweredMatrix:
    """A matrix with some frequencies lowered; ``docs`` are those looked up term by term.

    Memory: what is lowered, and a block of postings.
    """

    def __init__(self, matrix: TermDocumentMatrix, docs: np.ndarray | None) -> None:
        self._source = matrix
        self._left: dict[int, int] = {}  # position of a posting -> its frequency as lowered
        self._by_doc = {} if docs is None else self._positions(docs)

    def _positions(self, docs: np.ndarray) -> dict[int, dict[int, int]]:
        """Document -> term -> position of the posting."""
        source = self._source
        wanted = np.zeros(source.shape[1], bool)
        wanted[docs] = True
        found: dict[int, dict[int, int]] = {int(doc): {} for doc in docs}
        for first, last in blocks(source.indptr):
            check()
            span = slice(source.indptr[first], source.indptr[last])
            at = span.start + np.flatnonzero(wanted[source.indices[span]])
            terms = np.searchsorted(source.indptr, at, side="right") - 1
            for doc, term, i in zip(source.indices[at].tolist(), terms.tolist(), at.tolist()):
                found[doc][term] = i
            release(source)
        return found

    def _frequencies(self, at: np.ndarray) -> np.ndarray:
        """The frequencies of the postings at these positions, as lowered."""
        before = self._source.data[at].tolist()
        return np.array([self._left.get(i, tf) for i, tf in zip(at.tolist(), before)], np.int64)

    def take(self, doc: int, terms: np.ndarray, times: np.ndarray) -> bool:
        """Take a title out of its document; return False instead if none of it would be left."""
        at = np.array([self._by_doc[doc].get(t, -1) for t in terms.tolist()], np.int64)
        at, times = at[at >= 0], times[at >= 0]
        left = np.maximum(self._frequencies(at) - times, 0)
        if not np.any(left > 0):
            return False
        self._left.update(zip(at.tolist(), left.tolist()))
        return True

    def lower(self, term: int, docs: np.ndarray) -> None:
        """Take one occurrence of a term out of documents that have it."""
        start, end = self._source.indptr[term : term + 2]
        at = start + np.searchsorted(self._source.indices[start:end], docs)
        left = np.maximum(self._frequencies(at) - 1, 1)
        self._left.update(zip(at.tolist(), left.tolist()))

    def matrix(self) -> TermDocumentMatrix:
        """The matrix as lowered; a term that would lose all its postings keeps them."""
        source, doc_freq = self._source, np.diff(self._source.indptr)
        at = np.array(sorted(self._left), np.int64)
        left = np.array([self._left[i] for i in at.tolist()], np.int64)
        terms = np.searchsorted(source.indptr, at, side="right") - 1
        remaining = doc_freq - np.bincount(terms[left == 0], minlength=len(doc_freq))
        lowered = remaining[terms] > 0
        at, left, terms = at[lowered], left[lowered], terms[lowered]
        remaining = doc_freq - np.bincount(terms[left == 0], minlength=len(doc_freq))
        return self._written(at, left, np.concatenate([[0], np.cumsum(remaining)]))

    def _written(self, at: np.ndarray, left: np.ndarray, indptr: np.ndarray) -> TermDocumentMatrix:
        """The matrix with the frequencies ``left`` at these positions, and no posting of 0."""
        source = self._source
        indices, data = (_mapped(int(indptr[-1]), a.dtype) for a in (source.indices, source.data))
        doc_len = np.zeros(source.shape[1])
        total_term_freq = np.zeros(source.shape[0], np.int64)
        for first, last in blocks(source.indptr):
            check()
            span, to = (slice(ptr[first], ptr[last]) for ptr in (source.indptr, indptr))
            of_block = slice(*np.searchsorted(at, (span.start, span.stop)))
            counts = np.array(source.data[span])
            counts[at[of_block] - span.start] = left[of_block]
            kept = counts > 0
            data[to], indices[to] = counts[kept], source.indices[span][kept]
            doc_len += np.bincount(indices[to], data[to], minlength=len(doc_len))
            sizes = np.diff(indptr[first : last + 1])
            total_term_freq[first:last] = row_sums(data[to], sizes)
            release(source)
        lengths = doc_len.astype(np.int64)
        return replace(
            source,
            indptr=indptr,
            indices=indices,
            data=data,
            doc_freq=np.diff(indptr),
            total_term_freq=total_term_freq,
            doc_len=lengths,
            norms=lengths if has_exact_norms(source) else source.norms,
            first_positions=None,  # a title's words would stand where it was
        )


def _mapped(size: int, dtype: np.dtype) -> np.ndarray:
    """An array in a temporary file, which is gone with it: as large as the index's own matrix."""
    with TemporaryFile(prefix="tdv-lucene-") as file:
        return np.memmap(file, dtype, "w+", shape=(size,))
