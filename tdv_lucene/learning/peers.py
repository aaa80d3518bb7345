"""Unlearned prunings as term values: what a learned pruning has to beat at the same size.

`unlearned_values` makes :class:`~tdv_lucene.TermValues` of weights 1 and an order
in which terms or postings go, which ``prune`` takes as it takes a learned one.
:func:`binary_values` keeps the learned order and forgets the learned weights (tdv 0 or 1).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..arguments import checked_seed
from ..core.scoring import bm25_idf
from ..errors import TdvError
from ..matrix.extract import open_matrix
from ..matrix.norms import stored_lengths
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..output import Output
from ..progress import Progress, silent
from ..ranking import ANY_MODEL
from ..values.dropped_postings import PostingRule
from ..values.posting_thresholds import make_posting_rule, rule_length_norm
from ..values.term_values import KIND, TermValues
from .features import residual_idf
from .recipes import REDUCTIONS, Parameters

STOP_WORDS = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then "
    "there these they this to was will with"
).split()
"""Lucene's ``EnglishAnalyzer.ENGLISH_STOP_WORDS_SET``. Anserini's analyzer drops them already."""


CARMEL_K = 10
"""The rank that Carmel's epsilon version protects."""


class _Order(NamedTuple):
    """An order of terms (given a seed) or a factor of postings (given K_d), and what it is."""

    compute: Callable[..., np.ndarray]
    about: str


def _by_doc_freq(matrix: TermDocumentMatrix, seed: int) -> np.ndarray:
    return -np.asarray(matrix.doc_freq, np.float32)


def _by_residual_idf(matrix: TermDocumentMatrix, seed: int) -> np.ndarray:
    return residual_idf(matrix).astype(np.float32)


