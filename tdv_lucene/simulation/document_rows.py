"""The matrix by document: lengths under given TDVs, and the rows that batches are made of."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from ..core.scoring import Batch, weighted_statistics
from ..matrix.term_document_matrix import TermDocumentMatrix
from .weighted_collection import WeightedCollection, term_totals


class Rows:
    """The document-major copy of the matrix. Memory: 8 bytes a posting."""

    def __init__(self, matrix: TermDocumentMatrix) -> None:
        tf = np.asarray(matrix.tf(slice(None)), np.float32)
        by_term = csr_array((tf, matrix.indices, matrix.indptr), matrix.shape)
        self._by_document = rows = by_term.T.tocsr()
        # The same entries with an empty row at the end, which -1 names.
        with_empty = rows.data, rows.indices, np.append(rows.indptr, rows.nnz)
        self._with_empty_row = csr_array(with_empty, (len(rows.indptr), rows.shape[1]), copy=False)
        self._statistics = np.maximum(matrix.doc_freq, 1), term_totals(matrix), matrix.doc_count
        self._padded_size: dict[tuple[int, ...], int] = {}

    def weighted(self, term_values: np.ndarray) -> WeightedCollection:
        """Return the real-valued collection that training models, in a fraction of a second.

        Document frequencies and the number of documents are those of the whole index, as in
        training; what pruning changes in them is left to
        :func:`.weighted_collection.apply_values`.
        """
        term_values = np.asarray(term_values, np.float32)
        statistics = weighted_statistics(term_values.astype(np.float64), *self._statistics)
        doc_len = self._by_document @ term_values
        return WeightedCollection(term_values, None, statistics, doc_len)

    def batch(
        self, query_terms: np.ndarray, query_tf: np.ndarray, docs: np.ndarray, tf: np.ndarray
    ) -> Batch:
        """Return the batch of documents ``docs`` int[B, C], -1 for an empty row.

        Rows are padded to the most that a batch of this shape has needed so far: a new size
        costs a compilation, which takes longer than many steps.
        """
        rows = self._with_empty_row[docs.ravel()]
        entries = rows.nnz
        size = self._padded_size.get(docs.shape, 0)
        if size < entries:
            size = self._padded_size[docs.shape] = _bucket(entries + entries // 20)
        terms, values = np.zeros(size, np.int32), np.zeros(size, np.float32)
        places = np.full(size, docs.size - 1, np.int32)
        terms[:entries], values[:entries] = rows.indices, rows.data
        places[:entries] = np.repeat(np.arange(docs.size, dtype=np.int32), np.diff(rows.indptr))
        return Batch(query_terms, query_tf, tf, terms, places, values)

    def term_freqs(self, docs: np.ndarray, terms: np.ndarray) -> np.ndarray:
        """Return float32[B, L]: frequency in document ``docs[b]`` of each of ``terms[b]``."""
        found: np.ndarray = self._by_document[docs[:, None], terms].toarray()
        return found


def _bucket(size: int) -> int:
    """Round up to a quarter of a power of two."""
    quarter = 1 << max(0, size.bit_length() - 3)
    return max(1, -(-size // quarter) * quarter)
