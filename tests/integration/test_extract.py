"""Extraction against the tokens the documents were made of: counts, and their order, rebuilt from
positions or stored text."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from command_line import write_judged
from lucene_indexes import Doc

from tdv_lucene import TdvError, embed_terms, extract_matrix, learn_from_index, make_peer_values
from tdv_lucene.jvm import java_class, run_job
from tdv_lucene.jvm._jobs import java_index
from tdv_lucene.jvm.index import extract_arrays
from tdv_lucene.matrix.extract import open_matrix
from tdv_lucene.matrix.term_document_matrix import load_matrix

pytestmark = pytest.mark.jvm


@pytest.mark.parametrize("piece", [1, 7, 100])
def test_bytes_depend_on_neither_threads_nor_pieces(piece: int, make_index, tmp_path: Path) -> None:
    """Lists longer than a piece are cut in the middle, also across segments and deletions."""
    index = make_index(_segments())
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
    index = make_index(docs, **POSITIONS)
    assert extract_matrix(index, tmp_path / "with").first_positions.tolist() == [0, 1]
    for source, asked in ((index, False), (make_index(docs, "bare"), True)):
        matrix = extract_matrix(source, tmp_path / "without", positions=asked, overwrite=True)
        assert matrix.first_positions is load_matrix(tmp_path / "without").first_positions is None


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


POSITIONS = {"options": "DOCS_AND_FREQS_AND_POSITIONS"}


def _segments(deleted: bool = True) -> list[list[Doc]]:
    rng = random.Random(3)
    words = [f"w{i}" for i in range(30)]
    weights = [1 / (i + 1) for i in range(30)]
    docs = [
        Doc(
            f"d{i}",
            rng.choices(words, weights, k=rng.randint(0, 20)),
            deleted=deleted and i % 4 == 1,
        )
        for i in range(60)
    ]
    docs[1] = Doc("gone", ["lone0", "here0"], deleted=deleted)
    docs[5] = Doc("absent", None)
    return [docs[:30], docs[30:33], docs[33:]]


def _texts(index: Path, origin: str) -> list[list[str]]:
    """The documents' tokens, as they are found in an index."""
    with open_matrix(index, tokens=True) as matrix:
        found, terms = matrix.sequences, [term.decode() for term in matrix.vocabulary.terms]
        assert found.origin == origin and isinstance(found.terms, np.memmap)
        assert (found.terms.dtype, found.indptr.dtype) == (np.int32, np.int64)
        ends = found.indptr.tolist()
        return [[terms[t] for t in found.terms[a:b]] for a, b in zip(ends, ends[1:])]


def _indexed(segments: list[list[Doc]]) -> list[list[str]]:
    return [list(doc.tokens or ()) for part in segments for doc in part if not doc.deleted]


@pytest.mark.parametrize("deleted", [False, True])
def test_sequences_from_positions_or_stored_text_are_what_was_indexed(
    deleted, make_index, caplog
) -> None:
    """Words the stemmer leaves alone, so that the text analysed is the text indexed."""
    segments = _segments(deleted)
    assert _texts(make_index(segments, "with", **POSITIONS), "positions") == _indexed(segments)
    assert _texts(make_index(segments), "text") == _indexed(segments)
    assert not caplog.records


@pytest.mark.parametrize("tokens", [1, 13])
def test_ranges_of_documents_change_nothing(tokens: int, make_index, tmp_path: Path) -> None:
    """Also where a document has more tokens than a range."""
    index = make_index(_segments(), **POSITIONS)
    for name in ("whole", "cut"):
        (tmp_path / name).mkdir()
    extract_arrays(index, "contents", tmp_path / "whole", threads=1, sequences=True)
    job = java_class("tdvlucene.extract.ExtractJob")(
        java_index(index), "contents", str(tmp_path / "cut"), 1, False, True
    )
    job.rangeSize = tokens
    run_job(job)
    for name in ("tokens.npy", "tokens_indptr.npy"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_another_analyzer_is_told(make_index, caplog) -> None:
    index = make_index([[Doc("d0", ["running", "a", "fox"]), Doc("d1", ["fox"])]])
    assert _texts(index, "text") == [["fox"], ["fox"]], "neither 'run' nor 'a' is known to both"
    assert "stored text of 1 of 2 documents, analysed as English" in caplog.text


@pytest.mark.parametrize("field", ["contents", "body"])
def test_neither_positions_nor_text_is_refused(field, make_index) -> None:
    index = make_index(_segments(False), field=field, raw=field == "body")
    with pytest.raises(TdvError, match=f"neither positions nor stored text of '{field}'"):
        with open_matrix(index, field=field, tokens=True):
            pass
