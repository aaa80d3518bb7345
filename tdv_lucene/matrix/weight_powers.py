"""The powers of weights: how far apart the weights of an impact index are.

Weights are made for an index that keeps every posting, by whoever made it. BM25's saturate early,
others have long tails, or weigh some words too much everywhere. A weight w of a term whose mean
weight is m counts as (w / m)^power (m / unit)^across unit. With ``power`` above 1 a term's large
weights count for more, which undoes a saturation: it is to an impact index what k1 is to BM25.
``across`` below 1 brings terms together.

It comes in two factors. That of a posting, (w / unit)^(power - 1), is written into its frequency;
that of a term, (m / unit)^(across - power), is a part of its TDV.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

WEIGHTS = 1024
"""Weights told apart; larger ones are multiplied by the same as the last of these."""


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
    @lru_cache(maxsize=256)  # noqa: B019 - of three numbers
    def factors(self) -> np.ndarray:
        """Return float32[WEIGHTS]: the factors of postings, by weight."""
        weights = np.maximum(np.arange(WEIGHTS), 1)  # no posting has a weight of 0
        return as_factors((weights / self.unit) ** (self.power - 1))

    @property
    def largest_factor(self) -> float:
        """The largest of them."""
        return float(self.factors.max())

    def weigh(self, tf: np.ndarray, first: np.ndarray | None) -> np.ndarray:
        """Return float32[n]: ``tf`` int[n], the weights, as they count; positions do not matter."""
        return weighed(tf, self.factors, tf)


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
