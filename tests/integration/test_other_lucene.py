"""The Java side on the Lucene line that is not installed, and indexes that cross the lines.

Two Pyserinis cannot be installed together, but only the jar of the second is needed here:
``java_hooks/lucene_jar.py`` fetches it beforehand, and ``ANSERINI_CLASSPATH`` names it to processes
of their own. What goes through Pyserini's own Python (marker ``pyserini``) stays with the
installed one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tdv_lucene.jvm import lucene_version, pyserini_jar
from tdv_lucene.jvm._start import LINES

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
MODULES = (
    "integration/test_damage.py",
    "integration/test_drop_in.py",
    "integration/test_extract.py",
    "integration/test_fuzz.py",
    "integration/test_impact.py",
    "integration/test_inspect.py",
    "integration/test_formats.py",
    "integration/test_lucene_programs.py",
    "integration/test_norm_reading.py",
    "integration/test_predicted_sizes.py",
    "integration/test_prune.py",
    "integration/test_search.py",
    "integration/test_verify.py",
    "parity/test_ranking_functions.py",
)
"""In one process: to start one takes longer than most modules. Not here are those of Java jobs, of
crashes, of workers and of timing, which another Lucene does not change."""
LEFT_OUT = {
    "integration/test_fuzz.py": [f"test_random_cases[{block}]" for block in range(2, 6)],
    "integration/test_impact.py": [
        "test_a_comparison_asks_every_index_for_the_same_terms",
        "test_a_query_log_chooses_how_much_of_an_impact_index_is_dropped",
    ],
    "integration/test_search.py": ["test_in_a_pipe"],
}  # fmt: skip
"""Tests of processes and learning, of nothing that another Lucene changes; and more random cases,
where some are tried here."""


@pytest.fixture(scope="module")
def jars() -> dict[int, Path]:
    """The Anserini jar of each Lucene line."""
    installed = pyserini_jar()
    line = lucene_version(installed)[0]
    (other,) = set(LINES) - {line}
    script = str(ROOT / "java_hooks" / "lucene_jar.py")
    look = [sys.executable, script, "--offline", str(other)]  # tests download nothing
    done = subprocess.run(look, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no jar with Lucene {other}: {done.stderr.strip()}")
    return {line: installed, other: Path(done.stdout.strip())}


def _run(jar: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "ANSERINI_CLASSPATH": str(jar.parent), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        cwd=ROOT,
    )


def _steps(jar: Path, *steps: Sequence[object]) -> list[dict[str, Any]]:
    """What steps give, one after the other in one process: see ``across_lucenes.py``."""
    asked = json.dumps([[str(word) for word in step] for step in steps])
    done = _run(jar, str(TESTS / "across_lucenes.py"), asked)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_java_side_on_the_other_lucene(jars: dict[int, Path]) -> None:
    (other,) = (jar for jar in jars.values() if jar != pyserini_jar())
    left_out = [f"--deselect=tests/{module}::{name}"
                for module, names in LEFT_OUT.items() for name in names]  # fmt: skip
    chosen = ["-m", "jvm and not pyserini", *left_out, *(str(TESTS / name) for name in MODULES)]
    done = _run(other, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen)
    assert done.returncode == 0, done.stdout


def test_what_is_left_out_is_there() -> None:
    for module, names in LEFT_OUT.items():
        text = (TESTS / module).read_text(encoding="utf-8")
        assert all(f"def {name.split('[')[0]}(" in text for name in names), module


@pytest.fixture(scope="module")
def crossed(jars: dict[int, Path], tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """An index written by each line, ``old`` and ``new``, and ``pruned``, the old one pruned by the
    newer; with what these steps gave."""
    folder = tmp_path_factory.mktemp("crossed")
    old, new, pruned = (folder / name for name in ("old", "new", "pruned"))
    (written,) = _steps(jars[9], ("write", old))
    del written["warned"]
    _, pruning = _steps(jars[10], ("write", new), ("prune", old, pruned))
    return SimpleNamespace(old=old, new=new, pruned=pruned, written=written, pruning=pruning)


def test_newer_lucene_writes_its_own_format_and_says_so(crossed: SimpleNamespace) -> None:
    written, found = crossed.written, crossed.pruning
    version = written["lucene_version"]
    assert any(f"Lucene {version}" in line for line in found["warned"])
    assert found["codecs"] == ["Lucene104"]
    assert found["same_rest"]
    assert found["report"]["source"] == written
    assert found["report"]["lucene_version"].startswith("10.")


def test_older_lucene_refuses_a_newer_index_with_the_remedy(jars, crossed, tmp_path) -> None:
    new, pruned = crossed.new, crossed.pruned
    steps = ("identify", new), ("prune", new, tmp_path / "out"), ("identify", pruned)
    for refused in _steps(jars[9], *steps):
        assert "newer Lucene" in refused["refused"] and "2.x for Lucene 10" in refused["refused"]