def _at_random(matrix: TermDocumentMatrix, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random(matrix.shape[0], np.float32)


def _by_stop_list(matrix: TermDocumentMatrix, seed: int) -> np.ndarray:
    """The standard list, then the most frequent words of the collection, as stop lists are made.

    Fox (1990), "A stop list for general text"; Manning, Raghavan and Schuetze (2008), 2.2.2.
    """
    order = -np.asarray(matrix.total_term_freq, np.float64)
    standard = matrix.vocabulary.find(STOP_WORDS)
    order[standard[standard >= 0]] -= matrix.total_term_freq.sum()
    return order.astype(np.float32)


def _uniform(matrix: TermDocumentMatrix, length_norm: np.ndarray) -> np.ndarray:
    """A posting's BM25 score against one threshold for all: idf times saturation."""
    return bm25_idf(np.asarray(matrix.doc_freq), matrix.doc_count)


def _delta(matrix: TermDocumentMatrix, length_norm: np.ndarray) -> np.ndarray:
    """A posting's score as a share of the best of its list; idf falls out."""
    return 1 / _best_saturations(matrix, length_norm, 1)


def _epsilon(matrix: TermDocumentMatrix, length_norm: np.ndarray) -> np.ndarray:
    """As a share of the list's ``CARMEL_K``-th best; shorter lists go last of all."""
    best = _best_saturations(matrix, length_norm, CARMEL_K)
    least = np.nanmin(best, initial=1.0)
    return 1 / np.where(np.isnan(best), least / 1000, best)


def _best_saturations(matrix: TermDocumentMatrix, length_norm: np.ndarray, k: int) -> np.ndarray:
    """Return float64[V]: the ``k``-th largest tf / (tf + K_d) of each list, NaN where it ends."""
    found = np.full(matrix.shape[0], np.nan)
    for term in np.flatnonzero(np.asarray(matrix.doc_freq) >= k):
        span = slice(matrix.indptr[term], matrix.indptr[term + 1])
        tf = matrix.data[span]
        saturation = tf / (tf + length_norm[matrix.indices[span]])
        found[term] = np.partition(saturation, len(saturation) - k)[len(saturation) - k]
    return found


_POSTINGS = {
    "carmel-uniform": _Order(_uniform, "postings of the smallest BM25 score (Carmel et al. 2001)"),
    "carmel-delta": _Order(_delta, "postings of the smallest share of their list's best score"),
    "carmel-epsilon": _Order(
        _epsilon, f"postings of the smallest share of their list's {CARMEL_K}th best score"
    ),
}

_ORDERS = {
    "df": _Order(_by_doc_freq, "terms of most documents first"),
    "ridf": _Order(_by_residual_idf, "lowest residual idf first (Church and Gale 1995)"),
    "random": _Order(_at_random, "terms at random"),
    "stopwords": _Order(_by_stop_list, "a longer and longer stop list (Fox 1990)"),
}

PEERS = {name: order.about for name, order in (_ORDERS | _POSTINGS).items()}
"""Name -> what goes first. Carmel's: "Static index pruning for information retrieval systems"
(SIGIR 2001), with BM25 for the score."""


def unlearned_values(
    matrix: TermDocumentMatrix,
    name: str,
    *,
    parameters: Parameters | None = None,
    seed: int = 0,
) -> TermValues:
    """Return values of weight 1 with the order of terms ``name``, one of :data:`PEERS`.

    Nothing is validated: the points have no measures. Their scale is 1, which leaves frequencies
    as they are.

    Parameters
    ----------
    parameters
        k1, b and mu that the pruned index records for its search; None for Anserini's.
    seed
        Of ``"random"``.

    Raises
    ------
    TdvError
        When there is no such pruning.
    """
    if name not in PEERS:
        raise TdvError(f"no unlearned pruning '{name}': choose one of {', '.join(PEERS)}")
    matrix.require_whole("a pruning")
    parameters = parameters or Parameters()
    weights = np.ones(matrix.shape[0], np.float32)
    rule = None
    if name in _POSTINGS:
        rule = _posting_rule(matrix, _POSTINGS[name], weights, parameters)
    priority = rule.priority if rule else _ORDERS[name].compute(matrix, seed)
    by_posting = {} if rule is None else {"unit": "posting", "posting_rule": rule.describe()}
    unmeasured = {"measures": {}, "full": {}, "scale": 1, "scales": []}
    return TermValues(
        vocabulary=matrix.vocabulary,
        doc_freq=np.asarray(matrix.doc_freq),
        total_term_freq=np.asarray(matrix.total_term_freq),
        weights=weights,
        priority=priority,
        posting_priority=None if rule is None else rule.priority,
        manifest={
            **by_posting,
            "field": matrix.vocabulary.field,
            "source": matrix.source,
            "vocabulary_sha256": matrix.vocabulary.sha256,
            "model": ANY_MODEL,
            "parameters": parameters.values(),
            "recipe": {"name": name, "about": PEERS[name]},
            "seed": seed,
            "queries": 0,
            "folds": [],
            "points": [{"reduction": r, "removed": r, **unmeasured} for r in REDUCTIONS],
            "recommended_reduction": 0.45,
        },
    )


def _posting_rule(
    matrix: TermDocumentMatrix, order: _Order, weights: np.ndarray, parameters: Parameters
) -> PostingRule:
    """No term goes whole; the others by the order's factor times their saturation."""
    at = {"k1": parameters.k1, "b": parameters.b}
    length_norm = rule_length_norm(matrix, **at).at(stored_lengths(matrix))
    factor = order.compute(matrix, length_norm).astype(np.float32)
    return make_posting_rule(matrix, weights, factor, factor, 0.0, **at)


def binary_values(learned: TermValues) -> TermValues:
    """Return ``learned`` with every value above 0 set to 1: what its order, and its lead if it has
    one, are worth without values.

    Nothing of the learned points' measures is kept, for they are those of the weights.
    """
    unmeasured = {"measures": {}, "full": {}, "scale": 1, "scales": []}
    points = [{**point, **unmeasured} for point in learned.points]
    recipe = {**learned.manifest["recipe"], "binary": True}
    rule = learned.posting_rule
    if rule is not None:
        rule = replace(rule, factors_at=(), factors=None)
    by_posting = {} if rule is None else {"posting_rule": rule.describe()}
    return replace(
        learned,
        weights=(np.asarray(learned.weights) > 0).astype(np.float32),
        posting_factors=None,
        manifest={
            **learned.manifest,
            **by_posting,
            "recipe": recipe,
            "points": points,
            "folds": [],
        },
    )


def make_peer_values(
    index: str | os.PathLike,
    output: str | os.PathLike,
    name: str,
    *,
    matrix: str | os.PathLike | None = None,
    field: str = "contents",
    seed: int = 0,
    k1: float | None = None,
    b: float | None = None,
    mu: float | None = None,
    overwrite: bool = False,
    progress: Progress = silent,
) -> TermValues:
    """Write :func:`unlearned_values` of a Lucene index to the folder ``output``.

    Parameters
    ----------
    matrix
        A folder from :func:`extract_matrix` of this index; None extracts it on the way.

    Raises
    ------
    TdvError
        For everything a user can mend, before anything is written.
    """
    checked_seed(seed)
    place = Output.folder(output, KIND, inputs=[index, matrix], overwrite=overwrite)
    given = {"k1": k1, "b": b, "mu": mu}
    parameters = Parameters(**{key: x for key, x in given.items() if x is not None})
    with open_matrix(index, matrix, field=field, progress=progress) as counts:
        values = unlearned_values(counts, name, parameters=parameters, seed=seed)
        values.save(place)
    return TermValues.load(output)
