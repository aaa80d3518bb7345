"""The rewriter against a NumPy oracle, posting by posting, on indexes of every kind."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from lucene_indexes import Doc, Layout, without_raw_bytes, write_index
from lucene_reading import check_index, count_years, read_positions, read_rest, read_vectors
from oracle import ANSERINI, Baked, assert_pruned, expected_frequencies
from pruning_inputs import field_plan, index_bytes

from tdv_lucene.indexes.inspection import inspect_index
from tdv_lucene.jvm import rewriter
from tdv_lucene.matrix.extract import extract_matrix
from tdv_lucene.ranking import Baking
from tdv_lucene.ranking.saturation import LengthNorm, PostingCut
from tdv_lucene.searching.search import search_index

pytestmark = pytest.mark.jvm

CASES = 30
YEARS = range(1900, 1930)  # of the documents with points
WORDS = [
    "a", "b", "the", "of", "index", "prune", "weight", "é", "\u00ff", "漢字", "\U0001f600",
    b"\x00", b"\x00\x01", b"\xff", b"\xff\xfe\x80", b"x" * 300, "tail",
]  # fmt: skip


def _rewrite(source: Path, output: Path, matrix, tdv, scale, cut=None, baked=None):
    output.mkdir()
    norms = None if baked is None else Baking(*baked)
    plan = field_plan(matrix.vocabulary, tdv, scale, cut=cut, norms=norms)
    return rewriter.rewrite_index(source, output, [plan], threads=2, user_data={})


def _random_layout(rng: random.Random) -> Layout:
    options = "DOCS_AND_FREQS" + rng.choice(["", "_AND_POSITIONS", "_AND_POSITIONS_AND_OFFSETS"])
    return Layout(
        options=options,
        vectors=rng.choice(["", "", "v", "vp", "vpo"]),
        norms=rng.choice(["default", "default", "accurate", "none"]),
        raw=rng.random() < 0.7,
        extras=rng.random() < 0.4,
        title=rng.choice(["DOCS", "DOCS_AND_FREQS", "DOCS_AND_FREQS_AND_POSITIONS"]),
        title_vectors=rng.choice(["", "vp"]),
        compound=rng.random() < 0.3,
        sort="rank" if rng.random() < 0.2 else "",
        soft_deletes="gone" if rng.random() < 0.2 else "",
        id_doc_values=rng.random() < 0.8,
    )


def _random_segments(rng: random.Random) -> list[list[Doc]]:
    weights = [1 / (i + 1) for i in range(len(WORDS))]
    segments, number = [], 0
    for _ in range(rng.randint(1, 4)):
        segment = []
        for _ in range(rng.randint(1, 7)):
            length = rng.choice([0, 1, 3, 8, 60])
            tokens = None if rng.random() < 0.1 else rng.choices(WORDS, weights, k=length)
            title = rng.choices(["t", "u", "the"], k=rng.randint(0, 4))
            segment.append(Doc(f"doc-{number}", tokens, title, deleted=rng.random() < 0.25))
            number += 1
        segment[0] = Doc(f"keep-{number}", ["a", "tail"], ["t"])  # no segment is deleted whole
        segments.append(segment)
    return segments


def _random_values(rng: random.Random, terms: int) -> np.ndarray:
    """Zeros, tiny values, and halves, where rounding to even shows."""
    choices = [0.0, 0.0, 0.01, 0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.5, rng.uniform(0, 3)]
    return np.array([rng.choice(choices) for _ in range(terms)], np.float32)


def _random_cut(rng: random.Random, terms: int) -> PostingCut | None:
    """Least saturations about those of short documents and small frequencies."""
    if rng.random() < 0.5:
        return None
    least = [rng.choice([0.0, 0.3, 0.5, 0.6, 0.8, rng.random()]) for _ in range(terms)]
    return PostingCut(
        np.array(least, np.float32), LengthNorm.of(0.9, rng.choice([0.0, 0.4, 1.0]), 20.0)
    )


def _random_baked(rng: random.Random) -> Baked | None:
    """Parameters to hold, and a searcher's; also some that no norm can hold."""
    if rng.random() < 0.3:
        return None
    held = rng.choice([0.01, 0.9, 3.6, 20.0]), rng.choice([0.0, 0.2, 0.75, 1.0])
    return held, rng.choice([ANSERINI, (1.2, 0.75), (0.5, 1.0), (5.0, 0.01)])


