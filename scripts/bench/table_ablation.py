"""What the parts of the default recipe are worth: one thing changed at a time, cross-validated.

Measures are the learner's own on held-out queries: each query is measured with a training that it
took no part in, as the pruned index would answer it. Every line is one learning a collection.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from results import markdown_table, write_run
from table_methods import Method
from table_rows import QueryData, Row, Split
from table_work import Work, commit

from tdv_lucene import TdvError, TermValues
from tdv_lucene.learning.recipes import DefaultRecipe

QUERIES = (
    Row("cranfield"),
    Row("vaswani"),
    Row("wiki165k", "tydi-train", inner_folds=3),
)
CHANGES: dict[str, dict[str, Any]] = {
    "default": {},
    "no lead": {"lead": False},
    "all values 1": {"values": False},
    "Anserini's k1 and b": {"tuned": False},
    "whole terms": {"unit": "term"},
    "a larger idf not made up for": {"make_up": False},
    "values learned of what 45 % leaves": {"trained_at": 0.45},
    "two thirds as whole terms": {"whole_terms": 0.67},
    "pairwise hinge loss": {"loss": "hinge"},
    "statistics alone, no vectors": {"features": "statistics"},
    "vectors alone, no statistics": {"features": "vectors"},
    "candidates 100 deep": {"depth": 100},
    "20 candidates a list": {"width": 20},
    "no shrinking of values": {"slopes": (1.0,)},
    "values only shrunk, not chosen": {"slopes": (0.5,)},
}
"""Line -> fields of the recipe."""

SIZES = (0.0, 0.45, 0.6)


def run(collections: Path, work: Path, output: Path, lines: Sequence[str]) -> str:
    """Learn what is missing of some ``lines``, the default first, write ``ablation.md`` and
    ``ablation.json``, return the first."""
    found: dict[str, dict[str, Any]] = {}
    works = {row: Work(collections, work, row.collection, keep_values=False) for row in QUERIES}
    for name in dict.fromkeys(("default", *lines)):
        for row, at in works.items():
            queries = row.measured_queries(collections)
            try:
                found.setdefault(name, {})[row.name] = _points(
                    at, row, queries, name, CHANGES[name]
                )
            except TdvError as error:
                found[name][row.name] = {"failed": str(error)}
                print(f"FAILED {row.name}, {name}: {error}", flush=True)
            text = _write(output, found)
    return text


def _points(
    work: Work, row: Row, queries: QueryData, name: str, change: dict[str, Any]
) -> dict[str, Any]:
    recipe = replace(DefaultRecipe(), reductions=SIZES, prior=False, **change)
    split = Split(f"{row.key} {name}".replace(" ", "-"), queries, queries, row.inner_folds)
    made = work.values(Method("ablation", recipe), split, "bm25")
    points = TermValues.load(made.path).points
    return {
        f"{point['reduction']:g}": {
            name: point[name] for name in ("removed", "measures", "full", "scale")
        }
        for point in points
    }


def _write(output: Path, found: dict[str, Any]) -> str:
    rows = list(dict.fromkeys(row for points in found.values() for row in points))
    head = ["recipe", *(f"{row}: {size:.0%}" for row in rows for size in SIZES)]
    first = found["default"]
    full = [_cell(first[row], size, "full") for row in rows for size in SIZES]
    lines = [["full index", *full]]
    for name, points in found.items():
        cells = [_cell(points.get(row, {}), size, "measures") for row in rows for size in SIZES]
        lines.append([name, *cells])
    text = (
        "# The recipe's parts\n\nnDCG@5 / R@1000 on held-out queries (cross-validation within "
        "learning: 5 folds, of wiki165k 3), BM25, at shares of the postings removed.\n\n"
        + markdown_table(head, lines)
        + f"\n\nCommit {commit()}. Changes: `{json.dumps(CHANGES)}`\n"
    )  # fmt: skip
    raw = {"commit": commit(), "default": asdict(DefaultRecipe()), "changes": CHANGES,
           "points": found}  # fmt: skip
    write_run(output, text, raw, ("ablation.md", "ablation.json"))
    return text


def _cell(points: dict[str, Any], size: float, which: str) -> str:
    point = points.get(f"{size:g}")
    if point is None:
        return ""
    return f"{point[which]['nDCG@5']:.3f} / {point[which]['R@1000']:.3f}"
