"""Random command lines; ``scripts/fuzz-cli --cases 2000`` runs many more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cli_fuzz import Fuzz

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

CASES = 60
BLOCKS = 4


@pytest.fixture(scope="module")
def fuzz(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzz]:
    made = Fuzz(tmp_path_factory.mktemp("fuzz"))
    yield made
    made.stop()


@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_command_lines(block: int, fuzz: Fuzz) -> None:
    size = CASES // BLOCKS
    wrong = [fuzz.run(seed) for seed in range(block * size, (block + 1) * size)]
    assert not any(wrong), "\n".join(filter(None, wrong))


def test_some_went_well_and_some_were_refused(fuzz: Fuzz) -> None:
    ended = [outcome.split()[1] for outcome in fuzz.outcomes.elements()]
    assert len(ended) == CASES
    assert fuzz.outcomes["prune 0"] > 0
    assert ended.count("0") >= CASES / 5 and ended.count("2") >= CASES / 5
