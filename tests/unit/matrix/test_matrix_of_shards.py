"""Putting together what shards have: terms in order, and postings row by row."""

from __future__ import annotations

import numpy as np

from tdv_lucene.matrix.shards import interleave, merge_terms
from tdv_lucene.matrix.term_document_matrix import NormFacts, NormKind, Rows
from tdv_lucene.vocabulary import ByteStrings


def test_terms_are_merged_in_the_order_of_their_bytes() -> None:
    own = [[b"a", b"b\x00", b"\xff"], [], [b"", b"a", b"b", b"b\x00"]]
    terms, numbers = merge_terms([ByteStrings.of(part) for part in own])
    assert list(terms) == sorted({term for part in own for term in part})
    assert [[terms[n] for n in part] for part in numbers] == own


def test_rows_of_parts_follow_one_another_with_the_documents_numbers() -> None:
    one = Rows(np.array([2, 1]), (np.array([0, 3], np.int32).repeat([1, 2]), np.arange(3), None))
    two = Rows(np.array([0, 1, 1]), (np.array([1, 4], np.int32), np.array([7, 8]), None))
    places = [np.array([0, 2]), np.array([0, 1, 2])]
    sizes, (docs, data, first) = interleave([one, two], places, [0, 10], 4)
    assert sizes.tolist() == [2, 1, 2, 0]
    assert docs is not None and docs.tolist() == [0, 3, 11, 3, 14] and docs.dtype == np.int32
    assert data is not None and data.tolist() == [0, 1, 7, 2, 8] and first is None


def test_the_kind_of_norms_is_a_matter_of_all_shards() -> None:
    short, long = np.array([3, 40]), np.array([41, 300])
    exact = [NormFacts.of(lengths, lengths) for lengths in (short, long, short[:0])]
    assert exact[0].kind is NormKind.BYTES
    assert NormFacts.sum(exact).kind is NormFacts.sum(exact[::-1]).kind is NormKind.EXACT
    ones = NormFacts.of(np.ones(2, np.int64), short)
    assert NormFacts.sum([ones, exact[2]]).kind is NormKind.ONES
    assert NormFacts.sum([ones, exact[1]]).kind is NormKind.BYTES
