"""Statistics of terms, for networks, orders and the prior."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..vocabulary import ByteStrings
from .term_document_matrix import TermDocumentMatrix, blocks, row_sums

_NAMES = ("mean length", "spread of lengths", "tokens a posting", "mean RIDF")


def residual_idf(matrix: TermDocumentMatrix) -> np.ndarray:
    """Return float64[V]: log(N / df) + log(1 - exp(-cf / N)).

    The number of documents with a term, against a Poisson distribution of its total frequency
    (Church and Gale 1995). Near 0 for terms that occur like noise.
    """
    documents = max(1, matrix.doc_count)
    expected = -np.expm1(-np.asarray(matrix.total_term_freq) / documents)
    return np.asarray(np.log(documents / np.asarray(matrix.doc_freq)) + np.log(expected))


def standard_statistic(matrix: TermDocumentMatrix, name: str) -> np.ndarray:
    """Return float64[V]: one of :data:`STATISTICS`, standardised, weighted by doc_freq.

    All but "log mean length" are O(V); that one is O(postings), in time and memory.
    """
    return standardise(_STATISTICS[name](matrix), np.asarray(matrix.doc_freq, np.float64))


def _characters(matrix: TermDocumentMatrix) -> np.ndarray:
    """Return int64[V]: the code points of a term, which mean the same in every script."""
    terms = matrix.vocabulary.terms
    return _count_bytes(terms, (terms.data & 0xC0) != 0x80)


def count_digits(terms: ByteStrings) -> np.ndarray:
    """Return int64[n]: ASCII digits, to which Lucene's analyzers convert those of other scripts."""
    data = np.asarray(terms.data)
    return _count_bytes(terms, (data >= ord("0")) & (data <= ord("9")))


def _count_bytes(terms: ByteStrings, which: np.ndarray) -> np.ndarray:
    """Return int64[n]: how many of ``which`` bytes each term has."""
    return np.diff(np.concatenate([[0], np.cumsum(which)])[terms.indptr])


def _mean_log_length(matrix: TermDocumentMatrix) -> np.ndarray:
    """Return float64[V]: mean log length of the documents a term is in."""
    if matrix.pool is not None:
        return matrix.pool.mean_log_len
    log_len = np.log1p(np.asarray(matrix.doc_len, np.float64))
    sums = np.concatenate([[0.0], np.cumsum(log_len[matrix.indices])])[matrix.indptr]
    return np.asarray(np.diff(sums) / np.asarray(matrix.doc_freq))


_STATISTICS: dict[str, Callable[[TermDocumentMatrix], np.ndarray]] = {
    "log df": lambda of: np.log(np.asarray(of.doc_freq)),
    "RIDF": residual_idf,
    "log cf/df": lambda of: np.log(np.asarray(of.total_term_freq) / np.asarray(of.doc_freq)),
    "log mean length": _mean_log_length,
    "characters": lambda of: np.log1p(_characters(of)),
    "digits": lambda of: count_digits(of.vocabulary.terms) / np.maximum(_characters(of), 1),
}
STATISTICS = tuple(_STATISTICS)


def standardise(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return ``values`` with weighted mean 0 and deviation 1, clipped to within 4 deviations."""
    if not len(values):
        return values
    mean = np.average(values, axis=0, weights=weight)
    deviation = np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weight))
    return np.clip((values - mean) / np.where(deviation > 0, deviation, 1), -4, 4)


def spread_of_weights(matrix: TermDocumentMatrix) -> np.ndarray:
    """Return float64[V]: the standard deviation of each term's frequencies over their mean.

    One pass over the postings.
    """
    sizes, total, squares = matrix.add_up(matrix.each(_sums_of_weights))
    sizes = np.maximum(sizes, 1)
    mean = np.maximum(total / sizes, 1e-9)
    return np.asarray(np.sqrt(np.maximum(squares / sizes - mean**2, 0)) / mean)


def _sums_of_weights(matrix: TermDocumentMatrix) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    total, squares = np.zeros((2, matrix.shape[0]))
    for terms, postings, rows in blocks(matrix.indptr):
        tf = np.asarray(matrix.data[postings], np.float64)
        total[terms], squares[terms] = row_sums(tf, rows), row_sums(tf**2, rows)
    return np.diff(matrix.indptr), total, squares


def share_between_terms(matrix: TermDocumentMatrix) -> float:
    """Return the share of the variance of frequencies that is between terms; 1 if all are equal."""
    doc_freq = np.maximum(matrix.doc_freq, 1)
    mean = np.asarray(matrix.total_term_freq) / doc_freq
    within = float(doc_freq @ (spread_of_weights(matrix) * mean) ** 2)
    between = float(doc_freq @ (mean - doc_freq @ mean / max(1, doc_freq.sum())) ** 2)
    return between / (between + within) if within > 0 else 1.0


def collection_statistics(matrix: TermDocumentMatrix) -> dict[str, float]:
    """Return the statistics that distinguish kinds of collection, O(V + D)."""
    doc_freq = np.asarray(matrix.doc_freq, np.float64)
    documents, tokens, squares = map(sum, zip(*matrix.each(sums_of_lengths)))
    if not documents or not tokens:
        return dict.fromkeys(_NAMES, 0.0)
    mean = tokens / documents
    values = (
        mean,
        max(squares / documents - mean**2, 0.0) ** 0.5 / mean,
        tokens / doc_freq.sum(),
        np.average(residual_idf(matrix), weights=doc_freq),
    )
    return dict(zip(_NAMES, map(float, values)))


def sums_of_lengths(matrix: TermDocumentMatrix) -> tuple[int, int, int]:
    """Return the number of documents with a term, their tokens, and the squares of these."""
    lengths = np.asarray(matrix.doc_len, np.int64)
    return int(np.count_nonzero(lengths)), int(lengths.sum()), int((lengths**2).sum())
