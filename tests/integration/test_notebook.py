"""The notebook runs from its first cell to its last."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "scripts" / "pruned_index.ipynb"


@pytest.mark.jvm
@pytest.mark.pyserini
@pytest.mark.slow
def test_every_cell_runs(tmp_path: Path) -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert not any(cell.get("outputs") for cell in cells), "kept without output"
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(code)], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    *_, full, unjudged, learned, tuned = done.stdout.splitlines()
    assert [line.split()[0] for line in (full, unjudged, learned, tuned)] == [
        "full", "unjudged", "learned", "full-tuned"
    ]  # fmt: skip
    assert float(learned.split()[1]) > float(full.split()[1])