@pytest.mark.parametrize("seed", range(CASES))
def test_random_index_equals_oracle(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    layout = _random_layout(rng)
    segments = _random_segments(rng)
    if layout.offsets:
        segments = without_raw_bytes(segments)
    source = write_index(tmp_path / "source", segments, layout)
    matrix = extract_matrix(source, tmp_path / "matrix")
    tdv = _random_values(rng, len(matrix.vocabulary))
    scale = rng.choice([None, 1.0, 2.0, 4.0, 0.5, 3.7])
    pruned = tmp_path / "pruned"
    cut = _random_cut(rng, len(matrix.vocabulary))
    kind = layout.norms
    baked = None if kind == "none" else _random_baked(rng)
    if baked is not None:  # where all lengths are short, nothing tells exact ones
        (kind,) = (f["norms"] for f in inspect_index(source)["fields"] if f["name"] == "contents")
    counts = _rewrite(source, pruned, matrix, tdv, scale, cut, baked)

    found = assert_pruned(matrix, pruned, tdv, scale, tmp_path / "found", kind, cut, baked)
    assert counts["postings_before"] == matrix.postings
    assert (counts["postings"], counts["terms"]) == (found.postings, len(found.vocabulary))
    assert counts["tokens"] == int(found.doc_len.sum())
    assert counts["documents_without_terms"] == np.count_nonzero(np.asarray(found.doc_len) == 0)
    check_index(pruned)
    assert _compound(pruned) == _compound(source) == [layout.compound] * len(segments)
    assert read_rest(pruned) == read_rest(source)
    assert count_years(pruned, YEARS) == count_years(source, YEARS)
    _assert_title_kept(source, pruned, layout, tmp_path)
    _assert_positions(source, pruned, found, scale)
    _assert_vectors(source, pruned, found, layout, scale)


def _compound(index: Path) -> list[bool]:
    return [segment["compound"] for segment in inspect_index(index)["segments"]]


def _assert_title_kept(source: Path, pruned: Path, layout: Layout, tmp_path: Path) -> None:
    assert read_positions(pruned, "title") == read_positions(source, "title")
    assert read_vectors(pruned, "title") == read_vectors(source, "title")
    if layout.title != "DOCS":
        before = extract_matrix(source, tmp_path / "title-before", field="title")
        after = extract_matrix(pruned, tmp_path / "title-after", field="title")
        np.testing.assert_array_equal(after.norms, before.norms)
        np.testing.assert_array_equal(after.data, before.data)


def _assert_positions(source: Path, pruned: Path, found, scale: float | None) -> None:
    """Kept with original frequencies; given up with scaled ones."""
    before, after = read_positions(source, "contents"), read_positions(pruned, "contents")
    postings = {
        (found.vocabulary.terms[term], int(doc))
        for term in range(len(found.vocabulary))
        for doc in found.indices[found.indptr[term] : found.indptr[term + 1]]
    }
    expected = {key: before[key] if scale is None else [] for key in postings}
    assert after == expected


def _assert_vectors(source: Path, pruned: Path, found, layout: Layout, scale) -> None:
    """The terms and frequencies of the pruned postings, with what the old vector said of them."""
    after = read_vectors(pruned, "contents")
    if not layout.vectors:
        assert after == {}
        return
    before = read_vectors(source, "contents")
    expected: dict[int, dict[bytes, tuple]] = {}
    for term in range(len(found.vocabulary)):
        text = found.vocabulary.terms[term]
        for place in range(found.indptr[term], found.indptr[term + 1]):
            doc = int(found.indices[place])
            occurrences = before[doc][text][1:] if scale is None else ()
            expected.setdefault(doc, {})[text] = (int(found.data[place]), *occurrences)
    assert after == expected


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
    _assert_vectors(source, tmp_path / "pruned", found, Layout(vectors="v"), scale)


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
    _assert_vectors(source, tmp_path / "pruned", found, Layout(vectors="v"), scale)


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
