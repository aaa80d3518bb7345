"""The notebook runs from its first cell to its last, with few articles and queries, learning a
little only."""

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
from tdv_lucene.demo import collection

whole = collection.unpack_wikipedia
def some(output):
    files = whole(output)
    asked, relevant = set(), set()
    for part in (files.train, files.test):
        lines = part.topics.read_text(encoding="utf-8").splitlines(keepends=True)[::4]
        part.topics.write_text("".join(lines), encoding="utf-8")
        asked |= {line.split("\t")[0] for line in lines}
        judged = map(str.split, part.qrels.read_text().splitlines())
        relevant |= {doc for query, _, doc, grade in judged if query in asked}
    documents = files.documents / "documents.jsonl"
    lines = documents.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for number, line in enumerate(lines)
            if number % 5 == 0 or collection.json.loads(line)["id"] in relevant]
    documents.write_text("".join(kept), encoding="utf-8")
    return files
collection.unpack_wikipedia = some

from tdv_lucene.learning.config import Recipe
recipe = Recipe(max_steps=2, check_every=1, folds=2, reductions=(0.0, 0.45))
tdv_lucene.learn_from_index = functools.partial(tdv_lucene.learn_from_index, recipe=recipe)
"""
"""A reader's whole way takes minutes: ``tdv-lucene demo`` goes it, in test_demo_run.py."""


@pytest.mark.jvm
@pytest.mark.pyserini
@pytest.mark.slow
def test_every_cell_runs(tmp_path: Path) -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert not any(cell.get("outputs") for cell in cells), "kept without output"
    patient, program = "latency_budget_seconds=5", "\n".join([SHORT, *code])
    assert patient in program
    done = subprocess.run(
        [sys.executable, "-c", program.replace(patient, "latency_budget_seconds=0.5")],
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
