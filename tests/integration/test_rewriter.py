"""The rewriter against a NumPy oracle, posting by posting, on indexes of every kind."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from lucene_indexes import Doc, Layout, write_index
from lucene_reading import check_index, count_years, read_positions, read_rest, read_vectors
from oracle import assert_pruned, expected_frequencies
from pruning_inputs import field_plan, index_bytes
from tiny_collection import TINY_TEXTS

from tdv_lucene.index.inspection import inspect_index
from tdv_lucene.jvm import rewriter
from tdv_lucene.matrix.extract import extract_matrix
from tdv_lucene.searching.search import search_index

pytestmark = pytest.mark.jvm

YEARS = range(1900, 1930)  # of the documents with points


def _rewrite(source: Path, output: Path, matrix, tdv, scale):
    output.mkdir()
    plan = field_plan(matrix.vocabulary, tdv, scale)
    return rewriter.rewrite_index(source, output, [plan], threads=2, user_data={})


@pytest.mark.parametrize("scale", [2.0, None])
@pytest.mark.parametrize("sort", ["", "rank"])
def test_what_is_not_pruned_stays(scale, sort: str, make_index, tmp_path: Path) -> None:
    """Random kinds of indexes are in the fuzzing."""
    docs = [Doc(f"d{i}", text.split(), ["t", "u"], i == 3) for i, text in enumerate(TINY_TEXTS)]
    options = "DOCS_AND_FREQS_AND_POSITIONS_AND_OFFSETS"
    layout = Layout(
        options=options, vectors="vpo", extras=True, title_vectors="vp", compound=True, sort=sort
    )
    source = write_index(tmp_path / "source", [docs[:4], docs[4:]], layout)
    matrix, pruned = extract_matrix(source, tmp_path / "matrix"), tmp_path / "pruned"
    _rewrite(source, pruned, matrix, np.resize(np.float32([0, 0.4, 1]), matrix.shape[0]), scale)
    check_index(pruned)
    for found in (read_rest, lambda index: count_years(index, YEARS), _compound):
        assert found(pruned) == found(source)
    for read in (read_positions, read_vectors):
        assert read(pruned, "title") == read(source, "title")


def _compound(index: Path) -> list[bool]:
    return [segment["compound"] for segment in inspect_index(index)["segments"]]


def _assert_vectors(source: Path, pruned: Path, found, scale) -> None:
    """The terms and frequencies of the pruned postings, with what the old vector said of them."""
    before = read_vectors(source, "contents")
    expected: dict[int, dict[bytes, tuple]] = {}
    for term, text in enumerate(found.vocabulary.terms):
        for place in range(found.indptr[term], found.indptr[term + 1]):
            doc = int(found.indices[place])
            occurrences = before[doc][text][1:] if scale is None else ()
            expected.setdefault(doc, {})[text] = (int(found.data[place]), *occurrences)
    assert read_vectors(pruned, "contents") == expected


def test_all_ones_at_scale_one_change_nothing(tiny_index: Path, tmp_path: Path) -> None:
    matrix = extract_matrix(tiny_index, tmp_path / "matrix")
    pruned = tmp_path / "pruned"
    counts = _rewrite(tiny_index, pruned, matrix, np.ones(matrix.shape[0], np.float32), 1.0)

    assert counts["segments"] == 3
    assert counts["postings"] == counts["postings_before"] == matrix.postings
    same = ("postings", "dictionary", "norms", "stored", "doc_values")
    before, after = index_bytes(tiny_index), index_bytes(pruned)
    assert {kind: after[kind] for kind in same} == {kind: before[kind] for kind in same}
    check_index(pruned)
    found = extract_matrix(pruned, tmp_path / "found")
    assert found.vocabulary.sha256 == matrix.vocabulary.sha256
    for name in ("indptr", "indices", "data", "norms", "doc_len", "total_term_freq"):
        np.testing.assert_array_equal(getattr(found, name), getattr(matrix, name))


def test_everything_dropped_leaves_an_index(tiny_index: Path, tmp_path: Path) -> None:
    matrix = extract_matrix(tiny_index, tmp_path / "matrix")
    pruned = tmp_path / "pruned"
    counts = _rewrite(tiny_index, pruned, matrix, np.zeros(matrix.shape[0], np.float32), 1.0)
    assert (counts["postings"], counts["documents_without_terms"]) == (0, matrix.shape[1])
    check_index(pruned)
    assert read_rest(pruned) == read_rest(tiny_index)


def test_field_without_any_term(make_index, tmp_path: Path) -> None:
    source = make_index([[Doc("a", []), Doc("b", None)]])
    matrix = extract_matrix(source, tmp_path / "matrix")
    assert matrix.shape == (0, 2)
    pruned = tmp_path / "pruned"
    _rewrite(source, pruned, matrix, np.zeros(0, np.float32), 2.0)
    check_index(pruned)
    assert read_rest(pruned) == read_rest(source)


def test_longest_terms_lucene_takes(make_index, tmp_path: Path) -> None:
    longest = [b"\x00" * 32_766, b"\xff" * 32_766, b"\x00" * 32_765 + b"\x01"]
    source = make_index([[Doc("a", longest), Doc("b", [longest[1], "short"])]], vectors="v")
    matrix = extract_matrix(source, tmp_path / "matrix")
    tdv = np.array([2, 0, 1, 1], np.float32)
    _rewrite(source, tmp_path / "pruned", matrix, tdv, 1.0)
    assert_pruned(matrix, tmp_path / "pruned", tdv, 1.0, tmp_path / "found")
    check_index(tmp_path / "pruned")


@pytest.mark.parametrize("scale", [2.0, None])
def test_vectors_with_terms_that_are_no_text(scale, make_index, tmp_path: Path) -> None:
    """The empty term and the byte ff had one hash under every multiplier: it looked for ever."""
    tokens = ["x", b"", b"\xff", b"\xfe\x00", b"\x00"]
    source = make_index([[Doc("a", tokens), Doc("b", tokens[1:3])]], vectors="v", title_vectors="v")
    matrix = extract_matrix(source, tmp_path / "matrix")
    tdv = np.array([1, 2, 0, 1, 1], np.float32)
    _rewrite(source, tmp_path / "pruned", matrix, tdv, scale)
    found = assert_pruned(matrix, tmp_path / "pruned", tdv, scale, tmp_path / "found")
    check_index(tmp_path / "pruned")
    _assert_vectors(source, tmp_path / "pruned", found, scale)


def test_many_terms_are_split_among_threads(make_index, tmp_path: Path) -> None:
    """Enough terms for every thread to have a range of its own in the first pass."""
    docs = [Doc(f"d{i}", [f"t{(i * 37 + j * j) % 1500:04d}" for j in range(60)]) for i in range(60)]
    source = make_index([docs[:40], docs[40:]])
    matrix = extract_matrix(source, tmp_path / "matrix")
    assert len(matrix.vocabulary) > 16 * 64
    tdv = np.random.default_rng(0).choice(np.float32([0, 0.3, 1, 2]), len(matrix.vocabulary))
    _rewrite(source, tmp_path / "pruned", matrix, tdv, 2.0)
    assert_pruned(matrix, tmp_path / "pruned", tdv, 2.0, tmp_path / "found")


@pytest.mark.parametrize("scale", [2.0, None])
def test_vectors_of_many_documents(scale, make_index, tmp_path: Path) -> None:
    """More than one block of those read ahead, some documents deleted, some without a vector."""
    rng = random.Random(1)
    words = [f"w{i}" for i in range(30)]
    docs = [
        Doc(f"d{i}", rng.choices(words, k=rng.randint(0, 9)), deleted=i % 11 == 3)
        for i in range(300)
    ]
    source = make_index([docs[:290], docs[290:]], vectors="v")
    matrix = extract_matrix(source, tmp_path / "matrix")
    tdv = np.array([rng.choice([0, 0.2, 1]) for _ in range(matrix.shape[0])], np.float32)
    _rewrite(source, tmp_path / "pruned", matrix, tdv, scale)
    found = assert_pruned(matrix, tmp_path / "pruned", tdv, scale, tmp_path / "found")
    check_index(tmp_path / "pruned")
    _assert_vectors(source, tmp_path / "pruned", found, scale)


def test_lengths_near_the_norm_steps(make_index, tmp_path: Path) -> None:
    """Lengths around the steps of the one-byte norm, reached by scaling."""
    lengths = [1, 39, 40, 41, 47, 48, 55, 56, 87, 88, 1000, 123_456]
    source = make_index([[Doc(f"d{n}", [f"t{n:06d}"]) for n in lengths]])
    matrix = extract_matrix(source, tmp_path / "matrix")
    tdv = np.array(lengths, np.float32)
    _rewrite(source, tmp_path / "pruned", matrix, tdv, 1.0)
    found = assert_pruned(matrix, tmp_path / "pruned", tdv, 1.0, tmp_path / "found")
    assert found.doc_len.tolist() == lengths


def test_expected_frequencies_round_half_to_even() -> None:
    class Matrix:
        indptr = np.array([0, 4])
        data = np.array([1, 3, 5, 7])

    found = expected_frequencies(Matrix, np.float32([0.5]), 1.0)
    assert found.tolist() == [1, 2, 2, 4], "0.5 is 0 by this rule, but what stays is 1 at least"


@pytest.mark.parametrize("model", ["bm25", "qld"])
def test_unchanged_rewrite_gives_the_same_run(model: str, make_index, tmp_path: Path) -> None:
    rng = random.Random(3)
    words = [f"w{i}" for i in range(60)]
    weights = [1 / (i + 1) for i in range(60)]
    docs = [Doc(f"d{i}", rng.choices(words, weights, k=rng.randint(1, 90))) for i in range(200)]
    source = make_index([docs[:120], docs[120:150], docs[150:]])
    matrix = extract_matrix(source, tmp_path / "matrix")
    _rewrite(source, tmp_path / "pruned", matrix, np.ones(matrix.shape[0], np.float32), 1.0)
    topics = {str(i): " ".join(rng.choices(words, k=4)) for i in range(30)}
    runs = [tmp_path / "source.run", tmp_path / "pruned.run"]
    for index, run in zip((source, tmp_path / "pruned"), runs):
        search_index(index, topics, run, model=model)
    assert runs[0].read_bytes() == runs[1].read_bytes()
    assert len(runs[0].read_text().splitlines()) > 30 * 50
