"""Which terms to give up, and what rounding takes besides: shared by learning and by pruning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

COUNTED_TF = 4
"""Postings are counted by frequency up to this one, to foresee what rounding will remove."""


def count_postings_by_tf(data: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Return int32[V, COUNTED_TF]: how many postings of a term have frequency 1, 2, ...

    ``data`` int32[nnz] holds the frequencies, ``indptr`` int64[V + 1] the terms' spans; no span
    is empty.
    """
    frequencies = range(1, COUNTED_TF + 1)
    columns = [np.add.reduceat(data == tf, indptr[:-1], dtype=np.int32) for tf in frequencies]
    return np.column_stack(columns)


def drop_terms(
    weights: np.ndarray,
    priority: np.ndarray,
    doc_freq: np.ndarray,
    postings_by_tf: np.ndarray,
    reduction: float,
    scale: float | None,
) -> tuple[np.ndarray, float]:
    """Return float32[V] values with zeros for the terms given up, and the share they remove.

    Terms go in ascending order of ``priority`` float[V] while the removed share of postings stays
    within ``reduction``; a term too large for what is left is passed over, until less than a
    thousandth of the postings is missing. Postings that ``rint(scale * tf * weight)`` takes to 0
    count as removed; a term that would keep only frequencies above ``COUNTED_TF`` is given up
    whole. Terms whose weight is 0 go in any case.
    """
    tdv = np.array(weights, np.float32)
    lost = _lost(tdv, doc_freq, postings_by_tf, scale)
    tdv[lost >= doc_freq] = 0
    order = np.argsort(priority, kind="stable")
    order = order[lost[order] < doc_freq[order]]
    total = int(doc_freq.sum())
    room = int(reduction * total) - int(lost.sum())
    given_up = order[_fill((doc_freq - lost)[order], room, tolerance=total // 1000)]
    tdv[given_up] = 0
    removed = lost.sum() + (doc_freq - lost)[given_up].sum()
    return tdv, float(removed / max(1, total))


def first_terms(
    weights: np.ndarray, priority: np.ndarray, doc_freq: np.ndarray, share: float
) -> np.ndarray:
    """Return bool[V]: the terms of weight 0, then those of the smallest ``priority``.

    As many as together have at most ``share`` of all postings, beside the terms of weight 0; the
    terms for a smaller share are among those for a larger one.
    """
    return postings_before(weights, priority, doc_freq) <= int(share * doc_freq.sum())


def postings_before(weights: np.ndarray, priority: np.ndarray, doc_freq: np.ndarray) -> np.ndarray:
    """Return int64[V]: postings gone once this term is; -1 for a term of weight 0."""
    off = np.asarray(weights) == 0
    order = np.lexsort((priority, ~off))
    before = np.empty(len(order), np.int64)
    before[order] = np.cumsum(np.asarray(doc_freq)[order])
    before[off] = -1
    return before


def nearest(reductions: Sequence[float], reduction: float) -> int:
    """Return the place of the entry closest to ``reduction``; the earlier of two as close."""
    return int(np.argmin(np.abs(np.asarray(reductions) - reduction)))


def _lost(
    tdv: np.ndarray, doc_freq: np.ndarray, postings_by_tf: np.ndarray, scale: float | None
) -> np.ndarray:
    """Return int64[V]: postings each term loses with value ``tdv`` at ``scale``."""
    lost = np.where(tdv > 0, 0, doc_freq)
    if scale is None:
        return lost
    for tf in range(1, COUNTED_TF + 1):
        vanishes = (np.rint(scale * tf * tdv.astype(np.float64)) == 0) & (tdv > 0)
        here = doc_freq if tf == COUNTED_TF else postings_by_tf[:, :tf].sum(axis=1)
        lost = np.where(vanishes, here, lost)
    return lost


def _fill(cost: np.ndarray, room: int, tolerance: int) -> np.ndarray:
    """Return bool[n]: items taken in order while their cost fits into ``room``."""
    taken = np.zeros(len(cost), bool)
    while room > tolerance:
        fits = np.flatnonzero(~taken & (cost <= room))
        fits = fits[: np.searchsorted(np.cumsum(cost[fits]), room, side="right")]
        if not len(fits):
            break
        taken[fits] = True
        room -= int(cost[fits].sum())
    return taken
