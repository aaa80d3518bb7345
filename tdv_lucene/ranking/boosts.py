"""How frequencies count: by the first position of their term, or in an impact index by themselves.

First positions: titles and first sentences say what a text is about. A frequency tf whose term
first occurs at position p (from 0) counts as tf (1 + boost / (1 + p / span)^2).

Powers of weights: an impact index has weights that were made for an index that keeps every posting.
BM25's saturate early, others have long tails, or weigh some words too much everywhere. A weight w
of a term whose mean weight is m counts as (w / m)^power (m / unit)^across unit. With ``power``
above 1 a term's large weights count for more, which undoes a saturation: it is to an impact index
what k1 is to BM25. ``across`` below 1 brings terms together. It comes in two factors. That of a
posting, (w / unit)^(power - 1), is written into its frequency; that of a term,
(m / unit)^(across - power), is a part of its TDV.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np

POSITIONS = 1024
"""Positions told apart; later ones count as the last of these."""
WEIGHTS = 1024
"""Weights told apart; larger ones are multiplied by the same as the last of these."""


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
    def reads_positions(self) -> bool:
        """Whether the factors are by first position; else by the weight itself."""
        return True

    @property
    def largest_factor(self) -> float:
        """The factor of position 0."""
        return 1 + self.boost

    def weigh(self, tf: np.ndarray, first: np.ndarray | None) -> np.ndarray:
        """Return float32[n]: ``tf`` int[n] as it counts at positions ``first`` uint16[n]."""
        assert first is not None  # a boost needs them
        return weighed(tf, self.factors, first)


class WeightPower(NamedTuple):
    """How much more a large weight counts than a small one.

    Attributes
    ----------
    power : float
        Of weights within a term; 1 leaves them as they are.
    unit : float
        The weight that counts as it is, whatever the powers.
    across : float
        Of terms' mean weights.
    """

    power: float
    unit: float
    across: float = 1.0

    @classmethod
    def one(cls, doc_freq: np.ndarray, total_term_freq: np.ndarray) -> WeightPower:
        """Return a power of 1, whose unit is the mean weight of terms int64[V], rounded."""
        mean = float(np.sum(total_term_freq)) / max(1, int(np.sum(doc_freq)))
        return cls(1.0, float(max(1, round(mean))))

    def of_terms(self, doc_freq: np.ndarray, total_term_freq: np.ndarray) -> np.ndarray:
        """Return float32[V]: the factors of terms int64[V]."""
        mean = np.maximum(total_term_freq, 1) / np.maximum(doc_freq, 1)
        return np.asarray((mean / self.unit) ** (self.across - self.power), np.float32)

    @property
    def reads_positions(self) -> bool:
        """Whether the factors are by first position; else by the weight itself."""
        return False

    @property
    @lru_cache(maxsize=256)  # noqa: B019 - of three numbers
    def factors(self) -> np.ndarray:
        """Return float32[WEIGHTS]: the factors of postings, by weight."""
        weights = np.maximum(np.arange(WEIGHTS), 1)  # no posting has a weight of 0
        return as_factors((weights / self.unit) ** (self.power - 1))

    @property
    def largest_factor(self) -> float:
        """The largest of the factors."""
        return float(self.factors.max())

    def weigh(self, tf: np.ndarray, first: np.ndarray | None) -> np.ndarray:
        """Return float32[n]: ``tf`` int[n], the weights, as they count; positions do not matter."""
        return weighed(tf, self.factors, tf)


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


def as_factors(numbers: np.ndarray) -> np.ndarray:
    """Return float32[n], read-only: all who ask get the same array."""
    factors = numbers.astype(np.float32)
    factors.setflags(write=False)
    return factors


def weighed(tf: np.ndarray, factors: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return float32[n]: one product of float32, as ``tdvlucene.rules.Boost`` has it. Beyond the
    last of the ``factors`` that one holds."""
    counted: np.ndarray = np.asarray(tf, np.float32) * factors[np.minimum(at, len(factors) - 1)]
    return counted
