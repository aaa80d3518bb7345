"""Peers: unlearned prunings, which a learned one has to beat at the same size.

:func:`unlearned_values` makes :class:`~tdv_lucene.TermValues` with TDVs of 1 and an order in which
terms or postings are dropped; ``prune`` takes them like learned ones. :func:`binary_values` keeps
a learned order and replaces the learned TDVs by 0 and 1.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..arguments import Effect, checked_seed, refuses_idle
from ..core.scoring import bm25_idf
from ..errors import TdvError
from ..indexes.inspection import require_prunable
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
from .unvalidated import unmeasured, unvalidated_values

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
    """The standard list, then the collection's most frequent words: how stop lists are made.

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
"""Name -> what is dropped first. Carmel et al.: "Static index pruning for information retrieval
systems" (SIGIR 2001), with BM25 as the score."""


def unlearned_values(
    matrix: TermDocumentMatrix,
    name: str,
    *,
    parameters: Parameters | None = None,
    seed: int = 0,
) -> TermValues:
    """Return TDVs of 1 with the order of the peer ``name``, one of :data:`PEERS`.

    Nothing is validated: the points have no measures. Their scale is 1, which leaves frequencies
    as they are.

    Parameters
    ----------
    parameters
        k1, b and mu that the pruned index records for its search; None for Anserini's.
    seed
        For ``"random"``.

    Raises
    ------
    TdvError
        When there is no such peer.
    """
    if name not in PEERS:
        raise TdvError(f"no peer '{name}': choose one of {', '.join(PEERS)}")
    matrix.require_whole("a pruning")
    parameters = parameters or Parameters()
    weights = np.ones(matrix.shape[0], np.float32)
    rule = None
    if name in _POSTINGS:
        rule = _posting_rule(matrix, _POSTINGS[name], weights, parameters)
    priority = rule.priority if rule else _ORDERS[name].compute(matrix, seed)
    about = {
        "model": ANY_MODEL,
        "parameters": parameters.values(),
        "recipe": {"name": name, "about": PEERS[name]},
        "seed": seed,
    }
    return unvalidated_values(
        matrix, weights, priority, rule, about, reductions=REDUCTIONS, scale=1, recommended=0.45
    )


def _posting_rule(
    matrix: TermDocumentMatrix, order: _Order, weights: np.ndarray, parameters: Parameters
) -> PostingRule:
    """Return the rule that drops no whole terms, and postings by factor times saturation."""
    at = {"k1": parameters.k1, "b": parameters.b}
    length_norm = rule_length_norm(matrix, **at).at(stored_lengths(matrix))
    factor = order.compute(matrix, length_norm).astype(np.float32)
    return make_posting_rule(matrix, weights, factor, factor, 0.0, **at)


def binary_values(learned: TermValues) -> TermValues:
    """Return ``learned`` with every TDV above 0 set to 1.

    That shows what its order, and its first-position boost if it has one, are worth without TDVs.
    The measures of the learned points are left out, because they were measured with the TDVs.
    """
    points = [{**point, **unmeasured(1)} for point in learned.points]
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


EFFECTS = (Effect(("seed",), "name", "nothing else is random", only=("random",)),)
"""Beside what the options have an effect."""


@refuses_idle(*EFFECTS)
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
        A folder from :func:`extract_matrix` of this index; None extracts a temporary one.

    Raises
    ------
    TdvError
        For anything a user can fix, before anything is written.
    """
    checked_seed(seed)
    place = Output.folder(
        output, KIND, inputs=[index, matrix], overwrite=overwrite, made_by="peers"
    )
    given = {"k1": k1, "b": b, "mu": mu}
    parameters = Parameters(**{key: x for key, x in given.items() if x is not None})
    require_prunable(index, field)
    with open_matrix(index, matrix, field=field, progress=progress) as counts:
        values = unlearned_values(counts, name, parameters=parameters, seed=seed)
        values.save(place)
    return TermValues.load(output)
