"""What a posting counts for by where in its document the term stands first: learning and pruning.

Titles and first sentences say what a text is about. A frequency tf whose term stands first at
position p (from 0) counts as tf (1 + boost / (1 + p / span)^2).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

PLACES = 1024
"""Positions told apart; those behind count as the last of them."""


class FirstPositionBoost(NamedTuple):
    """How much places count.

    Attributes
    ----------
    boost : float
        At position 0 a frequency counts 1 + boost times.
    span : float
        At this position a quarter of the boost is left.
    """

    boost: float
    span: float

    @property
    def factors(self) -> np.ndarray:
        """Return float32[PLACES]: what frequencies are multiplied by, by position."""
        return _factors(self)

    def weigh(self, tf: np.ndarray, first: np.ndarray) -> np.ndarray:
        """Return float32[n]: ``tf`` int[n] as it counts at positions ``first`` uint16[n].

        One product of float32, as ``tdvlucene.prune.FirstPositionBoost`` has it.
        """
        factors = self.factors[np.minimum(first, PLACES - 1)]
        counted: np.ndarray = np.asarray(tf, np.float32) * factors
        return counted


@cache
def _factors(lead: FirstPositionBoost) -> np.ndarray:
    position = np.arange(PLACES)
    factors = (1 + lead.boost / (1 + position / lead.span) ** 2).astype(np.float32)
    factors.setflags(write=False)
    return factors


DEFAULT_BOOST = FirstPositionBoost(2.0, 4.0)
"""Where training queries ask for nothing else."""
