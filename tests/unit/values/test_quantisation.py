"""The frequencies a pruned index stores, on numbers small enough to check by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tdv_lucene.values.quantisation import stored_frequency


def test_frequencies_are_rounded_half_to_even_and_at_least_one():
    tf = np.array([1, 2, 3, 5, 40])
    np.testing.assert_array_equal(stored_frequency(tf, 0.5, 1.0), [1, 1, 2, 2, 20])
    np.testing.assert_array_equal(stored_frequency(tf, 1.0, 2.5), [2, 5, 8, 12, 100])
    np.testing.assert_array_equal(stored_frequency(tf, 1e-9, 1.0), [1, 1, 1, 1, 1])


def test_a_value_of_zero_drops():
    found = stored_frequency(np.array([1, 9, 9]), np.array([0, 0, 1], np.float32), 3.0)
    np.testing.assert_array_equal(found, [0, 0, 27])


@pytest.mark.parametrize("scale", [0.3, 0.85, 1, 4, 100])
def test_no_posting_of_a_kept_term_is_lost_and_order_stays(scale):
    rng = np.random.default_rng(0)
    tf = np.sort(rng.zipf(1.5, 500).clip(max=1000))
    for tdv in (0.01, 0.7, 1.3):
        found = stored_frequency(tf, tdv, scale)
        assert found.min() >= 1 and np.all(np.diff(found) >= 0)
        assert np.all(np.abs(found - np.maximum(scale * tf * tdv, 1)) <= 0.5)
