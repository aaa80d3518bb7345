"""Which terms go at a reduction, on numbers small enough to check by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tdv_lucene.values.dropping import COUNTED_TF, count_postings_by_tf, drop_terms

DOC_FREQ = np.array([50, 30, 15, 5])
PRIORITY = np.array([0.1, 0.2, 0.3, 0.4], np.float32)
ONES = np.ones(4, np.float32)


def by_tf(ones: list[int]) -> np.ndarray:
    """Counts with ``ones`` postings of frequency 1 and none of 2 to COUNTED_TF."""
    counts = np.zeros((len(ones), COUNTED_TF), np.int32)
    counts[:, 0] = ones
    return counts


def dropped(
    reduction: float, weights=ONES, scale=None, ones=(0, 0, 0, 0)
) -> tuple[list[int], float]:
    tdv, removed = drop_terms(weights, PRIORITY, DOC_FREQ, by_tf(list(ones)), reduction, scale)
    return np.flatnonzero(tdv == 0).tolist(), removed


def test_nothing_goes_at_zero():
    assert dropped(0.0) == ([], 0.0)


def test_terms_go_in_order_and_never_beyond_the_reduction():
    assert dropped(0.5) == ([0], 0.5)
    assert dropped(0.8) == ([0, 1], 0.8)


def test_a_term_too_large_is_passed_over():
    assert dropped(0.46) == ([1, 2], 0.45)
    assert dropped(0.05) == ([3], 0.05)


def test_learned_zeros_go_in_any_case():
    weights = np.array([1, 1, 0, 1], np.float32)
    assert dropped(0.0, weights) == ([2], 0.15)
    assert dropped(0.2, weights) == ([2, 3], 0.2)


def test_postings_lost_by_rounding_count():
    # 4 * 1 * 0.1 rounds to 0 and 4 * 2 * 0.1 to 1: term 0 loses its 20 postings of frequency 1.
    weights = np.array([0.1, 1, 1, 1], np.float32)
    assert dropped(0.2, weights, scale=4, ones=(20, 0, 0, 0)) == ([], 0.2)
    # To drop it whole costs only the 30 that are left.
    assert dropped(0.5, weights, scale=4, ones=(20, 0, 0, 0)) == ([0], 0.5)


def test_half_rounds_to_even_as_in_java():
    weights = np.array([0.125, 1, 1, 1], np.float32)
    assert dropped(0.0, weights, scale=4, ones=(20, 0, 0, 0)) == ([], 0.2)


def test_a_term_left_with_rare_frequencies_only_goes_whole():
    weights = np.array([0.01, 1, 1, 1], np.float32)
    assert dropped(0.0, weights, scale=4, ones=(20, 0, 0, 0)) == ([0], 0.5)


def test_kept_values_are_untouched():
    weights = np.array([0.3, 0.7, 1.5, 2.5], np.float32)
    tdv, _ = drop_terms(weights, PRIORITY, DOC_FREQ, by_tf([0] * 4), 0.5, None)
    np.testing.assert_array_equal(tdv, np.array([0, 0.7, 1.5, 2.5], np.float32))
    assert weights[0] > 0


@pytest.mark.parametrize("reduction", [0.1, 0.33, 0.45, 0.7, 0.95])
def test_many_terms_come_within_a_thousandth(reduction):
    rng = np.random.default_rng(1)
    doc_freq = rng.zipf(1.6, 5000).clip(max=3000)
    priority = rng.random(5000)
    _, removed = drop_terms(
        np.ones(5000), priority, doc_freq, np.zeros((5000, COUNTED_TF), np.int32), reduction, None
    )
    assert reduction - 0.0011 <= removed <= reduction


def test_postings_are_counted_by_frequency():
    counts = count_postings_by_tf(np.array([1, 1, 3, 9, 2, 1]), np.array([0, 4, 6]))
    assert counts.tolist() == [[2, 0, 1, 0], [1, 1, 0, 0]]
