"""Values as an index keeps them."""

from __future__ import annotations

import numpy as np
import pytest

from tdv_lucene.errors import TdvError
from tdv_lucene.values.stored_values import MANTISSA_BITS, round_values


def test_rounded_to_the_nearest_of_few():
    values = np.exp(np.random.default_rng(0).uniform(-5, 5, 10_000)).astype(np.float32)
    rounded = round_values(values)
    assert np.all(np.abs(rounded - values) <= values * 2.0 ** -(MANTISSA_BITS + 1))
    assert len(np.unique(rounded)) <= 16 * 2**MANTISSA_BITS
    np.testing.assert_array_equal(round_values(rounded), rounded)


def test_zero_and_only_zero_is_zero():
    rounded = round_values(np.array([0, 1e-40, 1e-30, 2.0**20], np.float32))
    assert rounded.dtype == np.float32
    assert rounded.tolist() == [0, 2.0**-20, 2.0**-20, 2.0**20]


def test_what_could_overflow_is_refused():
    with pytest.raises(TdvError, match="TDV 2e.06 of term number 1 exceeds"):
        round_values(np.array([1, 2e6]))
