"""What each peer drops first: an order of terms, or a factor of postings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..analysis import STOP_WORDS
from ..ranking.bm25 import bm25_idf

if TYPE_CHECKING:  # the command line reads the names, and is not to wait for JAX
    from ..matrix.term_document_matrix import TermDocumentMatrix

CARMEL_K = 10
"""The rank that Carmel's epsilon version protects."""


class Order(NamedTuple):
    """An order of terms (given a seed) or a factor of postings (given K_d), and what it is.

    Attributes
    ----------
    of_weights : (k1, b) or None
        Of the saturation, where the order is for impact indexes: with so large a k1 it is the
        weight, or with b = 1 its share of the document's largest.
    """

    compute: Callable[..., np.ndarray]
    about: str
    of_weights: tuple[float, float] | None = None


def _by_doc_freq(matrix: TermDocumentMatrix, seed: int) -> np.ndarray:
    return -np.asarray(matrix.doc_freq, np.float32)


def _by_residual_idf(matrix: TermDocumentMatrix, seed: int) -> np.ndarray:
    from ..matrix.term_statistics import residual_idf

    return residual_idf(matrix).astype(np.float32)


def _at_random(matrix: TermDocumentMatrix, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random(matrix.shape[0], np.float32)


def _by_stop_list(matrix: TermDocumentMatrix, seed: int) -> np.ndarray:
    """The standard list, then the collection's most frequent words: how stop lists are made.

    Fox (1990), "A stop list for general text"; Manning, Raghavan and Schuetze (2008), 2.2.2.
    """
    order = -np.asarray(matrix.total_term_freq, np.float64)
    standard = matrix.vocabulary.find(STOP_WORDS)
    order[standard[standard >= 0]] -= matrix.total_term_freq.sum()
    return order.astype(np.float32)


def _uniform(matrix: TermDocumentMatrix, length_norm: np.ndarray) -> np.ndarray:
    """A posting's BM25 score against one threshold for all: idf times saturation."""
    return np.asarray(bm25_idf(np.asarray(matrix.doc_freq), matrix.doc_count))


def _same(matrix: TermDocumentMatrix, length_norm: np.ndarray) -> np.ndarray:
    return np.ones(matrix.shape[0])


def _delta(matrix: TermDocumentMatrix, length_norm: np.ndarray) -> np.ndarray:
    """A posting's score as a share of the best of its list; idf cancels."""
    return 1 / _best_saturations(matrix, length_norm, 1)


def _epsilon(matrix: TermDocumentMatrix, length_norm: np.ndarray) -> np.ndarray:
    """As a share of the list's ``CARMEL_K``-th best; shorter lists are dropped last of all."""
    best = _best_saturations(matrix, length_norm, CARMEL_K)
    least = np.nanmin(best, initial=1.0)
    return 1 / np.where(np.isnan(best), least / 1000, best)


def _best_saturations(matrix: TermDocumentMatrix, length_norm: np.ndarray, k: int) -> np.ndarray:
    """Return float64[V]: the ``k``-th largest tf / (tf + K_d) of each list; NaN if it is short."""
    found = np.full(matrix.shape[0], np.nan)
    for term in np.flatnonzero(np.asarray(matrix.doc_freq) >= k):
        span = slice(matrix.indptr[term], matrix.indptr[term + 1])
        tf = matrix.data[span]
        saturation = tf / (tf + length_norm[matrix.indices[span]])
        found[term] = np.partition(saturation, -k)[-k]
    return found


POSTINGS = {
    "carmel-uniform": Order(_uniform, "postings of the smallest BM25 score (Carmel et al. 2001)"),
    "carmel-delta": Order(_delta, "postings of the smallest share of their list's best"),
    "carmel-epsilon": Order(
        _epsilon, f"postings of the smallest share of their list's {CARMEL_K}th best"
    ),
    "abs-value": Order(_same, "postings of the smallest weight, of an impact index", (1e4, 0)),
    "max-ratio": Order(_same, "postings of the smallest share of their document's best", (1e4, 1)),
}

ORDERS = {
    "df": Order(_by_doc_freq, "terms in the most documents"),
    "ridf": Order(_by_residual_idf, "terms of the lowest residual idf (Church and Gale 1995)"),
    "random": Order(_at_random, "terms at random"),
    "stopwords": Order(_by_stop_list, "terms of a longer and longer stop list (Fox 1990)"),
}

PEERS = {name: order.about for name, order in (ORDERS | POSTINGS).items()}
"""Name -> what is dropped first. Carmel et al.: "Static index pruning for information retrieval
systems" (SIGIR 2001), with BM25 as the score. The last two are OpenSearch's, of the same name."""
