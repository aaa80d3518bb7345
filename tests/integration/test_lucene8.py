"""An index of Lucene 8: Lucene 9 reads and prunes it, Lucene 10 refuses it with the remedy."""

from __future__ import annotations

import tarfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from lucene_reading import check_index, leaves, open_reader
from oracle import assert_pruned, int_to_byte4
from pruning_inputs import values_of

from tdv_lucene import Index, TdvError, extract_matrix, inspect_index, prune_index, verify_pruned
from tdv_lucene.jvm import lucene_version, pyserini_jar
from tdv_lucene.searching.search import search_index

pytestmark = pytest.mark.jvm

STORED = Path(__file__).parents[1] / "resources" / "lucene8"
LINE = lucene_version(pyserini_jar())[0]
reads = pytest.mark.skipif(LINE != 9, reason="only Lucene 9 reads indexes of Lucene 8")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    with tarfile.open(STORED / "index.tar.xz") as archive:
        # Python 3.11.2 has no filters yet.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(tmp_path)
    return tmp_path / "index"


def _documents() -> dict[str, list[str]]:
    """Id -> tokens, of the documents that were not deleted."""
    lines = [line for line in (STORED / "documents.txt").read_text().splitlines() if line]
    live = {f"d{i}": line.split() for i, line in enumerate(lines) if not line.startswith("- ")}
    assert len(live) < len(lines)
    return live


@reads
def test_matrix_is_that_of_the_documents(source: Path, tmp_path: Path) -> None:
    found = inspect_index(source)
    assert found["lucene_version"] == "8.11.0"
    assert [segment["codec"] for segment in found["segments"]] == ["Lucene87"] * 3
    matrix = extract_matrix(source, tmp_path / "matrix")
    documents = _documents()
    assert [doc_id.decode() for doc_id in matrix.doc_ids] == list(documents)
    lengths = [len(tokens) for tokens in documents.values()]
    assert matrix.doc_len.tolist() == lengths and max(lengths) > 40
    assert matrix.norms.tolist() == [int_to_byte4(length) for length in lengths]
    expected = Counter(
        (token.encode(), number)
        for number, tokens in enumerate(documents.values())
        for token in tokens
    )
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    postings = zip(rows.tolist(), matrix.indices.tolist(), matrix.data.tolist())
    assert {(matrix.vocabulary.terms[t], doc): tf for t, doc, tf in postings} == expected
    by_term = Counter(term for term, _ in expected)
    assert matrix.doc_freq.tolist() == [by_term[term] for term in matrix.vocabulary.terms]


@reads
@pytest.mark.parametrize("tf", ["scaled", "original"])
def test_index_is_pruned_verified_and_searched(tf: str, source: Path, tmp_path: Path) -> None:
    matrix = extract_matrix(source, tmp_path / "matrix")
    values = values_of(matrix)
    pruned = tmp_path / "pruned"
    report = prune_index(source, values, pruned, reduction=0.3, tf=tf)
    assert 0 < report["postings"] < matrix.postings
    assert report["defaults"].startswith("Anserini's")
    # Its ids' sorted doc values are those of Anserini on Lucene 8 only: the record says it.
    with Index.open(pruned) as made:
        assert made.searcher.name == "anserini"
    check_index(pruned)
    point = values.at_reduction(0.3)
    scale = point.scale if tf == "scaled" else None
    assert_pruned(matrix, pruned, point, scale, tmp_path / "found")
    assert _stored(pruned) == _stored(source)
    assert verify_pruned(source, pruned)["equal"]
    search_index(pruned, {"1": "boat harbour", "2": "salt"}, tmp_path / "run")
    assert {line.split()[0] for line in (tmp_path / "run").read_text().splitlines()} == {"1", "2"}


def _stored(index: Path) -> list[str]:
    with open_reader(index) as reader:
        return [
            leaf.storedFields().document(doc).toString()
            for leaf, numbers in leaves(reader)
            for doc in numbers
        ]


@pytest.mark.skipif(LINE < 10, reason="Lucene 9 reads it")
def test_too_old_an_index_is_refused_with_the_remedy(source: Path, tmp_path: Path) -> None:
    for stage in (inspect_index, lambda index: extract_matrix(index, tmp_path / "matrix")):
        with pytest.raises(TdvError, match="Lucene 8.*Pyserini 1.6"):
            stage(source)
