"""A matrix cut into pieces of documents and merged again is the matrix."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tdv_lucene.errors import TdvError
from tdv_lucene.matrix import merge
from tdv_lucene.matrix.term_document_matrix import TermDocumentMatrix
from tdv_lucene.store import save_array
from tdv_lucene.vocabulary import ByteStrings, Vocabulary


def _random(documents: int, terms: int, seed: int, positions: bool = True) -> TermDocumentMatrix:
    """Term 0 is in every document, some terms in few; any bytes are terms."""
    rng = np.random.default_rng(seed)
    share = np.r_[1.0, rng.random(terms - 1) ** 3]
    tf = (rng.random((terms, documents)) < share[:, None]) * rng.integers(1, 9, (terms, documents))
    words = {bytes(rng.integers(0, 256, rng.integers(1, 5)).astype(np.uint8)) for _ in range(terms)}
    words = sorted(words | {b""})[: (tf.any(axis=1)).sum()]
    return _of_dense(tf[tf.any(axis=1)][: len(words)], words, rng.integers(0, 99, tf.shape),
                     [f"d{i}".encode() for i in range(documents)], positions)  # fmt: skip


def _of_dense(
    tf: np.ndarray, words: list[bytes], first: np.ndarray, ids: list[bytes], positions: bool
) -> TermDocumentMatrix:
    rows, columns = np.nonzero(tf)
    lengths = tf.sum(axis=0)
    return TermDocumentMatrix(
        Vocabulary("contents", ByteStrings.of(words)), ByteStrings.of(ids),
        indptr=np.r_[0, np.cumsum((tf > 0).sum(axis=1))].astype(np.int64),
        indices=columns.astype(np.int32), data=tf[rows, columns].astype(np.int32),
        doc_freq=(tf > 0).sum(axis=1), total_term_freq=tf.sum(axis=1), doc_len=lengths,
        norms=np.minimum(lengths, 40), source={},
        first_positions=first[rows, columns].astype(np.uint16) if positions else None,
    )  # fmt: skip


def _cut(whole: TermDocumentMatrix, at: list[int]) -> list[TermDocumentMatrix]:
    """Pieces as extraction has them: each with the terms of its own documents alone."""
    shape = whole.shape
    tf, first = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    rows = np.repeat(np.arange(shape[0]), np.diff(whole.indptr))
    tf[rows, whole.indices] = whole.data
    if whole.first_positions is not None:
        first[rows, whole.indices] = whole.first_positions
    terms, ids = list(whole.vocabulary.terms), list(whole.doc_ids)
    pieces = []
    for low, high in zip([0, *at], [*at, shape[1]]):
        has = tf[:, low:high].any(axis=1)
        words = [term for term, there in zip(terms, has) if there]
        pieces.append(_of_dense(tf[has, low:high], words, first[has, low:high], ids[low:high],
                                whole.first_positions is not None))  # fmt: skip
    return pieces


@pytest.mark.parametrize("positions", [True, False])
@pytest.mark.parametrize(("terms_at_once", "postings_at_once"), [(1 << 17, 1 << 22), (3, 12)])
def test_pieces_merge_to_the_whole(
    positions: bool, terms_at_once: int, postings_at_once: int, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Also in the smallest steps, where term 0's list is larger than what is held at once."""
    monkeypatch.setattr(merge, "_TERMS_AT_ONCE", terms_at_once)
    monkeypatch.setattr(merge, "_POSTINGS_AT_ONCE", postings_at_once)
    for seed, at in enumerate([[20], [7, 7, 33], [0, 1, 40]]):
        whole = _random(40, 60, seed, positions)
        folder = tmp_path / str(seed)
        folder.mkdir()
        merge.merge_matrices(_cut(whole, at), folder)
        arrays = {
            "terms": whole.vocabulary.terms.data, "terms_indptr": whole.vocabulary.terms.indptr,
            "doc_ids": whole.doc_ids.data, "doc_ids_indptr": whole.doc_ids.indptr,
            "first_positions": whole.first_positions,
        }  # fmt: skip
        for name, dtype in merge._DTYPES.items():
            expected = arrays.get(name, getattr(whole, name, None))
            path = folder / f"{name}.npy"
            if expected is None:
                assert not path.exists()
                continue
            save_array(tmp_path / "expected.npy", np.asarray(expected, dtype))
            assert path.read_bytes() == (tmp_path / "expected.npy").read_bytes(), name


def test_blocks_cover_all_terms_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge, "_POSTINGS_AT_ONCE", 30)
    parts = _cut(_random(40, 60, 5), [10, 25])
    ends = [0] * len(parts)
    for bounds, _ in merge._blocks(parts):
        assert [first for first, _ in bounds] == ends
        assert any(end > first for first, end in bounds)
        ends = [end for _, end in bounds]
    assert ends == [len(part.vocabulary) for part in parts]


def test_more_documents_than_a_matrix_can_number_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge, "_MOST_DOCUMENTS", 39)
    with pytest.raises(TdvError, match="hold 40 documents, and a matrix numbers at most 39"):
        merge.merge_matrices(_cut(_random(40, 5, 0), [20]), tmp_path)
    assert list(tmp_path.iterdir()) == []
