"""Extraction against a count of the tokens the documents were made of."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from command_line import write_judged
from lucene_indexes import Doc

from tdv_lucene import TdvError, embed_terms, extract_matrix, learn_from_index, make_peer_values
from tdv_lucene.jvm import java_class, run_job
from tdv_lucene.jvm._jobs import java_index
from tdv_lucene.matrix.term_document_matrix import load_matrix

pytestmark = pytest.mark.jvm


@pytest.mark.parametrize("piece", [1, 7, 100])
def test_bytes_depend_on_neither_threads_nor_pieces(piece: int, make_index, tmp_path: Path) -> None:
    """Lists longer than a piece are cut in the middle, also across segments and deletions."""
    rng = random.Random(2)
    words = [f"w{i}" for i in range(40)]
    weights = [1 / (i + 1) for i in range(40)]
    docs = [
        Doc(f"d{i}", rng.choices(words, weights, k=rng.randint(0, 20)), deleted=i % 7 == 3)
        for i in range(90)
    ]
    index = make_index([docs[:50], docs[50:60], docs[60:]])
    extract_matrix(index, tmp_path / "one", threads=1)
    (tmp_path / "cut").mkdir()
    new_job = java_class("tdvlucene.extract.ExtractJob")
    job = new_job(java_index(index), "contents", str(tmp_path / "cut"), 3, False, False)
    job.pieceSize = piece
    run_job(job)
    arrays = [path.name for path in (tmp_path / "one").glob("*.npy")]
    assert len(arrays) == 11
    for name in arrays:
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()


def test_positions_are_written_for_those_who_want_them(make_index, tmp_path: Path) -> None:
    docs = [[Doc("a", ["x", "y", "x"])]]
    index = make_index(docs, options="DOCS_AND_FREQS_AND_POSITIONS")
    assert extract_matrix(index, tmp_path / "with").first_positions.tolist() == [0, 1]
    for source, asked in ((index, False), (make_index(docs, "bare"), True)):
        matrix = extract_matrix(source, tmp_path / "without", positions=asked, overwrite=True)
        assert matrix.first_positions is load_matrix(tmp_path / "without").first_positions is None


def test_refusals_leave_nothing(tiny_index: Path, make_index, tmp_path: Path) -> None:
    without_id = make_index([[Doc("a", ["x"])]], field="id2", name="without-id")
    cases = [
        (tmp_path / "none", "contents", "none"),
        (tiny_index, "body", r"'body'.*contents"),
        (tiny_index, "id", "DOCS"),
        (without_id, "contents", "id2"),
    ]
    for index, field, message in cases:
        with pytest.raises(TdvError, match=message):
            extract_matrix(index, tmp_path / "matrix", field=field)
        assert os.listdir(tmp_path) == ["without-id"]


def test_a_field_without_a_posting_is_told(make_index, tmp_path: Path, caplog) -> None:
    """Its matrix can be written; whatever learns from one refuses it."""
    index = make_index([[Doc("a", []), Doc("gone", ["x"], deleted=True)]])
    assert extract_matrix(index, tmp_path / "S").shape == (0, 1)
    assert "no live document" in caplog.text
    topics, qrels = write_judged(tmp_path, {"q": "x"}, {"q": "a"})
    for stage in (
        lambda output: learn_from_index(index, topics, qrels, output),
        lambda output: make_peer_values(index, output, "df"),
        lambda output: embed_terms(index, output),
    ):
        with pytest.raises(TdvError, match="no live document has a term"):
            stage(tmp_path / "V")
        assert not (tmp_path / "V").exists()
