"""Paired comparison of systems over the same queries: t-test, randomisation, effect size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

_SAME = 1e-9  # smaller differences are rounding of sums: a tie
_RESAMPLES = 9999  # drawn at random, where there are more ways to choose signs
_BATCH = 2_000_000  # resampled differences held in memory at once
_LEVEL = 0.95
_SMALLEST = float(np.finfo(float).tiny)  # a p-value of 0 would say that chance cannot do it

Interval = tuple[float, float]


@dataclass(frozen=True)
class PairedComparison:
    """Paired tests of ``treatment - baseline``.

    ``ci95`` is of the mean difference by Student's t; the ``corrected`` intervals have the level
    1 - .05 / comparisons: those of all comparisons hold together with 95 % confidence, and one
    excludes 0 exactly where ``p_value`` is below .05. The effect size is Cohen's d_z, the mean
    difference over the standard deviation of the differences; its intervals are by the large-sample
    variance 1/n + d^2/2n (Hedges and Olkin 1985, ch. 5). P values are of two-tailed tests, after
    Bonferroni (times the number of comparisons, at most 1) but for the uncorrected one, and never
    0: of the paired t-test (where all queries differ by the same, so that t is infinite, of a
    randomisation test), and of the randomisation test of the mean (signs flipped at random, or in
    every way where there are few queries). Tests of one query, and effect sizes and intervals
    without spread, are None.
    """

    difference: float
    ci95: Interval | None
    ci95_corrected: Interval | None
    effect_size: float | None
    effect_size_ci95: Interval | None
    effect_size_ci95_corrected: Interval | None
    p_value: float | None
    p_value_uncorrected: float | None
    p_randomisation: float | None
    wins: int  # queries on which the treatment is better
    ties: int
    losses: int

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as JSON has them: intervals as lists."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}


def compare_paired(
    baseline: np.ndarray, treatment: np.ndarray, comparisons: int = 1, *, seed: int = 0
) -> PairedComparison:
    """Compare two systems' values float64[Q], paired by position.

    ``comparisons`` is the number of tests made together, for Bonferroni's correction; ``seed`` is
    for the randomisation test. Identical systems have p = 1.
    """
    return compare_all_paired([(baseline, treatment)], comparisons, seed=seed)[0]


def compare_all_paired(
    pairs: Sequence[tuple[np.ndarray, np.ndarray]], comparisons: int = 1, *, seed: int = 0
) -> list[PairedComparison]:
    """Make :func:`compare_paired` of each (baseline, treatment), all float64[Q].

    Faster than one after another, with the same p values: randomisation tests share random signs.
    """
    differences = np.array([treatment - baseline for baseline, treatment in pairs])
    return [
        _compared(row, p_randomisation, comparisons)
        for row, p_randomisation in zip(differences, randomisation_tests(differences, seed))
    ]


def _compared(
    differences: np.ndarray, p_randomisation: float | None, comparisons: int
) -> PairedComparison:
    def bonferroni(p_value: float | None) -> float | None:
        return None if p_value is None else min(1.0, p_value * comparisons)

    wins, losses = int((differences > _SAME).sum()), int((differences < -_SAME).sum())
    corrected = 1 - (1 - _LEVEL) / comparisons
    p_value, ci95 = t_test(differences)
    effect_size, effect_size_ci95 = _effect_size(differences, _LEVEL)
    return PairedComparison(
        difference=float(differences.mean()),
        ci95=ci95,
        ci95_corrected=t_test(differences, corrected)[1],
        effect_size=effect_size,
        effect_size_ci95=effect_size_ci95,
        effect_size_ci95_corrected=_effect_size(differences, corrected)[1],
        p_value=bonferroni(p_value),
        p_value_uncorrected=p_value,
        p_randomisation=bonferroni(p_randomisation),
        wins=wins,
        ties=len(differences) - wins - losses,
        losses=losses,
    )


def _effect_size(differences: np.ndarray, level: float) -> tuple[float | None, Interval | None]:
    from scipy import stats

    queries = len(differences)
    spread = float(differences.std(ddof=1)) if queries > 1 else 0.0
    if spread <= _SAME:
        return None, None
    size = float(differences.mean()) / spread
    half = float(stats.norm.ppf((1 + level) / 2) * np.sqrt(1 / queries + size**2 / (2 * queries)))
    return size, (size - half, size + half)


def t_test(differences: np.ndarray, level: float = _LEVEL) -> tuple[float | None, Interval | None]:
    """Return (p value, interval of the mean at ``level``) of paired differences float64[Q].

    Two-tailed and uncorrected; (None, None) with fewer than two queries. Where all differences are
    the same, without spread, p is that of randomisation and there is no interval.
    """
    from scipy import stats

    if len(differences) < 2:
        return None, None
    mean = float(differences.mean())
    if np.ptp(differences) <= _SAME:  # t is 0 / 0 or infinite; scipy would warn and give NaN
        if abs(mean) <= _SAME:
            return 1.0, (mean, mean)
        # Both ways with all signs alike, of all choices of signs or of those that a test draws.
        return 2 / min(1 << len(differences), _RESAMPLES + 1), None
    result = stats.ttest_1samp(differences, 0.0)
    interval = result.confidence_interval(level)
    return max(float(result.pvalue), _SMALLEST), (float(interval.low), float(interval.high))


def randomisation_tests(differences: np.ndarray, seed: int) -> list[float | None]:
    """Return the p value of each row of float64[T, Q], paired differences of the same queries.

    Smucker, Allan and Carterette (2007): under the null, a difference has either sign. SciPy draws
    signs once for all rows, or tries all if they are fewer. None for one query.
    """
    from scipy import stats

    tests, queries = differences.shape
    if queries < 2:
        return [None] * tests
    found = stats.permutation_test(
        (np.where(np.abs(differences) <= _SAME, 0.0, differences),), np.mean,
        permutation_type="samples", n_resamples=_RESAMPLES, vectorized=True, axis=-1,
        batch=max(1, _BATCH // differences.size), rng=np.random.default_rng(seed),
    )  # fmt: skip
    p_values: list[float | None] = np.asarray(found.pvalue).tolist()
    return p_values
