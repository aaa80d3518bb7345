"""Records: packed byte strings, vocabularies, matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tdv_lucene.matrix.shards import select_documents
from tdv_lucene.matrix.term_document_matrix import (
    TermDocumentMatrix,
    TokenSequences,
)
from tdv_lucene.vocabulary import ByteStrings, Vocabulary

TERMS = [b"", b"\x00", b"abc", "né".encode(), b"\xff\xfe"]


def test_byte_strings_keep_any_bytes() -> None:
    packed = ByteStrings.of(TERMS)
    assert list(packed) == TERMS
    assert [packed[i] for i in range(len(packed))] == TERMS
    assert packed[-1] == TERMS[-1]
    with pytest.raises(IndexError):
        packed[len(TERMS)]


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


def test_matrix_statistics() -> None:
    matrix = _matrix()
    assert (matrix.shape, matrix.postings, matrix.doc_count) == ((2, 3), 3, 2)


def test_some_documents_are_selected_of_a_matrix_that_knows_the_order_of_tokens() -> None:
    """A pool is, and a sample for word vectors; neither reads the order."""
    tokens = TokenSequences(np.array([0, 1, 0, 1], np.int32), np.array([0, 1, 4, 4]), "positions")
    found, _ = select_documents(replace(_matrix(), sequences=tokens), np.array([1, 2]))
    assert found.shape == (2, 2) and found.sequences is None
