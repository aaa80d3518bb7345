"""The frequency a posting is stored with: one formula for learning, pruning and verification."""

from __future__ import annotations

import numpy as np

LEAST_FREQUENCY = 1
"""Of a posting that stays."""


def stored_frequency(tf: np.ndarray, tdv: np.ndarray | float, scale: float) -> np.ndarray:
    """Return float64[n]: max(1, rint(scale tf tdv)), and 0 where ``tdv`` is 0.

    In double precision and half to even, as ``tdvlucene.prune.ScaledRule`` has it. What stays has
    a frequency of at least 1: which postings go is the posting rule's matter, and one that stays
    costs least at 1. So a scale may be so small that most frequencies are 1, which Lucene packs
    in two bytes a block, and not one posting is lost to it. Large ones stay as they are: they are
    few, and it is they that put a document on top. Cutting them at 15 cost more on wiki165k than
    halving the scale, for a tenth of the bytes.

    Parameters
    ----------
    tf : int[n] or float32[n]
        As they count, with their position boost.
    tdv : float32[n] or a number
        Of each posting's term.
    """
    tdv = np.asarray(tdv, np.float64)
    rounded = np.rint(scale * np.asarray(tf, np.float64) * tdv)
    return np.where(tdv > 0, np.maximum(rounded, LEAST_FREQUENCY), 0)
