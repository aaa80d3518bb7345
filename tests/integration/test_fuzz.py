"""Differential fuzzing: random indexes and values against NumPy and CheckIndex.

A failing case prints its seed; ``scripts/fuzz --seed SEED --cases 1`` runs it again, and
``scripts/fuzz --cases 10000`` many more.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from fuzz_cases import random_case
from fuzz_check import run_case
from oracle import byte4_to_int, int_to_byte4

pytestmark = pytest.mark.jvm

BLOCKS = 10
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
