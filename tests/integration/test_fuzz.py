"""Differential fuzzing: random indexes and values against NumPy and CheckIndex; and the rewriter
against the same oracle on indexes that random ones seldom are.

A failing case prints its seed; ``scripts/fuzz --seed SEED --cases 1`` runs it again, and
``scripts/fuzz --cases 10000`` many more.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from fuzz_cases import case_of, random_case
from fuzz_check import check_case, run_case
from lucene_indexes import Doc
from oracle import byte4_to_int, int_to_byte4
from pruning_inputs import field_plan, index_bytes
from tiny_collection import tiny_segments

from tdv_lucene import extract_matrix, search_index
from tdv_lucene.jvm import rewriter

pytestmark = pytest.mark.jvm

BLOCKS = 6
CASES = 20  # a block


@pytest.mark.parametrize(
    "block", [0, *(pytest.param(block, marks=pytest.mark.slow) for block in range(1, BLOCKS))]
)
def test_random_cases(block: int, tmp_path: Path) -> None:
    outcomes: Counter = Counter()
    for seed in range(block * CASES, (block + 1) * CASES):
        try:
            outcomes[run_case(seed, tmp_path)] += 1
        except Exception as error:
            error.add_note(f"scripts/fuzz --seed {seed} --cases 1")
            raise
    pruned = sum(count for kind, count in outcomes.items() if kind[0] in "os")  # not refused
    assert pruned > CASES / 2, outcomes


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(100031, id="all documents with payloads deleted"),
        pytest.param(300162, id="one segment of two, all documents of one deleted"),
    ],
)
def test_cases_that_failed_once(seed: int, tmp_path: Path) -> None:
    run_case(seed, tmp_path)


def test_a_seed_is_a_case() -> None:
    assert random_case(7).index == random_case(7).index
    sums = [[plan.sha256 for plan in random_case(7).plans.values()] for _ in range(2)]
    assert sums[0] == sums[1]
    assert random_case(7).index != random_case(8).index


def test_norm_bytes_stand_for_the_smallest_length() -> None:
    bytes_of = [int_to_byte4(length) for length in range(3_000)]
    for length, byte in enumerate(bytes_of):
        assert byte4_to_int(byte) == bytes_of.index(byte) <= length


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
SHAPES = {
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
@pytest.mark.parametrize("name", SHAPES)
def test_every_posting_is_what_the_oracle_says(name: str, scale: float | None, tmp_path) -> None:
    segments, tdv, vectors = SHAPES[name]
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
