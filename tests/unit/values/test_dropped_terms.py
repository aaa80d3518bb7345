"""Which terms go at a reduction, on numbers small enough to check by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tdv_lucene.values.posting_rule import drop_terms

DOC_FREQ = np.array([50, 30, 15, 5])
PRIORITY = np.array([0.1, 0.2, 0.3, 0.4], np.float32)
ONES = np.ones(4, np.float32)


def dropped(reduction: float, weights=ONES) -> tuple[list[int], float]:
    tdv, removed = drop_terms(weights, PRIORITY, DOC_FREQ, reduction)
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


def test_kept_values_are_untouched():
    weights = np.array([0.3, 0.7, 1.5, 2.5], np.float32)
    tdv, _ = drop_terms(weights, PRIORITY, DOC_FREQ, 0.5)
    np.testing.assert_array_equal(tdv, np.array([0, 0.7, 1.5, 2.5], np.float32))
    assert weights[0] > 0


@pytest.mark.parametrize("reduction", [0.1, 0.33, 0.45, 0.7, 0.95])
def test_many_terms_come_within_a_thousandth(reduction):
    rng = np.random.default_rng(1)
    doc_freq = rng.zipf(1.6, 5000).clip(max=3000)
    priority = rng.random(5000)
    _, removed = drop_terms(np.ones(5000), priority, doc_freq, reduction)
    assert reduction - 0.0011 <= removed <= reduction
