"""What re-rankers read: the first terms of queries and documents, and vectors for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import jax
import numpy as np

from ...embedding.term_vectors import TermVectors
from ...matrix.term_document_matrix import TermDocumentMatrix, TokenSequences
from ...ranking.bm25 import bm25_idf
from .config import POOLED, NeuralConfig
from .layers import Batch

_KEY = 20161024  # of the vectors of terms that have none: the same in training and at search
_QUERY_STEP = 8


@dataclass(frozen=True, eq=False)
class Reader:
    """A collection as re-rankers see it."""

    matrix: TermDocumentMatrix
    vectors: TermVectors
    config: NeuralConfig

    @cached_property
    def table(self) -> np.ndarray:
        """float32[V, E]: the word vectors, all of length sqrt(E).

        A term without a vector gets a random one, always the same: it matches itself and nothing
        else.
        """
        terms, size = self.matrix.shape[0], self.vectors.vectors.shape[1]
        table = np.array(jax.random.normal(jax.random.key(_KEY), (terms, size)))
        table[self.vectors.terms] = self.vectors.vectors
        lengths = np.sqrt((table**2).sum(axis=1, keepdims=True))
        return table * (np.sqrt(size) / np.maximum(lengths, 1e-12)).astype(np.float32)

    @cached_property
    def idf(self) -> np.ndarray:
        """float32[V]: BM25's, of Lucene."""
        doc_freq = np.asarray(self.matrix.doc_freq, np.float64)
        return bm25_idf(doc_freq, self.matrix.doc_count).astype(np.float32)

    @property
    def sequences(self) -> TokenSequences:
        assert self.matrix.sequences is not None  # open_matrix(tokens=True) has them
        return self.matrix.sequences

    def queries(self, texts: Mapping[str, Sequence[str]]) -> np.ndarray:
        """Return int32[Q, L]: the terms of analysed texts, without those no document has.

        L is what the longest has, up to ``query_terms``, rounded up to a multiple of eight.
        """
        found = [self.matrix.vocabulary.find(tokens) for tokens in texts.values()]
        found = [terms[terms >= 0][: self.config.query_terms] for terms in found]
        longest = max((len(terms) for terms in found), default=0)
        width = min(self.config.query_terms, -(-max(longest, 1) // _QUERY_STEP) * _QUERY_STEP)
        padded = np.full((len(found), width), -1, np.int32)
        for row, terms in zip(padded, found):
            row[: len(terms)] = terms
        return padded

    def lengths(self, documents: np.ndarray) -> np.ndarray:
        """Return int64[n]: terms read of each of ``documents``."""
        indptr = self.sequences.indptr
        return np.minimum(indptr[documents + 1] - indptr[documents], self.config.doc_terms)

    def width(self, longest: int) -> int:
        """The padded length of documents up to ``longest`` terms: one of four."""
        whole = self.config.doc_terms // POOLED
        steps = sorted({max(1, -(-whole * part // 5)) for part in (1, 2, 3, 5)})
        return next(step * POOLED for step in steps if step * POOLED >= longest)

    def batch(self, queries: np.ndarray, documents: np.ndarray, width: int) -> Batch:
        """Return the batch of ``documents`` int[B, C] for queries int32[B, L] of terms.

        A document of -1 is padding, and empty. Documents are cut or padded to ``width`` terms.
        """
        docs = self.sequences.heads(np.maximum(documents, 0).ravel(), width)
        docs = docs.reshape(*documents.shape, width)
        docs[documents < 0] = -1
        idf = np.where(queries >= 0, self.idf[np.maximum(queries, 0)], 0).astype(np.float32)
        return Batch(queries, self._vectors(queries), idf, docs, self._vectors(docs))

    def _vectors(self, terms: np.ndarray) -> np.ndarray:
        """Return float32[..., E], zeros for padding."""
        found = np.take(self.table, np.maximum(terms, 0), axis=0)
        found[terms < 0] = 0
        return found
