"""Ctrl-C at random moments of a whole command: status 130, nothing left, no crash."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lucene_indexes import write_index
from tiny_collection import tiny_segments

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Arguments of a ``learn`` of some seconds."""
    home = tmp_path_factory.mktemp("case")
    write_index(home / "index", tiny_segments())
    (home / "topics.tsv").write_text("".join(f"{q}\tquick index term {q}\n" for q in range(300)))
    (home / "qrels.txt").write_text("".join(f"{q} 0 d{q % 10} 1\n" for q in range(300)))
    return [
        "learn", "--index", str(home / "index"), "--topics", str(home / "topics.tsv"),
        "--qrels", str(home / "qrels.txt"), "--output", "values", "--no-prior",
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_learn_is_interrupted_at_any_moment(seed: int, case: list[str], tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tdv_lucene", "-v", *case],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    for line in process.stderr:
        if "ExtractJob" in line:  # from here on it is JAX that works
            break
    time.sleep(random.Random(seed).uniform(0, 3))
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 130, stdout + stderr
    assert stderr.endswith("tdv-lucene: interrupted; nothing was written\n")
    assert "Exception ignored" not in stderr and "SIG" not in stdout
    assert os.listdir(tmp_path) == []
