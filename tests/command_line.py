"""Commands as a user types them, in this process or their own; and the files that they use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from tdv_lucene.cli import _group
from tdv_lucene.searching.search import search_index

ROOT = Path(__file__).parents[1]


def run_command(*words: object, status: int = 0) -> Result:
    """What a command that ends with this status made of its words; its errors are raised."""
    done = CliRunner().invoke(_group, [*map(str, words)], catch_exceptions=False)
    assert done.exit_code == status, done.output
    return done


def run_apart(
    *words: object, cwd: Path | None = None, said: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run Python with these words in a process of its own, in which ``said`` is standard input."""
    return subprocess.run(
        [sys.executable, *map(str, words)], capture_output=True, text=True, encoding="utf-8",
        input=said, cwd=cwd, timeout=1800,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )  # fmt: skip


def json_of(*words: object) -> Any:
    """What a command that goes well prints with ``--json``."""
    return json.loads(run_command(*words, "--json").stdout)


def write_judged(
    folder: Path, topics: Mapping[str, str], relevant: Mapping[str, str]
) -> tuple[Path, Path]:
    """Topics and qrels; ``relevant`` has the ids of each topic's documents, apart by blanks."""
    files = folder / "topics.tsv", folder / "qrels.txt"
    files[0].write_text("".join(f"{qid}\t{text}\n" for qid, text in topics.items()))
    files[1].write_text(
        "".join(f"{qid} 0 {doc} 1\n" for qid, docs in relevant.items() for doc in docs.split())
    )
    return files


def hits_of(run: Path) -> dict[str, list[tuple[str, str]]]:
    """Query -> (document, score as printed), best first."""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in run.read_text(encoding="utf-8").splitlines():
        query, _, document, _, score, _ = line.split()
        found.setdefault(query, []).append((document, score))
    return found


def search(
    index: Any, topics: Any, run: Path, **options: Any
) -> dict[str, list[tuple[str, float]]]:
    """Query -> (document, score as printed), best first, of a run that may be replaced."""
    search_index(index, topics, run, overwrite=True, **options)
    found = hits_of(run)
    return {qid: [(doc, float(score)) for doc, score in hits] for qid, hits in found.items()}
