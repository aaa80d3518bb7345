"""A Common Index File Format file against what Lucene itself says of the index."""

from __future__ import annotations

import io
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from ciff_reading import read_ciff
from command_line import json_of
from hypothesis import given, settings
from hypothesis import strategies as st
from lucene_indexes import Doc
from tiny_collection import TINY_TEXTS

from tdv_lucene import TdvError, extract_matrix, make_peer_values, prune_index
from tdv_lucene.matrix import ciff
from tdv_lucene.matrix.ciff import export_ciff, write_ciff
from tdv_lucene.vocabulary import ByteStrings, Vocabulary

pytestmark = pytest.mark.jvm


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
