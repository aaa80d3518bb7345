"""What the learner knows of a term: collection statistics and a vector."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.scoring import bm25_idf
from ..core.tdv import Features
from ..embedding.embed import TermVectors
from ..matrix.term_document_matrix import TermDocumentMatrix


def residual_idf(matrix: TermDocumentMatrix) -> np.ndarray:
    """Return float64[V]: log(N / df) + log(1 - exp(-cf / N)).

    How much rarer the term is, by documents, than a Poisson with its total frequency would have
    it (Church and Gale 1995). Near 0 for terms that occur like noise.
    """
    documents = max(1, matrix.doc_count)
    expected = -np.expm1(-np.asarray(matrix.total_term_freq) / documents)
    return np.log(documents / np.asarray(matrix.doc_freq)) + np.log(expected)


def order_terms(matrix: TermDocumentMatrix, kind: str, model: str = "bm25") -> np.ndarray:
    """Return float32[V], above 0: the order in which terms are dropped, smallest first.

    The learned TDV does not say whether a posting list is worth its bytes: dropping the terms with
    the smallest TDVs, or those that queries use least, costs far more than this order.

    Parameters
    ----------
    kind : "ridf", "named" or "balanced"
        (RIDF + 0.1) idf, or (RIDF + 0.1 + 0.25 (idf / 8)^4) idf. Terms of a single document have no
        RIDF and would be dropped first, which saves little and drops the names that queries ask
        for; idf keeps some of them, and the second order nearly all. It also favours short lists,
        which searches pass over fastest: on wiki165k idf in place of its root left a third fewer
        postings to visit in as many bytes, at the same ranking.

        "balanced" is the prior's: (RIDF + 0.05 + 0.7 r (idf / 8)^4) sqrt(idf), with r the mean RIDF
        of a posting. A collection whose words discriminate little keeps fewer terms for their
        rarity alone, and the root of idf keeps the recall of small collections.
    model : "bm25", "qld" or "tfidf"
        The language model has 0.2 in place of 0.1, which keeps more rare terms: at 45 % of the
        postings .02 better on lisa, time and scifact's training claims, .005 worse on tydi-train.
    """
    idf = bm25_idf(np.asarray(matrix.doc_freq), matrix.doc_count)
    importance = np.maximum(residual_idf(matrix), 0)
    rare = (idf / 8) ** 4
    if kind == "balanced":
        mean = float(np.average(importance, weights=matrix.doc_freq)) if len(idf) else 0.0
        return ((importance + 0.05 + 0.7 * mean * rare) * np.sqrt(idf)).astype(np.float32)
    importance += 0.2 if model == "qld" else 0.1
    if kind == "named":
        importance += 0.25 * rare
    return (importance * idf).astype(np.float32)


def term_features(matrix: TermDocumentMatrix, vectors: TermVectors, kind: str = "all") -> Features:
    """Return the standardised features of every term of ``matrix``: all, or of one ``kind``.

    Means and deviations are weighted by document frequency: a term counts as often as it has
    postings, because postings are what is scored and stored.
    """
    weight = np.asarray(matrix.doc_freq, np.float64)
    statistics = np.column_stack([standard_statistic(matrix, name) for name in STATISTICS])
    known = _standardise(np.asarray(vectors.vectors, np.float64), weight[vectors.terms])
    # Vector components share one unit of variance, or 100 of them would outweigh the statistics.
    known /= np.sqrt(max(1, known.shape[1]) / 10)
    if kind == "vectors":
        statistics = statistics[:, :0]
    elif kind == "statistics":
        known = known[:, :0]
    return Features(
        statistics.astype(np.float32), np.asarray(vectors.terms), known.astype(np.float32)
    )


def standard_statistic(matrix: TermDocumentMatrix, name: str) -> np.ndarray:
    """Return float64[V]: one of :data:`STATISTICS`, standardised as :func:`term_features` has it.

    All but "log mean length" are O(V); that one is O(postings), in time and memory.
    """
    doc_freq = np.asarray(matrix.doc_freq, np.float64)
    return _standardise(_STATISTICS[name](matrix, doc_freq), doc_freq)


def digit_share(matrix: TermDocumentMatrix) -> np.ndarray:
    """Return float64[V]: the share of a term's bytes that are digits."""
    terms = matrix.vocabulary.terms
    is_digit = (terms.data >= ord("0")) & (terms.data <= ord("9"))
    digits = np.diff(np.concatenate([[0], np.cumsum(is_digit)])[terms.indptr])
    return digits / np.maximum(np.diff(terms.indptr), 1)


def _mean_log_length(matrix: TermDocumentMatrix) -> np.ndarray:
    """Return float64[V]: mean log length of the documents a term is in."""
    if matrix.pool is not None:
        return matrix.pool.mean_log_len
    log_len = np.log1p(np.asarray(matrix.doc_len, np.float64))
    sums = np.concatenate([[0.0], np.cumsum(log_len[matrix.indices])])[matrix.indptr]
    return np.diff(sums) / np.asarray(matrix.doc_freq)


_STATISTICS: dict[str, Callable[[TermDocumentMatrix, np.ndarray], np.ndarray]] = {
    "log df": lambda matrix, doc_freq: np.log(doc_freq),
    "RIDF": lambda matrix, doc_freq: residual_idf(matrix),
    "log cf/df": lambda matrix, doc_freq: np.log(np.asarray(matrix.total_term_freq) / doc_freq),
    "log mean length": lambda matrix, doc_freq: _mean_log_length(matrix),
    "bytes": lambda matrix, doc_freq: np.log1p(np.diff(matrix.vocabulary.terms.indptr)),
    "digits": lambda matrix, doc_freq: digit_share(matrix),
}
STATISTICS = tuple(_STATISTICS)


def _standardise(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return ``values`` with weighted mean 0 and deviation 1, clipped to within 4 deviations."""
    if not len(values):
        return values
    mean = np.average(values, axis=0, weights=weight)
    deviation = np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weight))
    return np.clip((values - mean) / np.where(deviation > 0, deviation, 1), -4, 4)
