"""The paper's own formulas on the whole collection, in NumPy: real frequencies, exact lengths.

What Lucene ranks differs from what the paper ranks: whole frequencies, lengths in one byte, df in
place of l1. The baselines are eq. (1), (2), (4) and (6) with df, the others eq. (9) to (11) with
l1, so a part of the difference between the two is the idf's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..evaluation.topics import Qrels
from ..interruption import check
from ..matrix.term_document_matrix import TermDocumentMatrix, blocks
from ..ranking import SearchParameters
from ..simulation.retrieval import MEASURES as MEASURED
from ..simulation.retrieval import QueryPostings, evaluate, make_queries
from .published import MEASURES


class OwnPostings(QueryPostings):
    """The postings of the query terms, scored by one of the paper's formulas.

    ``values`` float32[V] are TDVs; None are the baseline's: all 1, with df in the idf.
    """

    def __init__(
        self,
        matrix: TermDocumentMatrix,
        topics: Mapping[str, Sequence[str]],
        qrels: Qrels,
        model: str,
        parameters: SearchParameters,
        values: np.ndarray | None = None,
    ) -> None:
        super().__init__(matrix, make_queries(matrix, topics, qrels))
        self._model, self._parameters = model, parameters
        given = np.ones(matrix.shape[0]) if values is None else np.asarray(values, np.float64)
        l1 = np.asarray(matrix.total_term_freq) * given
        self.doc_len = np.zeros(matrix.shape[1])
        for block in blocks(matrix.indptr):
            weighted = matrix.data[block.postings] * np.repeat(given[block.terms], block.sizes)
            docs = matrix.indices[block.postings]
            self.doc_len += np.bincount(docs, weighted, minlength=len(self.doc_len))
        of_postings = np.repeat(self.terms, np.diff(self.indptr))
        if values is None:
            idf = np.log((matrix.doc_count + 1) / np.maximum(matrix.doc_freq, 1))
        else:
            idf = np.log((l1.max() + 1) / (l1 + 1))
        tf, tokens = self.tf * given[of_postings], max(l1.sum(), 1e-9)
        self.own = self._score(tf, idf[of_postings], l1[of_postings] / tokens, tokens)
        self._left = tf > 0

    def _score(self, tf: np.ndarray, idf: np.ndarray, p: np.ndarray, tokens: float) -> np.ndarray:
        """Return float64[postings]: what each posting adds to a score."""
        given = self._parameters
        if self._model == "qld":
            return np.log1p(tf / np.maximum(given.mu * p, 1e-12))
        if self._model == "tfidf":
            return np.asarray(idf * tf)
        average = max(tokens / len(self.doc_len), 1e-9)
        norm = given.k1 * (1 - given.b + given.b * self.doc_len[self.docs] / average)
        return np.asarray(idf * tf * (given.k1 + 1) / np.maximum(tf + norm, 1e-9))

    def scores(
        self, impacts: np.ndarray, some: Iterable[int] | None = None
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Yield (query, float64[D]): above 0 where a query term that is left occurs, else 0."""
        for query in range(len(self.queries)) if some is None else some:
            check()
            scores, found = np.zeros(self.doc_number), np.zeros(self.doc_number, bool)
            _, times = self.queries.terms_of(query)
            for row, tf in zip(self.spans_of(query), times):
                scores[self.docs[row]] += tf * impacts[row]
                found[self.docs[row]] |= self._left[row]
            if self._model == "qld":
                scores -= times.sum() * np.log1p(self.doc_len / self._parameters.mu)
            yield query, np.where(found, scores - scores.min() + 1, 0)


def measure_own(*arguments: Any) -> dict[str, np.ndarray]:
    """Return nDCG@5 and R@1000, float64[Q], of :class:`OwnPostings` made of the arguments."""
    postings = OwnPostings(*arguments)
    measured = evaluate(postings, postings.own)
    return {name: measured[:, MEASURED.index(name)] for name in MEASURES}
