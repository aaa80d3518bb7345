"""The frequencies a pruned index stores, on numbers small enough to check by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from small_problem import make_matrix

from tdv_lucene.matrix.term_document_matrix import NormKind, lucene_length
from tdv_lucene.simulation.collection import apply_values, keep_postings, stored_frequency


def test_frequencies_are_rounded_half_to_even_and_at_least_one():
    tf = np.array([1, 2, 3, 5, 40])
    np.testing.assert_array_equal(stored_frequency(tf, 0.5, 1.0), [1, 1, 2, 2, 20])
    np.testing.assert_array_equal(stored_frequency(tf, 1.0, 2.5), [2, 5, 8, 12, 100])
    np.testing.assert_array_equal(stored_frequency(tf, 1e-9, 1.0), [1, 1, 1, 1, 1])


def exact_norms(longest: int):
    """A matrix of lengths up to ``longest``, which its norms hold as they are."""
    often = np.arange(1, 20)
    dense = np.array([np.full(19, longest - 19), often])
    matrix = make_matrix(dense)
    return replace(matrix, norms=matrix.doc_len, norm_kind=None)


def test_scaled_lengths_of_short_documents_are_what_the_index_will_hold():
    """Up to 40 exact lengths are bytes as well; scaled, bytes are rounded down."""
    matrix = exact_norms(longest=40)
    assert matrix.norm_kind is NormKind.BYTES
    found = apply_values(matrix, np.ones(2, np.float32), scale=3)
    np.testing.assert_array_equal(found.doc_len, lucene_length(3 * matrix.doc_len))
    assert (found.doc_len < 3 * matrix.doc_len).any()


def test_what_is_left_of_a_matrix_keeps_its_kind_of_norms():
    matrix = exact_norms(longest=100)
    left = keep_postings(matrix, np.array([0, 1], np.float32), None)
    assert left.doc_len.max() < 40 and left.norm_kind is matrix.norm_kind is NormKind.EXACT
    found = apply_values(left, np.ones(2, np.float32), scale=3)
    np.testing.assert_array_equal(found.doc_len, 3 * left.doc_len)
