"""Paired comparison of two systems over the same queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_SAME = 1e-9  # per-query values closer than this are a tie: rounding of sums, not of measures


@dataclass(frozen=True)
class PairedComparison:
    """What a two-tailed paired t-test says of ``treatment - baseline``.

    Attributes
    ----------
    difference : float
        Mean difference.
    ci95 : (float, float) or None
        Its 95 % confidence interval by Student's t, not corrected for several comparisons.
    effect_size : float or None
        Cohen's d_z: the mean difference over the standard deviation of the differences.
    p_value : float or None
        After Bonferroni: multiplied by the number of comparisons, at most 1.
    p_value_uncorrected : float or None
    wins, ties, losses : int
        Queries on which the treatment is better, equal, worse.

    With one query there is no test, and with no spread no effect size: those values are None.
    """

    difference: float
    ci95: tuple[float, float] | None
    effect_size: float | None
    p_value: float | None
    p_value_uncorrected: float | None
    wins: int
    ties: int
    losses: int


def compare_paired(
    baseline: np.ndarray, treatment: np.ndarray, comparisons: int = 1
) -> PairedComparison:
    """Compare two systems' values float64[Q], paired by position.

    ``comparisons`` is the number of tests made together, for Bonferroni's correction. Identical
    systems have p = 1.

    Raises
    ------
    ValueError
        When the shapes differ, there is no query, or ``comparisons`` is below 1.
    """
    if baseline.shape != treatment.shape or baseline.ndim != 1 or not baseline.size:
        raise ValueError(
            f"need two arrays of one shape [Q], Q > 0; got {baseline.shape} and {treatment.shape}"
        )
    if comparisons < 1:
        raise ValueError(f"comparisons={comparisons} is out of range: at least 1 test is made")
    differences = treatment - baseline
    difference = float(differences.mean())
    wins, losses = int((differences > _SAME).sum()), int((differences < -_SAME).sum())
    p_value, ci95 = _t_test(differences)
    spread = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
    return PairedComparison(
        difference=difference,
        ci95=ci95,
        effect_size=difference / spread if spread > _SAME else None,
        p_value=None if p_value is None else min(1.0, p_value * comparisons),
        p_value_uncorrected=p_value,
        wins=wins,
        ties=len(differences) - wins - losses,
        losses=losses,
    )


def _t_test(differences: np.ndarray) -> tuple[float | None, tuple[float, float] | None]:
    """Return (p value, 95 % interval of the mean)."""
    from scipy import stats

    if len(differences) < 2:
        return None, None
    mean = float(differences.mean())
    if np.ptp(differences) <= _SAME:  # t is 0 / 0 or infinite; scipy would warn and give NaN
        return (1.0 if abs(mean) <= _SAME else 0.0), (mean, mean)
    result = stats.ttest_1samp(differences, 0.0)
    interval = result.confidence_interval(0.95)
    return float(result.pvalue), (float(interval.low), float(interval.high))
