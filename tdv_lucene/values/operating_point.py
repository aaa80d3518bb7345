"""What pruning applies: TDVs at a chosen reduction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ranking.boosts import Boost
from ..ranking.saturation import PostingCut

REDUCTIONS = (0.0, 0.15, 0.3, 0.45, 0.6, 0.7, 0.8)
"""Where TDVs have operating points, unless learning is told otherwise."""
CORRECTED_AT = (*REDUCTIONS, 0.9, 0.95)
"""Where TDVs are corrected for the larger idf that dropped postings give their term, and
interpolated between: as far as `prune` goes."""


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """The TDVs to prune with, at one reduction.

    Attributes
    ----------
    tdv : float32[V]
        Finite, not negative; exactly 0 for a term that is dropped.
    scale : float
        What suits the ranking: an index stores max(1, rint(scale * tf * tdv)).
    cut : PostingCut or None
        Which postings are dropped besides those of terms with a TDV of 0; None for no others.
    reduction : float
        Share of the field's postings that is dropped. With a ``cut`` it is the one asked for,
        with whole terms the one reached.
    nearest : dict
        The nearest learned point: its reduction, its measures on held-out queries, and how well
        each scale keeps the ranking.
    position_boost : FirstPositionBoost, WeightPower or None
        How frequencies count, see :mod:`..ranking.boosts`; None if as they are.
    """

    tdv: np.ndarray
    scale: float
    cut: PostingCut | None
    reduction: float
    nearest: Mapping[str, Any]
    position_boost: Boost | None = None
