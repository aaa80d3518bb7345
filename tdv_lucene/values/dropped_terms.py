"""Which terms are dropped as a whole: shared by learning and pruning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def drop_terms(
    weights: np.ndarray, priority: np.ndarray, doc_freq: np.ndarray, reduction: float
) -> tuple[np.ndarray, float]:
    """Return float32[V] TDVs with zeros for the terms dropped, and their share of the postings.

    Terms are dropped in ascending order of ``priority`` float[V] while their share of the postings
    stays within ``reduction``. A term too large for what is left is passed over, until less than a
    thousandth of the postings is missing. Terms with a weight of 0 are dropped in any case.
    """
    tdv = np.array(weights, np.float32)
    total, dropped = int(doc_freq.sum()), int(doc_freq[tdv == 0].sum())
    order = np.argsort(priority, kind="stable")
    order = order[tdv[order] > 0]
    taken = _fill(doc_freq[order], int(reduction * total) - dropped, tolerance=total // 1000)
    tdv[order[taken]] = 0
    return tdv, float(doc_freq[tdv == 0].sum() / max(1, total))


def postings_before(weights: np.ndarray, priority: np.ndarray, doc_freq: np.ndarray) -> np.ndarray:
    """Return int64[V]: postings dropped once this term is; -1 for a term of weight 0."""
    off = np.asarray(weights) == 0
    order = np.lexsort((priority, ~off))
    before = np.empty(len(order), np.int64)
    before[order] = np.cumsum(np.asarray(doc_freq)[order])
    before[off] = -1
    return before


def nearest(reductions: Sequence[float], reduction: float) -> int:
    """Return the number of the entry closest to ``reduction``; of two as close, the earlier."""
    return int(np.argmin(np.abs(np.asarray(reductions) - reduction)))


def _fill(cost: np.ndarray, budget: int, tolerance: int) -> np.ndarray:
    """Return bool[n]: items taken in order while their cost stays within ``budget``."""
    taken = np.zeros(len(cost), bool)
    while budget > tolerance:
        fits = np.flatnonzero(~taken & (cost <= budget))
        fits = fits[: np.searchsorted(np.cumsum(cost[fits]), budget, side="right")]
        if not len(fits):
            break
        taken[fits] = True
        budget -= int(cost[fits].sum())
    return taken
