"""The notebook runs from its first cell to its last, learning a little only."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "scripts" / "pruned_index.ipynb"
SHORT = """
import functools
import tdv_lucene
from tdv_lucene.learning.recipes import DefaultRecipe
recipe = DefaultRecipe(max_steps=2, check_every=1, folds=2, reductions=(0.0, 0.45))
tdv_lucene.learn_from_index = functools.partial(tdv_lucene.learn_from_index, recipe=recipe)
"""
"""To learn as a reader does takes a minute: ``tdv-lucene demo`` does so, in test_demo_run.py."""


@pytest.mark.jvm
@pytest.mark.pyserini
@pytest.mark.slow
def test_every_cell_runs(tmp_path: Path) -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert not any(cell.get("outputs") for cell in cells), "kept without output"
    done = subprocess.run(
        [sys.executable, "-c", "\n".join([SHORT, *code])],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    *_, full, unjudged, learned, tuned = done.stdout.splitlines()
    assert [line.split()[0] for line in (full, unjudged, learned, tuned)] == [
        "full", "unjudged", "learned", "full-tuned"
    ]  # fmt: skip
    assert float(learned.split()[1]) > float(full.split()[1])
