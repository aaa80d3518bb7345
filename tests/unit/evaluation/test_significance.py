"""The paired test against scipy, and at its edges."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tdv_lucene.evaluation.significance import compare_all_paired, compare_paired


def test_against_scipy():
    rng = np.random.default_rng(0)
    a = rng.random(40)
    b = a + rng.normal(0.03, 0.1, 40)
    result = compare_paired(a, b, comparisons=4)
    expected = stats.ttest_rel(b, a)
    assert result.p_value_uncorrected == pytest.approx(expected.pvalue)
    assert result.p_value == pytest.approx(min(1, 4 * expected.pvalue))
    assert result.ci95 == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert result.difference == pytest.approx((b - a).mean())
    assert result.effect_size == pytest.approx(expected.statistic / np.sqrt(40))
    assert (result.wins, result.ties, result.losses) == ((b > a).sum(), 0, (b < a).sum())


def test_two_tailed_and_symmetric():
    a, b = np.array([0.1, 0.5, 0.3]), np.array([0.3, 0.6, 0.9])
    there, back = compare_paired(a, b), compare_paired(b, a)
    assert there.p_value == pytest.approx(back.p_value)
    assert there.difference == -back.difference
    assert there.effect_size == -back.effect_size
    assert (there.wins, back.losses) == (3, 3)
    assert there.to_dict()["ci95"] == list(there.ci95)
    assert compare_paired(a, b, comparisons=100).p_value == 1.0


def test_identical_systems():
    values = np.array([0.2, 0.4, 0.0])
    result = compare_paired(values, values + 1e-12, comparisons=4)
    assert (result.p_value, result.ci95[0]) == (1.0, pytest.approx(0.0))
    assert (result.effect_size, result.ties) == (None, 3)


def test_one_query_has_no_test():
    result = compare_paired(np.array([0.5]), np.array([0.7]))
    assert (result.p_value, result.ci95, result.effect_size) == (None, None, None)
    assert result.to_dict()["ci95"] is None
    assert result.wins == 1


@pytest.mark.parametrize(
    ("queries", "expected"), [(2, 0.5), (8, 2 / 2**8), (13, 2 / 2**13), (2000, 2e-4)]
)
def test_constant_gain(queries, expected):
    """With no spread there is nothing to test by but the signs; p is never 0."""
    before = np.linspace(0.1, 0.2, queries)
    result = compare_paired(before, before + 0.1, comparisons=1)
    assert result.p_value == pytest.approx(expected)
    assert result.effect_size is None and result.ci95 is None and result.ci95_corrected is None
    assert result.p_randomisation == pytest.approx(result.p_value)


def test_corrected_intervals_agree_with_corrected_p_values():
    """Of many samples, an interval leaves out 0 exactly where p is below .05."""
    rng = np.random.default_rng(2)
    outcomes = set()
    for _ in range(60):
        a = rng.random(40)
        result = compare_paired(a, a + rng.normal(0.04, 0.1, 40), comparisons=8)
        low, high = result.ci95_corrected
        assert (low > 0 or high < 0) == (result.p_value < 0.05)
        assert low < result.ci95[0] < result.ci95[1] < high
        wide = result.effect_size_ci95_corrected
        assert wide[0] < result.effect_size_ci95[0] < result.effect_size_ci95[1] < wide[1]
        alone = result.ci95[0] > 0 or result.ci95[1] < 0
        outcomes.add((alone, result.p_value < 0.05))
    assert (True, False) in outcomes, "an uncorrected interval seems to contradict p"
    alone = compare_paired(a, a + rng.normal(0.04, 0.1, 40), comparisons=1)
    assert alone.ci95 == alone.ci95_corrected


def test_effect_size_interval_covers_the_truth():
    """Of samples with d_z = 0.3, about 95 % give an interval that holds 0.3."""
    rng = np.random.default_rng(0)
    intervals = [
        compare_paired(np.zeros(50), rng.normal(0.3, 1.0, 50)).effect_size_ci95 for _ in range(200)
    ]
    covered = np.mean([low <= 0.3 <= high for low, high in intervals])
    assert 0.9 <= covered <= 0.99


@pytest.mark.parametrize("queries", [5, 13, 14, 400])
def test_randomisation_is_scipys(queries):
    """The same p values as SciPy's permutation test, for many pairs at once as for each alone."""
    rng = np.random.default_rng(queries)
    before = rng.random(queries)
    rare = np.where(rng.random(queries) < 0.1, 0.3, 0.0)
    pairs = [(before, before + shift) for shift in (rng.normal(0.02, 0.1, queries), rare, 0 * rare)]
    found = compare_all_paired(pairs, 2, seed=7)
    assert found == [compare_paired(*pair, 2, seed=7) for pair in pairs]
    for (baseline, treatment), result in zip(pairs, found):
        expected = stats.permutation_test(
            (np.where(treatment == baseline, 0.0, treatment - baseline),),
            lambda signed, axis: signed.mean(axis=axis), permutation_type="samples",
            n_resamples=9999, rng=np.random.default_rng(7), vectorized=True,
        )  # fmt: skip
        assert result.p_randomisation == min(1, 2 * expected.pvalue)
