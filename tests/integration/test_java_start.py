"""Starting Java: heaps it cannot have, and paths it would not take."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ROOT, run_apart

pytestmark = [pytest.mark.jvm, pytest.mark.slow]


@pytest.mark.parametrize(
    ("heap", "said"),
    [
        ("1k", "Java cannot start with {} (Error occurred during initialization"),
        ("1m", "Java cannot start with {}"),
        ("100000g", "Java cannot start with {}"),
        ("4", "{} is not a size: write a whole number and k, m or g, as in 4g"),
        ("", "{} is not a size"),
    ],
)
def test_heaps_java_cannot_have(heap: str, said: str, tiny_index: Path, tmp_path: Path) -> None:
    arguments = ["extract", "--index", tiny_index, "--output", tmp_path / "matrix"]
    done = run_apart("-m", "tdv_lucene", "--heap", heap, *arguments)
    assert done.returncode == 2 and said.format(f"heap '{heap}'") in done.stderr
    if heap:  # an empty variable is none
        done = run_apart("-m", "tdv_lucene", *arguments, TDV_LUCENE_HEAP=heap)
        assert done.returncode == 2 and said.format(f"TDV_LUCENE_HEAP={heap}") in done.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("kilobytes", [3_000_000, 4_500_000])
def test_a_limit_on_addresses_is_told_before_java_meets_it(
    kilobytes: int, tiny_index: Path
) -> None:
    """Java would end the process with words of its own, or by a crash."""
    command = f'ulimit -v {kilobytes} && exec "$@"'
    words = [sys.executable, "-m", "tdv_lucene", "inspect", "--index", str(tiny_index)]
    done = subprocess.run(
        ["sh", "-c", command, "sh", *words], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert "with 'ulimit -v unlimited', and limit memory by heap 1g or" in done.stderr


def test_a_heap_it_can_have(tiny_index: Path) -> None:
    words = "-m", "tdv_lucene", "--heap", "300m", "inspect", "--index", tiny_index
    assert run_apart(*words).returncode == 0


def test_paths_that_are_not_ascii_under_the_c_locale(tiny_index: Path, tmp_path: Path) -> None:
    place = tmp_path / "Verzeichnis für Ωμέγα"
    place.mkdir()
    shutil.copytree(tiny_index, place / "índice")
    arguments = ["extract", "--index", place / "índice", "--output", place / "matriz ñ"]
    done = run_apart("-m", "tdv_lucene", *arguments, LC_ALL="C")
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(place)) == ["matriz ñ", "índice"]
