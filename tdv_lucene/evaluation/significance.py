"""Paired comparison of systems over the same queries, by the t-test."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

_SAME = 1e-9  # smaller differences are rounding of sums: a tie
_DRAWN = 10_000  # choices of signs that a randomisation test would draw
_LEVEL = 0.95
_SMALLEST = float(np.finfo(float).tiny)  # a p-value of 0 would say that chance cannot do it

Interval = tuple[float, float]


@dataclass(frozen=True)
class PairedComparison:
    """Paired tests of ``treatment - baseline``.

    ``ci95`` is of the mean difference by Student's t; ``ci95_corrected`` has the level
    1 - .05 / comparisons: those of all comparisons hold together with 95 % confidence, and one
    excludes 0 exactly where ``p_value`` is below .05. P values are of the two-tailed paired t-test,
    after Bonferroni (times the number of comparisons, at most 1) but for the uncorrected one, and
    never 0. Tests of one query, and intervals without spread, are None.
    """

    difference: float
    ci95: Interval | None
    ci95_corrected: Interval | None
    p_value: float | None
    p_value_uncorrected: float | None
    wins: int  # queries on which the treatment is better
    ties: int
    losses: int

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as JSON has them: intervals as lists."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}


def compare_paired(
    baseline: np.ndarray, treatment: np.ndarray, comparisons: int = 1
) -> PairedComparison:
    """Compare two systems' values float64[Q], paired by position.

    ``comparisons`` is the number of tests made together, for Bonferroni's correction. Identical
    systems have p = 1.
    """
    differences = treatment - baseline
    wins, losses = int((differences > _SAME).sum()), int((differences < -_SAME).sum())
    p_value, ci95 = t_test(differences)
    return PairedComparison(
        difference=float(differences.mean()),
        ci95=ci95,
        ci95_corrected=t_test(differences, 1 - (1 - _LEVEL) / comparisons)[1],
        p_value=None if p_value is None else min(1.0, p_value * comparisons),
        p_value_uncorrected=p_value,
        wins=wins,
        ties=len(differences) - wins - losses,
        losses=losses,
    )


def t_test(differences: np.ndarray, level: float = _LEVEL) -> tuple[float | None, Interval | None]:
    """Return (p value, interval of the mean at ``level``) of paired differences float64[Q].

    Two-tailed and uncorrected; (None, None) with fewer than two queries. Where all differences are
    the same, t is infinite: p is that of randomisation (signs flipped at random) and there is no
    interval.
    """
    from scipy import stats

    if len(differences) < 2:
        return None, None
    mean = float(differences.mean())
    if np.ptp(differences) <= _SAME:  # t is 0 / 0 or infinite; scipy would warn and give NaN
        if abs(mean) <= _SAME:
            return 1.0, (mean, mean)
        # Both ways with all signs alike, of all choices of signs or of those that a test draws.
        return 2 / min(1 << len(differences), _DRAWN), None
    result = stats.ttest_1samp(differences, 0.0)
    interval = result.confidence_interval(level)
    return max(float(result.pvalue), _SMALLEST), (float(interval.low), float(interval.high))
