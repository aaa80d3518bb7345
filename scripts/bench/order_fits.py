"""What a posting is worth: how much oftener good answers owe their score to such postings than an
index holds them and searches visit them.

That is a ratio of two densities, and a classifier that tells the postings of answers from those
that cost estimates its logarithm. Here it is a logistic regression on log idf, idf, log RIDF and
log saturation, which makes the ratio a power of the saturation times :meth:`Fit.order`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tdv_lucene.matrix.term_document_matrix import TermDocumentMatrix
from tdv_lucene.matrix.term_statistics import residual_idf
from tdv_lucene.ranking.bm25 import bm25_idf
from tdv_lucene.simulation.problem import Problem
from tdv_lucene.values.posting_thresholds import rule_length_norm
from tdv_lucene.values.term_orders import counted_for_dropping

ANSWERS, HELD, OF_A_LIST = 5, 600_000, 60
"""Best documents of a query that count as answers beside the relevant ones; postings drawn of the
index, and of each list that a query visits."""
GAPS, TERM = 4.0, 48.0
"""Bits of a posting beside its gap, and of a term in the dictionary, about."""


class Fit(NamedTuple):
    """The weights of an order of terms, and the power of the saturation it was fitted with."""

    a: float
    x0: float
    r: float
    power: float

    def order(self, matrix: TermDocumentMatrix) -> np.ndarray:
        """Return float32[V]: (RIDF + 0.01)^r (x e^(-x / x0))^a, with x = idf / ln N."""
        x, ridf = _statistics(matrix)
        return np.asarray(ridf**self.r * (x * np.exp(-x / self.x0)) ** self.a, np.float32)


def _statistics(matrix: TermDocumentMatrix) -> tuple[np.ndarray, np.ndarray]:
    """Return float64[V] each: idf / ln N and RIDF + 0.01."""
    idf = bm25_idf(np.asarray(matrix.doc_freq), matrix.doc_count)
    return idf / np.log(matrix.doc_count + 1), np.maximum(residual_idf(matrix), 0) + 0.01


class _Drawn(NamedTuple):
    """Postings as (term, document, frequency), and what each counts."""

    terms: np.ndarray
    docs: np.ndarray
    tf: np.ndarray
    weight: np.ndarray


class Uses:
    """The postings that answers to a problem's queries use, and those that cost.

    Each of ``sets`` str[Q] counts the same, however many queries it has. ``k1_b`` are those of the
    saturation.
    """

    def __init__(self, problem: Problem, sets: np.ndarray, k1_b: tuple[float, float]) -> None:
        matrix = problem.matrix
        self.norms = rule_length_norm(matrix, *k1_b).at(matrix.stored_lengths())
        counted = counted_for_dropping(matrix, "bm25")
        self.counted = problem.with_position_boost(counted.position_boost)
        self.x, self.ridf = _statistics(matrix)
        self.held = self._held()
        self.used, self.visited = self._of_queries(problem, sets)

    def fit(self, price: float) -> Fit:
        """Fit the weights; ``price`` is that of all that is visited, in that of all bytes."""
        kinds = (
            (self.used, 1.0),
            (self.held, 1 / (1 + price)),
            (self.visited, price / (1 + price)),
        )
        found = np.concatenate([self._features(drawn) for drawn, _ in kinds])
        counts = np.concatenate(
            [share * drawn.weight / drawn.weight.sum() for drawn, share in kinds]
        )
        good = np.arange(len(found)) < len(self.used.terms)
        model = make_pipeline(StandardScaler(), LogisticRegression(C=100.0, max_iter=300))
        model.fit(found, good, logisticregression__sample_weight=1e6 * counts)
        log_x, x, ridf, power = model[-1].coef_[0] / model[0].scale_
        return Fit(log_x / power, -log_x / x, ridf / power, power)

    def _features(self, drawn: _Drawn) -> np.ndarray:
        x = self.x[drawn.terms]
        saturation = drawn.tf / (drawn.tf + self.norms[drawn.docs])
        columns = np.log(x), x, np.log(self.ridf[drawn.terms]), np.log(saturation)
        return np.stack(columns, axis=1)

    def _held(self) -> _Drawn:
        """Postings of the index, by their bytes."""
        matrix = self.counted.matrix
        some = np.random.default_rng(0).permutation(matrix.postings)[:HELD]
        terms = np.searchsorted(np.asarray(matrix.indptr), some, side="right") - 1
        doc_freq = np.asarray(matrix.doc_freq)[terms]
        bits = np.log2(matrix.doc_count / doc_freq) + GAPS + TERM / doc_freq
        tf = np.asarray(matrix.tf(slice(0, matrix.postings)))[some]
        return _Drawn(terms, np.asarray(matrix.indices)[some], tf, bits)

    def _of_queries(self, problem: Problem, sets: np.ndarray) -> tuple[_Drawn, _Drawn]:
        """Postings by the share they have in their answer's score, and those of the lists."""
        rng, postings = np.random.default_rng(0), problem.postings
        tf = self.counted.postings.tf  # of the same postings
        share_of = dict(zip(*np.unique(sets, return_counts=True)))
        used: list[tuple[np.ndarray, ...]] = []
        visited: list[tuple[np.ndarray, ...]] = []
        impacts = problem.impacts(problem.start)
        best = postings.top(impacts, ANSWERS)
        for query, scores in postings.scores(impacts):
            docs, grades = problem.queries.judged_of(query)
            answers = np.union1d(docs[grades > 0], best[query][best[query] >= 0])
            each = 1 / share_of[sets[query]]
            of_query = zip(*problem.queries.terms_of(query), postings.spans_of(query))
            for term, times, row in of_query:
                row_docs, row_tf = postings.docs[row], tf[row]
                at = np.isin(row_docs, answers)
                impact = times * impacts[row][at]
                share = impact / np.maximum(scores[row_docs[at]], 1e-6) / len(answers)
                used.append(_row(term, row_docs[at], row_tf[at], each * share))
                drawn = rng.integers(len(row_docs), size=min(len(row_docs), OF_A_LIST))
                weight = np.full(len(drawn), each * len(row_docs) / max(1, len(drawn)))
                visited.append(_row(term, row_docs[drawn], row_tf[drawn], weight))
        return tuple(_Drawn(*map(np.concatenate, zip(*rows))) for rows in (used, visited))


def _row(term: int, docs: np.ndarray, tf: np.ndarray, weight: np.ndarray) -> tuple:
    return np.full(len(docs), term), docs, tf, weight
