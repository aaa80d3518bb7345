"""The weight of a posting's frequency, and the rule that drops postings.

First positions: titles and first sentences name a text's subject. A frequency tf whose term first
occurs at position p (from 0) counts as tf (1 + boost / (1 + p / span)^2).

Powers of weights: an impact index has weights made for an index that keeps every posting. A weight
w of a term with mean weight m counts as (w / m)^power (m / unit)^across unit. ``power`` above 1
favours a term's large weights, which undoes a saturation: it is to an impact index what k1 is to
BM25. ``across`` below 1 brings terms together. The product has two factors. That of a posting,
(w / unit)^(power - 1), is written into its frequency; that of a term,
(m / unit)^(across - power), is a part of its TDV.

Saturation: tf / (tf + K_d), with the length norm K_d = k1 (1 - b + b |d| / avgdl), is the part of a
BM25 score that is the posting's own. Postings with less than the least of their term are dropped.
Lengths are those before pruning, as norms hold them, so that the rewriter need not count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

POSITIONS = 1024
"""Positions told apart; later ones count as the last of these."""
WEIGHTS = 1024
"""Weights told apart; larger ones get the factor of the last of these."""

_BOOSTS = (1.0, 2.0, 4.0, 8.0)
_SPANS = (1.0, 2.0, 4.0, 8.0, 16.0)
_POWERS = (1.25, 0.8, 1.5, 0.65, 1.75, 2.0, 0.5, 2.25, 2.5, 3.0)
"""From the nearest to 1, as logarithms."""
_BOOST_WIDTH, _SPAN_WIDTH = 0.5, 0.7
"""Typical differences of log(1 + boost) and log(span) between collections."""


class FirstPositionBoost(NamedTuple):
    """A larger weight for frequencies of terms that occur near a document's beginning."""

    boost: float  # At position 0 a frequency counts 1 + boost times
    span: float  # At this position a quarter of the boost is left

    @property
    @lru_cache(maxsize=256)  # noqa: B019 - of two numbers, not of an object that it keeps alive
    def factors(self) -> np.ndarray:
        """float32[POSITIONS], read-only: the factors of frequencies, by position."""
        return _as_factors(1 + self.boost / (1 + np.arange(POSITIONS) / self.span) ** 2)

    @property
    def reads_positions(self) -> bool:
        """True if the factors are by first position; else they are by the weight itself."""
        return True

    @property
    def largest_factor(self) -> float:
        """The largest of the factors."""
        return 1 + self.boost

    @property
    def coordinates(self) -> tuple[float, float]:
        """The boost in units of its typical difference between collections; NaN for unknown."""
        return np.log1p(self.boost) / _BOOST_WIDTH, np.log(self.span) / _SPAN_WIDTH

    @property
    def searches(self) -> Sequence[Callable[[Boost | None], Sequence[Boost | None]]]:
        """The steps in which tuning tries others, each from what the step before found.

        Other boosts, none, and other spans of what was found.
        """

        def spans(found: Boost | None) -> list[Boost | None]:
            boost = getattr(found, "boost", None)
            return [] if boost is None else [FirstPositionBoost(boost, s) for s in _SPANS]

        boosts = [FirstPositionBoost(boost, self.span) for boost in _BOOSTS]
        return (lambda _: boosts), (lambda _: [None]), spans

    def weigh(self, tf: np.ndarray, first: np.ndarray | None) -> np.ndarray:
        """Return float32[n]: ``tf`` int[n] as it counts at positions ``first`` uint16[n]."""
        assert first is not None  # a boost needs them
        return _weighed(tf, self.factors, first)

    def of_terms(self, doc_freq: np.ndarray, total_term_freq: np.ndarray) -> np.ndarray:
        """Return float32[V]: the factors that are part of TDVs, of terms int64[V]."""
        return np.ones(len(doc_freq), np.float32)

    def for_dropping(self, times: float) -> FirstPositionBoost:
        """Return the boost of the saturation that decides what is dropped: ``times`` as large, and
        reaching as many times as far."""
        return FirstPositionBoost(times * self.boost, times * self.span)


