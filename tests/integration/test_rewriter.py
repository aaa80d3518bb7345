"""The rewriter against the NumPy oracle on indexes that random ones (test_fuzz.py) seldom are."""

from __future__ import annotations

import random

import numpy as np
import pytest
from fuzz_cases import case_of
from fuzz_check import check_case
from lucene_indexes import Doc
from pruning_inputs import field_plan, index_bytes
from tiny_collection import tiny_segments

from tdv_lucene import extract_matrix, search_index
from tdv_lucene.jvm import rewriter

pytestmark = pytest.mark.jvm


def _documents(count: int, words: int, longest: int, deleted: bool = True) -> list[Doc]:
    rng = random.Random(1)
    vocabulary = [f"w{i}" for i in range(words)]
    return [
        Doc(
            f"d{i}",
            rng.choices(vocabulary, k=rng.randint(0, longest)),
            deleted=deleted and i % 11 == 3,
        )
        for i in range(count)
    ]


LONGEST = [b"\x00" * 32_766, b"\xff" * 32_766, b"\x00" * 32_765 + b"\x01"]
NO_TEXT = ["x", b"", b"\xff", b"\xfe\x00", b"\x00"]
LENGTHS = [1, 39, 40, 41, 47, 48, 55, 56, 87, 88, 1000, 123_456]
MANY = _documents(300, 30, 9)
CASES = {
    "everything dropped": (tiny_segments(), np.zeros, ""),
    "no term": ([[Doc("a", []), Doc("b", None)]], np.zeros, ""),
    "longest terms": (
        [[Doc("a", LONGEST), Doc("b", [LONGEST[1], "short"])]], lambda n: [2, 0, 1, 1], "v"
    ),
    # The empty term and the byte ff had one hash under every multiplier: it looked for ever.
    "vectors of no text": (
        [[Doc("a", NO_TEXT), Doc("b", NO_TEXT[1:3])]], lambda n: [1, 2, 0, 1, 1], "v"
    ),
    # More than one block of those read ahead, some deleted, some without a vector.
    "vectors of many documents": (
        [MANY[:290], MANY[290:]], lambda n: np.resize([0, 0.2, 1], n), "v"
    ),
    # Enough for every thread to have a range of its own in the first pass.
    "many terms": ([_documents(60, 1500, 90)], lambda n: np.resize([0, 0.3, 1, 2], n), ""),
    "lengths near the steps of norms": (
        [[Doc(f"d{n}", [f"t{n:06d}"]) for n in LENGTHS]], lambda n: LENGTHS, ""
    ),
}  # fmt: skip


@pytest.mark.parametrize("scale", [2.0, None])
@pytest.mark.parametrize("name", CASES)
def test_every_posting_is_what_the_oracle_says(name: str, scale: float | None, tmp_path) -> None:
    segments, tdv, vectors = CASES[name]
    kind = "original" if scale is None else "scaled"
    assert check_case(case_of(segments, tdv, scale, vectors), tmp_path) == kind


@pytest.mark.parametrize("model", ["bm25", "qld"])
def test_an_unchanged_index_has_the_same_bytes_and_run(model: str, make_index, tmp_path) -> None:
    docs = _documents(200, 60, 90, deleted=False)
    source, pruned = make_index([docs[:120], docs[120:150], docs[150:]]), tmp_path / "pruned"
    matrix = extract_matrix(source, tmp_path / "matrix")
    pruned.mkdir()
    ones = field_plan(matrix.vocabulary, 1, 1.0)
    counts = rewriter.rewrite_index(source, pruned, [ones], threads=2, user_data={})
    assert counts["segments"] == 3 and counts["postings"] == matrix.postings
    (before, after), same = map(index_bytes, (source, pruned)), ("postings", "norms", "doc_values")
    assert {kind: after[kind] for kind in same} == {kind: before[kind] for kind in same}
    topics = {str(i): f"w{i} w{2 * i} w{59 - i}" for i in range(30)}
    runs = [tmp_path / "source.run", tmp_path / "pruned.run"]
    for index, run in zip((source, pruned), runs):
        search_index(index, topics, run, model=model)
    assert runs[0].read_bytes() == runs[1].read_bytes()
    assert len(runs[0].read_text().splitlines()) > 30 * 50
