"""The commands of the README one after the other, on a small collection of real English.

What each does is tested elsewhere; here each reads what the one before it has written.
"""

from __future__ import annotations

import asyncio
import http.client
import inspect
import json
import logging
import pathlib
import random
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import json_of

from tdv_lucene.learning.config import Recipe

pytestmark = pytest.mark.jvm

MODULES = asyncio, http.client, inspect, json, logging, pathlib, random, subprocess, threading
TOPICS = 45


def _docstrings() -> Iterator[tuple[str, str, str]]:
    """Names of the standard library, the first sentence said of each, and the rest."""
    for module in MODULES:
        for name, thing in sorted(vars(module).items()):
            members = vars(thing).items() if inspect.isclass(thing) else ()
            for part, value in ((name, thing), *((f"{name}.{m}", v) for m, v in members)):
                text = inspect.getdoc(value) if callable(value) else None
                summary, _, rest = (text or "").partition("\n\n")
                if len(rest.split()) >= 15:
                    yield f"{module.__name__}.{part}", " ".join(summary.split()), rest


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Docstrings of which some lack their first sentence: it asks for them."""
    folder = tmp_path_factory.mktemp("collection")
    entries = list({rest: (name, summary, rest) for name, summary, rest in _docstrings()}.values())
    asked = {name for name, _, _ in random.Random(0).sample(entries, TOPICS)}
    documents = [
        {"id": name, "contents": rest if name in asked else f"{summary}\n{rest}"}
        for name, summary, rest in entries
    ]
    (folder / "documents").mkdir()
    lines = "\n".join(map(json.dumps, documents))
    (folder / "documents" / "documents.jsonl").write_text(lines)
    known = [(name, summary) for name, summary, _ in entries if name in asked]
    for part, some in (("train", known[::3] + known[1::3]), ("test", known[2::3])):
        topics = "".join(f"{part}{i}\t{text}\n" for i, (_, text) in enumerate(some))
        (folder / f"{part}.tsv").write_text(topics)
        qrels = "".join(f"{part}{i} 0 {name} 1\n" for i, (name, _) in enumerate(some))
        (folder / f"{part}.qrels").write_text(qrels)
    return folder


def test_from_documents_to_the_comparison(
    collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It learns in fewer steps than users do; ``tdv-lucene demo`` in all, in test_demo_run.py."""
    short = Recipe(max_steps=20, check_every=10, folds=2, reductions=(0.0, 0.4))
    monkeypatch.setattr("tdv_lucene.learning.from_index.Recipe", lambda: short)
    index, matrix, tdv, pruned, report = (
        collection / name for name in ("index", "matrix", "tdv", "pruned", "report")
    )
    train, test = (
        ["--topics", collection / f"{part}.tsv", "--qrels", collection / f"{part}.qrels"]
        for part in ("train", "test")
    )
    made = json_of(
        "index", "-collection", "JsonCollection", "-generator", "DefaultLuceneDocumentGenerator",
        "-input", collection / "documents", "-index", index, "-threads", 1, "-storePositions",
    )  # fmt: skip
    assert made["indexed"] > 200
    json_of("extract", "--index", index, "--output", matrix)
    json_of("learn", "--index", index, "--matrix", matrix, *train, "--output", tdv)
    json_of("prune", "--index", index, "--tdv", tdv, "--reduction", 0.4, "--output", pruned)
    assert json_of("verify", "--index", index, "--pruned", pruned)["equal"]
    run = collection / "pruned.run"
    json_of("search", "--index", pruned, *test[:2], "--output", run)
    assert len({line.split()[0] for line in run.read_text().splitlines()}) == TOPICS // 3
    found = json_of(
        "compare", "--index", index, "--pruned", pruned, *test, "--latency-budget", 0.2,
        "--output", report,
    )  # fmt: skip
    full, small = found["indexes"].values()
    assert small["documents"] == full["documents"] == made["indexed"]
    assert small["postings"] / full["postings"] == pytest.approx(0.6, abs=0.01)
    measured = found["measures"]["nDCG@10"]
    assert 0.3 < measured["full"] <= 1 and measured["pruned"] > 0.8 * measured["full"]
    assert (report / "report.html").exists()