class WeightPower(NamedTuple):
    """A larger or smaller weight for large weights than for small ones.

    Its methods are those of :class:`FirstPositionBoost`."""

    power: float  # Of weights within a term; 1 leaves them as they are
    unit: float  # The weight that counts as it is, whatever the powers
    across: float = 1.0  # Of terms' mean weights

    @classmethod
    def one(cls, doc_freq: np.ndarray, total_term_freq: np.ndarray) -> WeightPower:
        """Return a power of 1, whose unit is the mean weight of terms int64[V], rounded."""
        mean = float(np.sum(total_term_freq)) / max(1, int(np.sum(doc_freq)))
        return cls(1.0, float(max(1, round(mean))))

    @property
    @lru_cache(maxsize=256)  # noqa: B019 - of three numbers
    def factors(self) -> np.ndarray:
        """float32[WEIGHTS], read-only: the factors of postings, by weight."""
        weights = np.maximum(np.arange(WEIGHTS), 1)  # no posting has a weight of 0
        return _as_factors((weights / self.unit) ** (self.power - 1))

    @property
    def reads_positions(self) -> bool:
        return False

    @property
    def largest_factor(self) -> float:
        return float(self.factors.max())

    @property
    def coordinates(self) -> tuple[float, float]:
        return np.nan, np.nan  # no prior knows impact indexes

    @property
    def searches(self) -> Sequence[Callable[[Boost | None], Sequence[Boost | None]]]:
        """Powers within terms or of all weights, then across terms."""

        def across(found: Boost | None) -> list[Boost | None]:
            assert isinstance(found, WeightPower)  # it was never left out
            return [found._replace(across=power) for power in (1.0, *_POWERS)]

        pairs = [(power, across) for power in _POWERS for across in (self.across, power)]
        powers = [self._replace(power=power, across=across) for power, across in pairs]
        return (lambda _: powers), across

    def weigh(self, tf: np.ndarray, first: np.ndarray | None) -> np.ndarray:
        return _weighed(tf, self.factors, tf)

    def of_terms(self, doc_freq: np.ndarray, total_term_freq: np.ndarray) -> np.ndarray:
        mean = np.maximum(total_term_freq, 1) / np.maximum(doc_freq, 1)
        return np.asarray((mean / self.unit) ** (self.across - self.power), np.float32)

    def for_dropping(self, times: float) -> None:
        """Return none: a power changes no order of weights."""


Boost: TypeAlias = FirstPositionBoost | WeightPower
"""A weighting of frequencies: by first positions, or in an impact index by themselves."""
DEFAULT_BOOST = FirstPositionBoost(2.0, 4.0)
"""The boost that learning starts from without a prior."""


def describe_boost(boost: Boost | None) -> dict[str, float] | None:
    """Return what :func:`read_boost` reads: JSON, None for no boost."""
    return None if boost is None else boost._asdict()


def read_boost(described: Mapping[str, float] | None) -> Boost | None:
    """Return the boost that :func:`describe_boost` described."""
    if described is None:
        return None
    return WeightPower(**described) if "power" in described else FirstPositionBoost(**described)


def _as_factors(numbers: np.ndarray) -> np.ndarray:
    """Return float32[n], read-only: all callers get the same array."""
    factors = numbers.astype(np.float32)
    factors.setflags(write=False)
    return factors


def _weighed(tf: np.ndarray, factors: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return float32[n]: ``tf`` times the factor ``at`` its place, or else the last.

    One product of float32, as in ``tdvlucene.rules.TermRule.Boost``.
    """
    return np.asarray(np.asarray(tf, np.float32) * factors[np.minimum(at, len(factors) - 1)])


class LengthNorm(NamedTuple):
    """K_d = fixed + per_token |d|; in an impact index |d| is the document's largest weight, times
    the root of the number of its postings if ``by_postings``."""

    fixed: float
    per_token: float
    by_postings: bool = True

    @classmethod
    def of(cls, k1: float, b: float, avg_doc_len: float, by_postings: bool) -> LengthNorm:
        """Return k1 (1 - b + b |d| / avgdl) as a function of |d|."""
        return cls(k1 * (1 - b), k1 * b / max(avg_doc_len, 1e-9), by_postings)

    @classmethod
    def read(cls, described: Mapping[str, Any]) -> LengthNorm:
        """Return the length norm whose fields these are, among others."""
        return cls(**{name: described[name] for name in cls._fields if name in described})

    def at(self, doc_len: np.ndarray) -> np.ndarray:
        """Return float64[D]: K_d of documents of these lengths."""
        return self.fixed + self.per_token * np.asarray(doc_len, np.float64)


class PostingCut(NamedTuple):
    """The postings that are dropped besides those of terms with a TDV of 0."""

    # float32[V]: a term's postings with a smaller saturation than this are dropped
    least: np.ndarray
    length_norm: LengthNorm
    # Of the frequencies in that saturation; None for frequencies as they are
    position_boost: Boost | None = None


def stays(tf: np.ndarray, least: np.ndarray | float, length_norm: np.ndarray) -> np.ndarray:
    """Return bool[n], postings that stay: tf / (tf + K_d) reaches ``least``, exactly as in Java.

    ``tf`` int[n] or float32[n] has the cut's boost; ``least`` is of each posting's term, and
    ``length_norm`` float64[n] of its document.
    """
    return np.asarray(~(tf < np.asarray(least, np.float64) * (tf + length_norm)))
