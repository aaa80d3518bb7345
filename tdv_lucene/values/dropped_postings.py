"""How many postings a rule drops: with whole terms, and by the least saturation of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import TdvError
from ..ranking.boosts import Boost, describe_boost, read_boost
from ..ranking.saturation import LengthNorm, PostingCut
from .dropped_terms import postings_before

_ROUNDING = 1e-6
"""Of float32, and some; thresholds lie a thousandth apart."""


@dataclass(frozen=True, eq=False)
class PostingRule:
    """How many postings are dropped with their whole term, and which of the others.

    Attributes
    ----------
    priority : float32[V]
        Postings are dropped in ascending order of priority times saturation; finite, above 0.
    whole_terms : float
        The share of the reduction that is made by dropping whole terms, in order of the terms' own
        priority.
    length_norm : LengthNorm
    thresholds : (reductions, theta) float64[n] each, ascending
        The priority times saturation that postings must reach; interpolated in between.
    factors_at, factors : tuple of F float, float32[F, V]
        What TDVs are multiplied by at each of these reductions, ascending; interpolated in between.
        A term that loses postings becomes rarer, and Lucene would give it a larger idf. None if
        this is not corrected.
    position_boost : FirstPositionBoost or None
        Of the frequencies in the saturation.
    """

    priority: np.ndarray
    whole_terms: float
    length_norm: LengthNorm
    thresholds: tuple[np.ndarray, np.ndarray]
    factors_at: tuple[float, ...] = ()
    factors: np.ndarray | None = None
    position_boost: Boost | None = None

    def drop(
        self, weights: np.ndarray, priority: np.ndarray, doc_freq: np.ndarray, reduction: float
    ) -> tuple[np.ndarray, PostingCut]:
        """Return float32[V] TDVs, 0 for whole terms dropped, and which other postings are."""
        whole = int(self.whole_terms * reduction * doc_freq.sum())
        dropped = postings_before(weights, priority, doc_freq) <= whole
        # A posting of exactly theta stays, whatever the rounding.
        theta = (1 - _ROUNDING) * np.interp(reduction, *self.thresholds)
        least = (theta / np.asarray(self.priority, np.float64)).astype(np.float32)
        tdv = np.where(dropped | (least >= 1), 0, weights).astype(np.float32)
        if self.factors is not None:
            last = len(self.factors_at) - 1
            at = float(np.interp(reduction, self.factors_at, np.arange(last + 1)))
            low, share = int(at), np.float32(at % 1)
            tdv *= (1 - share) * self.factors[low] + share * self.factors[min(low + 1, last)]
        return tdv, PostingCut(least, self.length_norm, self.position_boost)

    def describe(self) -> dict[str, Any]:
        """Return all but the priority as JSON."""
        reductions, theta = (np.asarray(part).tolist() for part in self.thresholds)
        return {
            "whole_terms": self.whole_terms,
            "factors_at": list(self.factors_at),
            **self.length_norm._asdict(),
            "lead": describe_boost(self.position_boost),
            "reductions": reductions,
            "thresholds": theta,
        }

    @classmethod
    def read(
        cls,
        priority: np.ndarray,
        factors: np.ndarray | None,
        described: Mapping[str, Any],
    ) -> PostingRule:
        """Make a rule of what :meth:`describe` returned."""
        length_norm = LengthNorm(described["fixed"], described["per_token"])
        thresholds = np.array(described["reductions"]), np.array(described["thresholds"])
        boost = read_boost(described.get("lead"))
        if not all(np.isfinite(part).all() for part in (*length_norm, *thresholds, *(boost or ()))):
            raise TdvError(
                "the posting rule of these TDVs holds numbers that are not finite: learn them again"
            )
        return cls(
            priority, described["whole_terms"], length_norm, thresholds,
            tuple(described["factors_at"]), factors, boost,
        )  # fmt: skip
