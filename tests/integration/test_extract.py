"""Extraction against the tokens the documents were made of: counts, and their order, rebuilt from
positions; and a Common Index File Format file against what Lucene itself says."""

from __future__ import annotations

import io
import random
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from ciff_reading import read_ciff
from command_line import json_of, write_judged
from hypothesis import given, settings
from hypothesis import strategies as st
from lucene_indexes import Doc
from tiny_collection import TINY_TEXTS

from tdv_lucene import TdvError, embed_terms, extract_matrix, make_peer_values, prune_index
from tdv_lucene.jvm import java_class, run_job
from tdv_lucene.jvm._jobs import java_index
from tdv_lucene.jvm.index import extract_arrays
from tdv_lucene.learning.from_index import learn_from_index
from tdv_lucene.matrix import ciff
from tdv_lucene.matrix.ciff import export_ciff, write_ciff
from tdv_lucene.matrix.extract import open_matrix
from tdv_lucene.matrix.term_document_matrix import load_matrix
from tdv_lucene.vocabulary import ByteStrings, Vocabulary

pytestmark = pytest.mark.jvm


@pytest.mark.parametrize("piece", [1, 7, 100])
def test_bytes_depend_on_neither_threads_nor_pieces(piece: int, make_index, tmp_path: Path) -> None:
    """Also where lists are longer than a piece, across segments and deletions."""
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


def _texts(index: Path) -> list[list[str]]:
    """The documents' tokens, as they are found in an index."""
    with open_matrix(index, tokens=True) as matrix:
        found, terms = matrix.sequences, [term.decode() for term in matrix.vocabulary.terms]
        assert isinstance(found.terms, np.memmap)
        assert (found.terms.dtype, found.indptr.dtype) == (np.int32, np.int64)
        ends = found.indptr.tolist()
        return [[terms[t] for t in found.terms[a:b]] for a, b in zip(ends, ends[1:])]


def _indexed(segments: list[list[Doc]]) -> list[list[str]]:
    return [list(doc.tokens or ()) for part in segments for doc in part if not doc.deleted]


@pytest.mark.parametrize("deleted", [False, True])
def test_sequences_are_what_was_indexed(deleted, make_index) -> None:
    segments = _segments(deleted)
    assert _texts(make_index(segments, "with", **POSITIONS)) == _indexed(segments)


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


def test_sequences_without_positions_are_refused(make_index) -> None:
    with pytest.raises(TdvError, match="knows no positions of 'contents'"):
        with open_matrix(make_index(_segments(False)), tokens=True):
            pass


def postings_of(lists, documents):
    """Term -> external id -> frequency."""
    found = {}
    for one in lists:
        numbers = np.cumsum([posting.docid for posting in one.postings])
        found[one.term] = {
            documents[number].collection_docid: posting.tf
            for number, posting in zip(numbers, one.postings)
        }
        assert (one.df, one.cf) == (len(one.postings), sum(found[one.term].values()))
    return found


def expected(docs):
    found = {}
    for doc in docs:
        for term, tf in Counter(doc.tokens).items():
            found.setdefault(term, {})[doc.id] = tf
    return found


def test_a_full_index(tiny_index, tmp_path):
    told = export_ciff(tiny_index, tmp_path / "tiny.ciff")
    header, lists, documents = read_ciff(tmp_path / "tiny.ciff")
    docs = [Doc(f"d{i}", text.split()) for i, text in enumerate(TINY_TEXTS)]
    assert postings_of(lists, documents) == expected(docs)
    assert [message.term for message in lists] == sorted(expected(docs), key=str.encode)
    assert [
        (message.docid, message.collection_docid, message.doclength) for message in documents
    ] == [(number, doc.id, len(doc.tokens)) for number, doc in enumerate(docs)]
    tokens = sum(len(doc.tokens) for doc in docs)
    assert (header.version, header.total_postings_lists, header.total_docs) == (1, len(lists), 10)
    assert (header.total_terms_in_collection, header.average_doclength) == (tokens, tokens / 10)
    assert header.description == told["description"]
    assert told["bytes"] == (tmp_path / "tiny.ciff").stat().st_size
    assert (told["terms"], told["documents"], told["tokens"]) == (len(lists), 10, tokens)


def test_a_pruned_index_has_its_quantised_frequencies(tiny_index, tmp_path):
    make_peer_values(tiny_index, tmp_path / "values", "ridf")
    prune_index(tiny_index, tmp_path / "values", tmp_path / "pruned", reduction=0.3, scale=3.0)
    told = json_of("export", "--index", tmp_path / "pruned", "--output", tmp_path / "p.ciff")
    header, lists, documents = read_ciff(tmp_path / "p.ciff")
    matrix = extract_matrix(tmp_path / "pruned", tmp_path / "matrix")
    assert [message.term.encode() for message in lists] == list(matrix.vocabulary.terms)
    frequencies = [posting.tf for message in lists for posting in message.postings]
    assert frequencies == matrix.data.tolist()
    assert [message.doclength for message in documents] == matrix.doc_len.tolist()
    assert told["postings"] == len(frequencies) < extract_matrix(
        tiny_index, tmp_path / "full").postings  # fmt: skip
    assert "rank by bm25, k1 " in header.description and told["format"] == "ciff"


def test_terms_that_are_no_text_are_refused(make_index, tmp_path):
    """Of outputs that are taken: see test_outputs.py."""
    index = make_index([[Doc("a", [b"\xff\xfe"])]])
    with pytest.raises(TdvError, match="UTF-8"):
        export_ciff(index, tmp_path / "x.ciff")
    assert not [*tmp_path.glob("x.ciff*")]


@settings(deadline=None, max_examples=50)
@given(st.data())
def test_numbers_of_every_size(data):
    """Gaps and frequencies up to 31 bits, in blocks of a few postings."""
    numbers = st.one_of(st.integers(0, 300), st.integers(0, 2**31 - 1))
    rows = data.draw(st.lists(st.lists(numbers, min_size=1, max_size=5, unique=True), max_size=6))
    documents = [number for row in rows for number in sorted(row)]
    tf = [data.draw(st.integers(1, 2**31 - 1)) for _ in documents]
    indptr = np.cumsum([0, *map(len, rows)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ciff, "_POSTINGS_AT_ONCE", 3)
        matrix = SimpleNamespace(
            vocabulary=Vocabulary("f", ByteStrings.of(b"t%d" % i for i in range(len(rows)))),
            doc_ids=ByteStrings.of([]), indptr=indptr, indices=np.array(documents, np.int64),
            data=np.array(tf, np.int64), doc_freq=np.diff(indptr),
            total_term_freq=np.array([sum(tf[a:b]) for a, b in zip(indptr, indptr[1:])], np.int64),
            doc_len=np.zeros(0, np.int64), shape=(len(rows), 0),
            postings=len(documents),
        )  # fmt: skip
        written = io.BytesIO()
        write_ciff(matrix, written, "")
    path = SimpleNamespace(read_bytes=written.getvalue)
    _, lists, _ = read_ciff(path)
    found = [
        np.cumsum([p.docid for p in message.postings], dtype=np.int64).tolist() for message in lists
    ]
    assert found == [sorted(row) for row in rows]
    assert [p.tf for message in lists for p in message.postings] == tf
