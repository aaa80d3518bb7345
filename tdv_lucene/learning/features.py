"""What the learner knows of a term: collection statistics and a vector."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core import scoring
from ..core.tdv import Features
from ..embedding.embed import TermVectors
from ..matrix.term_document_matrix import TermDocumentMatrix


def residual_idf(matrix: TermDocumentMatrix) -> np.ndarray:
    """Return float64[V]: :func:`..core.scoring.residual_idf` of every term."""
    counts = np.asarray(matrix.doc_freq), np.asarray(matrix.total_term_freq)
    return scoring.residual_idf(*counts, matrix.doc_count)


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
