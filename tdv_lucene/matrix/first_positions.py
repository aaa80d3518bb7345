"""The first-position boost: a frequency counts for more if its term stands early in the document.

Titles and first sentences say what a text is about. A frequency tf whose term first occurs at
position p (from 0) counts as tf (1 + boost / (1 + p / span)^2), in learning and in pruning.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np

from .weight_powers import WeightPower, as_factors, weighed

POSITIONS = 1024
"""Positions told apart; later ones count as the last of these."""


class FirstPositionBoost(NamedTuple):
    """How much more a frequency counts for near the beginning of a document.

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
    @lru_cache(maxsize=256)  # noqa: B019 - of two numbers, not of an object that it keeps alive
    def factors(self) -> np.ndarray:
        """Return float32[POSITIONS]: what frequencies are multiplied by, by position."""
        factors = 1 + self.boost / (1 + np.arange(POSITIONS) / self.span) ** 2
        return as_factors(factors)

    def times(self, factor: float) -> FirstPositionBoost:
        """Return the boost that is ``factor`` times as large and reaches as many times as far."""
        return FirstPositionBoost(factor * self.boost, factor * self.span)

    @property
    def largest_factor(self) -> float:
        """That of position 0."""
        return 1 + self.boost

    def weigh(self, tf: np.ndarray, first: np.ndarray | None) -> np.ndarray:
        """Return float32[n]: ``tf`` int[n] as it counts at positions ``first`` uint16[n]."""
        assert first is not None  # a boost needs them
        return weighed(tf, self.factors, first)


Boost: TypeAlias = FirstPositionBoost | WeightPower
"""How frequencies count: by first positions, or in an impact index by themselves."""


def describe_boost(boost: Boost | None) -> dict[str, float] | None:
    """Return what :func:`read_boost` reads: JSON, None for no boost."""
    return None if boost is None else boost._asdict()


def read_boost(described: Mapping[str, float] | None) -> Boost | None:
    """Return the boost that :func:`describe_boost` described."""
    return None if described is None else kind_of_boost(described)(**described)


def kind_of_boost(described: Mapping[str, float]) -> type[FirstPositionBoost] | type[WeightPower]:
    """Return which boost :func:`describe_boost` described."""
    return WeightPower if "power" in described else FirstPositionBoost


DEFAULT_BOOST = FirstPositionBoost(2.0, 4.0)
"""What learning starts from without a prior."""
