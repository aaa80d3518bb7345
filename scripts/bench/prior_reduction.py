"""How much the prior drops: the most that no known query set loses much by."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from prior_collections import QUERY_SETS, collection_of
from prior_settings import MEASURED, Key, chosen, label, left_of

from tdv_lucene.learning.prior import ASKED, DETAILS, KINDS, reduction_for

REDUCTIONS = tuple(np.round(np.arange(0, 0.81, 0.1), 1).tolist())
"""What is measured; between them a curve is a line."""
STEPS = tuple(np.round(np.arange(0, 0.76, 0.01), 2).tolist())
POWERS = (0.0, 0.1, 0.2, 0.3, 0.4)
LOSS = 0.015
"""More than this no query set of the kind may lose, of nDCG@5 or of R@100, so that one of a
collection that took no part does not lose more than 2 %."""
_WORTH = 0.1
"""Less is not dropped: it saves a few per cent of the bytes."""
_STEPS_BEFORE = 5
"""A reduction is bearable if as many before it are, too: one alone may be so by chance. All before
it need not be, for where little is dropped frequencies are coarser."""
LIMITS = {"shortest": 35, "small": 0.3, "documents": 100_000}
"""Of documents of fewer tokens than ``shortest`` nothing is dropped; in a collection of fewer than
``documents`` no more than ``small``. By the figures of ``log_bound.py``, which :func:`bearable`
reads: R@1000 and short documents were not looked at before."""
_BORNE = {"nDCG@5": 0.02, "nDCG@10": 0.02, "R@100": 0.011, "R@1000": 0.02}
_LARGEST = 1.01

Curves = Mapping[str, np.ndarray]
"""Query set -> float64[REDUCTIONS, measures]: the gains over the full index."""


def curves_of(raw: dict[str, Any], key: Key, without: str | None) -> Curves:
    """With the settings that the collections but ``without`` choose, theirs."""
    settings = json.dumps(chosen(raw, key, without))
    return {
        n: np.array(c) for n, c in left_of(raw["curves"][label(key)][settings], without).items()
    }


def gains_at(curve: np.ndarray, reduction: float) -> np.ndarray:
    """Return float64[measures]."""
    return np.array([np.interp(reduction, REDUCTIONS, column) for column in curve.T])


def rule_of(curves: Curves, lengths: Mapping[str, float]) -> dict[str, float] | None:
    """Return the reduction of a collection of mean length 100 for either kind of query, and the
    power of the length that makes it any other's; None if somebody loses much at any reduction.

    The power is the one with which most is dropped, on the mean of the collections, for queries
    that are asked.
    """
    asked, details = (_of_kind(curves, kind) for kind in KINDS)

    def dropped(power: float) -> float:
        largest = _largest(asked, lengths, power) or 0.0
        by_collection = {collection_of(name): lengths[name] for name in asked}
        return float(np.mean([reduction_for(largest, power, n) for n in by_collection.values()]))

    power = max(POWERS, key=dropped)
    largest, small = (_largest(some, lengths, power) for some in (asked, details))
    if largest is None:
        return None
    found = {ASKED: largest, DETAILS: min(largest, small or 0.0)}
    return {**{k: r if r >= _WORTH else 0.0 for k, r in found.items()}, "power": power}


def _of_kind(curves: Curves, kind: str) -> Curves:
    return {name: curve for name, curve in curves.items() if QUERY_SETS[name].kind == kind}


def _largest(curves: Curves, lengths: Mapping[str, float], power: float) -> float | None:
    """Return the last of ``STEPS`` at which, and shortly before which, nobody loses much."""

    def borne(step: float) -> bool:
        at = ((curve, reduction_for(step, power, lengths[n])) for n, curve in curves.items())
        return all(gains_at(*each)[: len(MEASURED)].min() >= -LOSS for each in at)

    row, largest = 0, None  # bearable steps that end here
    for number, step in enumerate(STEPS):
        row = row + 1 if borne(step) else 0
        if row > min(_STEPS_BEFORE, number):
            largest = step
    return largest


def bearable(of_set: Mapping[str, Any], reductions: Sequence[float]) -> list[float]:
    """Return the ``reductions`` at which a query set of ``log_bound.py`` loses little, in an index
    that is no larger than the full one."""
    figures, limits = of_set["all"], np.array([*_BORNE.values()])
    gains = np.array(figures["pruned"]) / np.array(figures["full"]) - 1
    fits = (gains >= -limits).all(axis=1) & (np.array(of_set["size"]) <= _LARGEST)
    return [reduction for reduction, is_borne in zip(reductions, fits) if is_borne]
