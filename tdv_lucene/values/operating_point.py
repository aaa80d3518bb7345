"""What pruning applies: discrimination values at a chosen reduction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..matrix.first_positions import FirstPositionBoost
from .dropped_postings import PostingCut


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """The discrimination values to prune with, at one reduction.

    Attributes
    ----------
    tdv : float32[V]
        Finite, not negative; exactly 0 for a term that is dropped.
    scale : float or None
        The index stores rint(scale * tf * tdv), where ``tdv`` holds whole multiples of 1 / scale;
        None means that frequencies are kept.
    cut : PostingCut or None
        Which postings are dropped besides those of terms whose value is 0; None for no others.
    reduction : float
        Share of the field's postings that is dropped. With whole terms it includes those lost to
        rounding; with a ``cut`` it does not.
    nearest : dict
        The nearest learned point: its reduction, its measures on held-out queries, and how well
        each scale keeps the ranking.
    position_boost : FirstPositionBoost or None
        How frequencies are weighted by first position; None for not at all.
    """

    tdv: np.ndarray
    scale: float | None
    cut: PostingCut | None
    reduction: float
    nearest: Mapping[str, Any]
    position_boost: FirstPositionBoost | None = None
