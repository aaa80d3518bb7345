"""Stored frequencies and the bytes of postings, on numbers small enough to check by hand."""

from __future__ import annotations

import numpy as np

from tdv_lucene.simulation.bytes import LUCENE_9, posting_bytes


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
