"""What pruning applies: discrimination values at a chosen reduction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..matrix.first_positions import FirstPositionBoost
from .posting_rule import PostingCut


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """Values to prune with.

    Attributes
    ----------
    tdv : float32[V]
        Finite, not negative; exactly 0 where the term's postings are dropped.
    scale : float or None
        The index stores rint(scale * tf * tdv), where ``tdv`` holds whole multiples of 1 / scale;
        None means that frequencies are kept.
    cut : PostingCut or None
        The postings that go beside those of terms whose value is 0.
    reduction : float
        Share of the field's postings that goes, counting those lost by rounding; by postings, not
        counting them.
    nearest : dict
        What was validated at the nearest learned point: its reduction, held-out measures and the
        fidelity of each scale.
    position_boost : FirstPositionBoost or None
        What tf counts for in all this; None for what it is.
    """

    tdv: np.ndarray
    scale: float | None
    cut: PostingCut | None
    reduction: float
    nearest: Mapping[str, Any]
    position_boost: FirstPositionBoost | None = None
