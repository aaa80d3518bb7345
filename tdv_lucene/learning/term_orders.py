"""The orders in which postings are dropped: what a term's postings are worth beside others'."""

from __future__ import annotations

import numpy as np

from ..core.scoring import bm25_idf
from ..errors import TdvError, argument
from ..matrix.term_document_matrix import TermDocumentMatrix
from .features import residual_idf

RANKING = "ranking"
"""The preference for orders that keep the ranking, recall included, on all kinds of collection."""
PREFERENCES = {RANKING: None, "size": "smallest", "speed": "fastest"}
"""What may be preferred, and the order for it; None is chosen by the prior or the queries."""

SATURATION_POWERS = {
    "ridf": 1.5, "named": 1.5, "balanced": 1.0, "smallest": 1.0, "fastest": 1.0,
}  # fmt: skip
"""Postings are dropped by their term's order times their saturation to this power."""

_CONTRIBUTIONS = {"smallest": (0.2, 0.65, 0.003), "fastest": (0.1, 0.8, 0.003)}
"""The a, b and c of :func:`order_by_contribution`."""


def order_terms(matrix: TermDocumentMatrix, kind: str, model: str = "bm25") -> np.ndarray:
    """Return float32[V], above 0: the order in which terms are dropped, smallest first.

    The learned TDV does not say whether a posting list is worth its bytes: dropping the terms with
    the smallest TDVs, or those that queries use least, costs far more than this order.

    Parameters
    ----------
    kind : one of :data:`SATURATION_POWERS`
        "ridf" is (RIDF + 0.1) idf. "named" is (RIDF + 0.1 + 0.25 (idf / 8)^4) idf: terms of a
        single document have no RIDF, and the last summand keeps nearly all of them.

        "balanced" is the prior's: (RIDF + 0.05 + 0.7 r (idf / 8)^4) sqrt(idf), with r the mean RIDF
        of a posting. A collection whose words discriminate little keeps fewer terms for their
        rarity alone, and the root of idf keeps the recall of small collections.
        "smallest" and "fastest" are (RIDF + 0.003)^a idf^b, with .2 and .65 for a and b, or .1 and
        .8. Times the saturation that is nearly what a posting adds to a BM25 score, a little less
        for words that occur like noise. The more idf counts beside saturation, the shorter long
        lists become, which searches spend their time on, and the more rare terms stay, which are
        dear in bytes. In collections of short documents, where saturation tells little, both lose
        more of the ranking than "ridf" does, and everywhere more of the recall.
    model : "bm25", "qld" or "tfidf"
        The language model has 0.2 in place of 0.1, which keeps more rare terms: at 45 % of the
        postings .02 better on lisa, time and scifact's training claims, .005 worse on tydi-train.
    """
    if kind in _CONTRIBUTIONS:
        return order_by_contribution(matrix, *_CONTRIBUTIONS[kind])
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


def order_by_contribution(matrix: TermDocumentMatrix, a: float, b: float, c: float) -> np.ndarray:
    """Return float32[V]: (RIDF + c)^a idf^b."""
    idf = bm25_idf(np.asarray(matrix.doc_freq), matrix.doc_count)
    ridf = np.maximum(residual_idf(matrix), 0)
    return np.asarray((ridf + c) ** a * idf**b, np.float32)


def check_preference(prefer: str, model: str) -> None:
    """Raise :class:`TdvError` when there is no such preference, or none for ``model``."""
    if prefer not in PREFERENCES:
        known = ", ".join(PREFERENCES)
        raise TdvError(f"{argument('prefer', prefer)} is unknown: choose one of {known}")
    if prefer != RANKING and model != "bm25":
        raise TdvError(
            f"{argument('prefer', prefer)} is for BM25, not for model '{model}', which has one "
            "order of postings: leave it out"
        )
