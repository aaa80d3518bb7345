"""Vocabularies and matrices, and how those of shards are put together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tdv_lucene.matrix.shards import interleave, merge_terms, select_documents
from tdv_lucene.matrix.term_document_matrix import (
    NormFacts,
    NormKind,
    Rows,
    TermDocumentMatrix,
    TokenSequences,
)
from tdv_lucene.vocabulary import ByteStrings, Vocabulary

TERMS = [b"", b"\x00", b"abc", "né".encode(), b"\xff\xfe"]


def test_vocabulary_finds_text_and_bytes() -> None:
    vocabulary = Vocabulary("contents", ByteStrings.of(TERMS))
    found = vocabulary.find(["né", b"\xff\xfe", "absent", "abc"])
    assert found.dtype == np.int64
    assert found.tolist() == [3, 4, -1, 2]


def _matrix(**changes: np.ndarray) -> TermDocumentMatrix:
    """Terms a (in two documents) and b (twice in the second); a third document is empty."""
    arrays = {
        "indptr": np.array([0, 2, 3]),
        "indices": np.array([0, 1, 1], np.int32),
        "data": np.array([1, 1, 2], np.int32),
        "doc_freq": np.array([2, 1]),
        "total_term_freq": np.array([2, 2]),
        "doc_len": np.array([1, 3, 0]),
        "norms": np.array([1, 3, 0]),
    }
    vocabulary = Vocabulary("contents", ByteStrings.of([b"a", b"b"]))
    ids = ByteStrings.of([b"d0", b"d1", b"d2"])
    return TermDocumentMatrix(vocabulary, ids, **{**arrays, **changes}, source={})


def test_some_documents_are_selected_of_a_matrix_that_knows_the_order_of_tokens() -> None:
    """A pool is, and a sample for word vectors; neither reads the order."""
    tokens = TokenSequences(np.array([0, 1, 0, 1], np.int32), np.array([0, 1, 4, 4]))
    found, _ = select_documents(replace(_matrix(), sequences=tokens), np.array([1, 2]))
    assert found.shape == (2, 2) and found.sequences is None


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
