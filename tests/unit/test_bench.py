"""The benchmarks' scripts start, and what they share writes what readers of runs find."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).parents[2] / "scripts" / "bench"
SCRIPTS = ["encodings.py", "full_against_pruned.py", "rewriting.py", "table.py"]


@pytest.fixture(scope="module")
def results() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_results", BENCH / "results.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_tell_their_flags(script: str) -> None:
    done = subprocess.run(
        [sys.executable, BENCH / script, "--help"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "--work" in done.stdout and "--output" in done.stdout


def test_every_executable_script_is_tried() -> None:
    executable = {path.name for path in BENCH.glob("*.py") if path.stat().st_mode & 0o100}
    assert executable == set(SCRIPTS)


def test_short_rows_of_a_table_are_filled_up(results: ModuleType) -> None:
    found = results.markdown_table(("a", "", "c"), [["1"], ["1", "", "3"]])
    assert found == "| a | | c |\n| --- | --- | --- |\n| 1 | | |\n| 1 | | 3 |"


def test_a_run_replaces_its_two_files_alone(results: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "today"
    results.write_run(folder, "first", {"rows": [0]}, ("README.md", "raw.json"))
    (folder / "notes.md").write_text("kept", encoding="utf-8")
    results.write_run(folder, "second", {"rows": [1]}, ("README.md", "raw.json"))
    assert (folder / "README.md").read_text(encoding="utf-8") == "second"
    assert json.loads((folder / "raw.json").read_text(encoding="utf-8")) == {"rows": [1]}
    assert (folder / "notes.md").read_text(encoding="utf-8") == "kept"
