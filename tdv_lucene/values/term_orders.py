"""The orders in which postings are dropped: what a term's postings are worth beside others'."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import TdvError, argument
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..matrix.term_statistics import residual_idf
from ..ranking import DEFAULT_MODEL, MODELS, ranking_function
from ..ranking.bm25 import bm25_idf

RANKING = "ranking"
"""The preference for orders that keep the ranking, recall included, on all kinds of collection."""
PREFERENCES = (RANKING, "size", "speed")


class Saturation(NamedTuple):
    """What a term's order is multiplied by for each posting: tf / (tf + K_d) to a power.

    Attributes
    ----------
    power : float
    k1, b : float or None
        Of K_d (see :mod:`.dropped_postings`); None for those of the search.
    """

    power: float
    k1: float | None = None
    b: float | None = None


ORDERS = {
    "ridf": Saturation(1.5), "named": Saturation(1.5),
    "balanced": Saturation(1.0), "lean": Saturation(1.0),
    "smallest": Saturation(1.0, k1=2.0, b=0.1), "fastest": Saturation(1.0, k1=2.0, b=0.1),
}  # fmt: skip
"""The orders by name. Those by use tell documents' lengths apart a little only: a search's own b
would drop most of what long documents have, and with it recall."""

WHOLE_TERMS = {"lean": 0.8}
"""The share of the reduction that is made by dropping whole terms, where an order has its own."""

_KEPT_FOR_RARITY = {"balanced": 0.7, "lean": 0.25}

_USES = {"smallest": (1.4, 0.57, 0.1), "fastest": (1.44, 0.62, 0.02)}
"""The a, x0 and r of :func:`order_by_use`."""


def order_terms(matrix: TermDocumentMatrix, kind: str, model: str = DEFAULT_MODEL) -> np.ndarray:
    """Return float32[V], above 0: the order in which terms are dropped, smallest first.

    The learned TDV does not say whether a posting list is worth its bytes: dropping the terms with
    the smallest TDVs, or those that queries use least, costs far more than this order.

    Parameters
    ----------
    kind : one of :data:`ORDERS`
        "ridf" is (RIDF + 0.1) idf. "named" is (RIDF + 0.1 + 0.25 (idf / 8)^4) idf: terms of a
        single document have no RIDF, and the last summand keeps nearly all of them.

        "balanced" is the prior's: (RIDF + 0.05 + 0.7 r min(idf / 8, 1)^4) sqrt(idf), with r the
        mean RIDF of a posting. A collection whose words discriminate little keeps fewer terms for
        their rarity alone, a large one no more than a small one, and the root of idf keeps the
        recall of small collections.

        "lean" is the language model's for few bytes: as "balanced", with 0.25 in place of 0.7. A
        rare term costs bytes twice, for it stands in the dictionary too.

        "smallest" and "fastest" are :func:`order_by_use`, with a low price on what a search must
        visit and with a high one. In collections of short documents, where saturation tells little,
        both lose more of the ranking than the others do, and everywhere more of the recall.
    model
        A ranking function, whose ``rarity`` stands in place of 0.1.
    """
    if kind in _USES:
        return order_by_use(matrix, *_USES[kind])
    idf = bm25_idf(np.asarray(matrix.doc_freq), matrix.doc_count)
    importance = np.maximum(residual_idf(matrix), 0)
    if kind in _KEPT_FOR_RARITY:
        mean = float(np.average(importance, weights=matrix.doc_freq)) if len(idf) else 0.0
        rare = _KEPT_FOR_RARITY[kind] * mean * np.minimum(idf / 8, 1) ** 4
        return np.asarray((importance + 0.05 + rare) * np.sqrt(idf), np.float32)
    importance += ranking_function(model).rarity
    if kind == "named":
        importance += 0.25 * (idf / 8) ** 4
    return np.asarray(importance * idf, np.float32)


def counted_for_dropping(matrix: TermDocumentMatrix, model: str) -> TermDocumentMatrix:
    """Return the matrix with frequencies as they count where postings are dropped.

    Words that stand early are what queries name a text by. Where their first position counts for
    the ranking at all, it counts for more in what is kept. Over eight collections an index of as
    many bytes ranks a little better for it on the mean (``runs/2026-11-23-frontier`` of the bench).
    """
    boost, times = matrix.position_boost, ranking_function(model).boost_times
    return matrix.with_position_boost(None if boost is None else boost.times(times))


def order_by_use(matrix: TermDocumentMatrix, a: float, x0: float, r: float) -> np.ndarray:
    """Return float32[V]: (RIDF + 0.01)^r (x e^(-x / x0))^a, with x = idf / ln N.

    Times a posting's saturation that is, up to a power, how much oftener the best answers of
    queries owe their score to such postings than an index holds them and searches visit them: a
    ratio of two densities, which a logistic regression estimates (``scripts/bench/orders.py``).
    Frequent terms fill the lists that searches visit, and terms of one or two documents fill the
    dictionary; worth most is what lies between, at x = x0. The dearer visits are, the larger is x0.
    """
    x, ridf = use_statistics(matrix)
    return np.asarray(ridf**r * (x * np.exp(-x / x0)) ** a, np.float32)


def use_statistics(matrix: TermDocumentMatrix) -> tuple[np.ndarray, np.ndarray]:
    """Return float64[V] each: idf / ln N and RIDF + 0.01, what :func:`order_by_use` is made of."""
    idf = bm25_idf(np.asarray(matrix.doc_freq), matrix.doc_count)
    return idf / np.log(matrix.doc_count + 1), np.maximum(residual_idf(matrix), 0) + 0.01


def preferred_order(prefer: str, model: str) -> str | None:
    """Return the order for a preference; None is chosen by the prior or the queries.

    Raises
    ------
    TdvError
        When there is no such preference, or none for ``model``.
    """
    if prefer not in PREFERENCES:
        known = ", ".join(PREFERENCES)
        raise TdvError(f"{argument('prefer', prefer)} is unknown: choose one of {known}")
    if prefer == RANKING:
        return None
    preferred = ranking_function(model).preferred
    if prefer not in preferred:
        models = " and ".join(m for m in MODELS if prefer in ranking_function(m).preferred)
        raise TdvError(
            f"{argument('prefer', prefer)} is for {models}, not for model '{model}': leave it out"
        )
    return preferred[prefer]
