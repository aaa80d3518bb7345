"""The model of Lucene's postings, against counts by hand; against Lucene in integration."""

from __future__ import annotations

import numpy as np
import pytest

from tdv_lucene.values.posting_bytes import LUCENE_9, posting_bytes
from tdv_lucene.values.quantisation import whole_multiples, whole_multiples_above


def one_list(freqs, gap: int = 3, **form: object) -> int:
    """Bytes of one list with these frequencies, without impacts and overhead."""
    docs = gap * np.arange(len(freqs)) + gap - 1
    norms = np.full(len(freqs), 9, np.uint8)
    plain = LUCENE_9._replace(block_overhead=-1.6, impact_levels=0.0, **form)
    return posting_bytes(np.array([0, len(freqs)]), docs, np.asarray(freqs), norms, plain)


def test_a_block_takes_the_bits_of_its_eighth_largest_frequency():
    gaps = 1 + 16 * 2  # gaps of 3: two bits
    ones = np.ones(128, int)
    assert one_list(ones) == gaps + 2
    assert one_list(4 * ones) == gaps + 2
    assert one_list(300 * ones) == gaps + 1 + 16 * 9
    few, odd, many = ones.copy(), ones.copy(), ones.copy()
    few[:7], odd[:7], many[:8] = 2, 3, 3
    assert one_list(few) == gaps + 1 + 16 * 1 + 7 * 2
    assert one_list(odd) == gaps + 2 + 7 * 2  # exceptions keep the low bits of the others
    assert one_list(many) == gaps + 1 + 16 * 2


def test_a_tail_takes_whole_bytes_and_one_is_free():
    assert one_list([1, 1, 1, 1]) == 4 + 1
    assert one_list([1, 2, 200, 1]) == 4 + 1 + 1 + 2
    assert one_list([7]) == 0  # in the dictionary


def test_dense_blocks_may_be_bit_sets():
    dense = np.ones(128, int)
    assert one_list(dense, gap=1) == 1 + 2
    docs = np.arange(128)
    docs[-1] = 130  # one gap of 4: packed takes three bits a document
    norms = np.full(128, 9, np.uint8)
    form = LUCENE_9._replace(block_overhead=-1.6, impact_levels=0.0)
    sizes = [
        posting_bytes(np.array([0, 128]), docs, dense, norms, form._replace(bit_sets=bit_sets))
        for bit_sets in (False, True)
    ]
    assert sizes == [1 + 16 * 3 + 2, 1 + 8 * 3 + 2]


@pytest.mark.parametrize("scale", [0.7, 1, 2.5, 4, 100])
def test_whole_multiples(scale):
    values = np.array([0, 1e-6, 0.3, 1, 1.7, 40], np.float32)
    rounded = whole_multiples(values, scale)
    multiples = rounded.astype(float) * scale
    np.testing.assert_allclose(multiples, np.rint(multiples), rtol=1e-6)
    assert rounded[0] == 0 and np.all(multiples[1:] > 0.999)
    large = values * scale >= 0.5
    assert np.all(np.abs(rounded - values)[large] <= 0.5 / scale * 1.0001)
    np.testing.assert_array_equal(whole_multiples(values, None), values)
    tf = np.arange(1, 50)[:, None]  # Java's arithmetic: every product is whole
    freqs = np.rint(scale * tf * rounded.astype(float))
    np.testing.assert_array_equal(freqs, tf * np.rint(multiples))


def test_small_values_stay_as_they_are():
    values = np.array([0, 0.1, 0.24, 0.26, 0.9], np.float32)
    rounded = whole_multiples_above(values, 4)
    np.testing.assert_array_equal(rounded, np.array([0, 0.1, 0.24, 0.25, 1], np.float32))
    np.testing.assert_array_equal(whole_multiples_above(values, None), values)
