"""The order of tokens: rebuilt from positions, or from stored text, against what was indexed."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from lucene_indexes import Doc

from tdv_lucene import TdvError
from tdv_lucene.jvm import java_class, run_job
from tdv_lucene.jvm._jobs import java_index
from tdv_lucene.jvm.index import extract_arrays
from tdv_lucene.matrix.extract import open_matrix

pytestmark = pytest.mark.jvm

POSITIONS = {"options": "DOCS_AND_FREQS_AND_POSITIONS"}


def _segments(deleted: bool) -> list[list[Doc]]:
    rng = random.Random(3)
    words = [f"w{i}" for i in range(12)]
    docs = [
        Doc(f"d{i}", rng.choices(words, k=rng.randint(0, 9)), deleted=deleted and i % 4 == 1)
        for i in range(40)
    ]
    docs[1] = Doc("gone", ["lone0", "here0"], deleted=deleted)
    docs[5] = Doc("absent", None)
    return [docs[:17], docs[17:20], docs[20:]]


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
def test_sequences_from_positions_are_the_texts(deleted, make_index) -> None:
    segments = _segments(deleted)
    assert _texts(make_index(segments, **POSITIONS), "positions") == _indexed(segments)


@pytest.mark.parametrize("tokens", [1, 13])
def test_ranges_of_documents_change_nothing(tokens: int, make_index, tmp_path: Path) -> None:
    """Also where a document has more tokens than a range."""
    index = make_index(_segments(deleted=True), **POSITIONS)
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


@pytest.mark.parametrize("deleted", [False, True])
def test_sequences_from_stored_text(deleted, make_index, caplog) -> None:
    """Words the stemmer leaves alone, so that the text analysed is the text indexed."""
    segments = _segments(deleted)
    assert _texts(make_index(segments), "text") == _indexed(segments)
    assert not caplog.records


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
