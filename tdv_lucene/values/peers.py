"""Peers: prunings without learning, to compare a learned one with at the same size."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..analysis import STOP_WORDS
from ..errors import TdvError
from ..index.index import Index
from ..matrix.config import OfMatrix
from ..matrix.extract import open_matrix
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..matrix.term_statistics import residual_idf
from ..options import PYTHON_ONLY, Effect, OfField, Overwrite, Seed
from ..output import Output
from ..progress import Progress, silent
from ..ranking import ANY_MODEL, SearchParameters, ranking_function
from ..ranking.functions import bm25_idf
from ..ranking.parameters import Parameters, options_of
from .posting_rule import REDUCTIONS, make_posting_rule, rule_length_norm
from .term_values import KIND, TermValues, unvalidated_values

CARMEL_K = 10
"""The rank that Carmel's epsilon version protects."""


class Order(NamedTuple):
    """An order of terms (given a seed) or a factor of postings (given K_d), described."""

    compute: Callable[..., np.ndarray]
    about: str
    # (k1, b) or None: of the saturation, if the order is for impact indexes: with so large a k1 it
    # is the weight, or with b = 1 its share of the document's largest
    of_weights: tuple[float, float] | None = None


def _by_stop_list(matrix: TermDocumentMatrix, seed: int) -> np.ndarray:
    """The standard list, then the collection's most frequent words: how stop lists are made.

    Fox (1990), "A stop list for general text"; Manning, Raghavan and Schuetze (2008), 2.2.2.
    """
    order = -np.asarray(matrix.total_term_freq, np.float64)
    standard = matrix.vocabulary.find(STOP_WORDS)
    order[standard[standard >= 0]] -= matrix.total_term_freq.sum()
    return order.astype(np.float32)


def _epsilon(matrix: TermDocumentMatrix, length_norm: np.ndarray) -> np.ndarray:
    """A posting's score over its list's ``CARMEL_K``-th best; shorter lists are dropped last."""
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
    "carmel-uniform": Order(  # a BM25 score is idf times saturation
        lambda of, length_norm: np.asarray(bm25_idf(np.asarray(of.doc_freq), of.doc_count)),
        "postings of the smallest BM25 score (Carmel et al. 2001)",
    ),
    "carmel-delta": Order(  # as a share of the best, idf cancels
        lambda of, length_norm: 1 / _best_saturations(of, length_norm, 1),
        "postings of the smallest share of their list's best",
    ),
    "carmel-epsilon": Order(
        _epsilon, f"postings of the smallest share of their list's {CARMEL_K}th best"
    ),
    "abs-value": Order(
        lambda of, length_norm: np.ones(of.shape[0]),
        "postings of the smallest weight, of an impact index", (1e4, 0),
    ),
    "max-ratio": Order(
        lambda of, length_norm: np.ones(of.shape[0]),
        "postings of the smallest share of their document's best", (1e4, 1),
    ),
}  # fmt: skip
ORDERS = {
    "df": Order(
        lambda of, seed: -np.asarray(of.doc_freq, np.float32), "terms in the most documents"
    ),
    "ridf": Order(
        lambda of, seed: residual_idf(of).astype(np.float32),
        "terms of the lowest residual idf (Church and Gale 1995)",
    ),
    "random": Order(
        lambda of, seed: np.random.default_rng(seed).random(of.shape[0], np.float32),
        "terms at random",
    ),
    "stopwords": Order(_by_stop_list, "terms of a longer and longer stop list (Fox 1990)"),
}
PEERS = {name: order.about for name, order in (ORDERS | POSTINGS).items()}
"""Peers by name, with what they drop first.

Carmel et al.: "Static index pruning for information retrieval systems" (SIGIR 2001), with BM25 as
the score. The last two are OpenSearch's, of the same name."""
_OTHERS = ", ".join(name for name in PEERS if name not in POSTINGS or not POSTINGS[name].of_weights)


def unlearned_values(
    matrix: TermDocumentMatrix,
    name: str,
    *,
    parameters: SearchParameters | None = None,
    seed: int = 0,
) -> TermValues:
    """Return TDVs of 1 with the order of the peer ``name``, one of :data:`PEERS`.

    Nothing is validated: the points have no measures. Their scale is 1, which leaves frequencies
    as they are.

    ``parameters`` are k1, b and mu that the pruned index records for its search, None for
    Anserini's; ``seed`` is for ``"random"``.

    Raises :class:`TdvError` when there is no such peer.
    """
    if name not in PEERS:
        raise TdvError(f"no peer '{name}': choose one of {', '.join(PEERS)}")
    matrix.require_postings("a pruning")
    suits = matrix.searched_by(None)
    of_weights = ranking_function(suits).of_weights
    parameters = parameters or SearchParameters()
    weights = np.ones(matrix.shape[0], np.float32)
    rule = None
    if name in POSTINGS:  # no whole terms are dropped, and postings by factor times saturation
        order = POSTINGS[name]
        if order.of_weights and not of_weights:
            raise TdvError(f"the peer '{name}' is for impact indexes: choose another of {_OTHERS}")
        k1, b = order.of_weights or (parameters.k1, parameters.b)
        by = order.compute(matrix, matrix.length_norms(rule_length_norm(matrix, k1, b, False)))
        rule = make_posting_rule(matrix, by, 0.0, k1=k1, b=b, by_postings=False)
    priority = rule.priority if rule else ORDERS[name].compute(matrix, seed)
    return unvalidated_values(
        matrix, weights, priority, rule, reductions=REDUCTIONS, scale=1, recommended=0.45,
        model=suits if of_weights else ANY_MODEL, parameters=parameters,
        recipe={"name": name, "about": PEERS[name]}, seed=seed,
    )  # fmt: skip


_NUMBERS = options_of(lambda each: f"{each.title} that the index records.", flag=PYTHON_ONLY)


@dataclass(frozen=True, kw_only=True)
class PeersConfig(OfMatrix, Seed, OfField, Overwrite, Parameters, numbers=_NUMBERS):
    """Options of :func:`tdv_lucene.make_peer_values`."""

    EFFECTS = (Effect(("seed",), "name", "nothing else is random", only=("random",)),)


def make_peer_values(
    index: str | os.PathLike[str],
    output: str | os.PathLike[str],
    name: str,
    config: PeersConfig | None = None,
    *,
    progress: Progress = silent,
    **options: Any,
) -> TermValues:
    """Write :func:`unlearned_values` of a Lucene index to the folder ``output``.

    Options are those of :class:`PeersConfig`, as a config or by name.

    Raises :class:`TdvError` for anything a user can fix, before anything is written.
    """
    config = PeersConfig.of(config, options, name=name)
    place = Output(
        output, KIND, inputs=[index, config.matrix], overwrite=config.overwrite, made_by="peers"
    )
    parameters = SearchParameters().with_values(config.parameters)
    with Index.open(index) as opened:
        opened.require_prunable(config.field)
        with open_matrix(opened, config.matrix, field=config.field, progress=progress) as counts:
            values = unlearned_values(counts, name, parameters=parameters, seed=config.seed)
            values.save(place)
    return TermValues.load(output)
