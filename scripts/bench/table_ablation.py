"""What the parts of the default recipe are worth: one thing changed at a time, cross-validated.

Measures are the learner's own on held-out queries: each query is measured with a training that it
took no part in, as the pruned index would answer it. Every line is one learning a collection.
"""

from __future__ import annotations

import json
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from results import markdown_table, write_run
from table_rows import QueryData, Row, Split
from table_work import Method, Work, commit

from tdv_lucene import TdvError, TermValues
from tdv_lucene.learning.recipes import DefaultRecipe

QUERIES = (
    Row("wiki165k", "tydi-train"),
    Row("cranfield"),
    Row("vaswani"),
)
CHANGES: dict[str, dict[str, Any]] = {
    "default": {},
    "no shrinking of values": {"slopes": (1.0,), "level": 1.0},
    "values only shrunk, not chosen": {"slopes": (0.5,)},
    "one training for all sizes": {"trained_at": (0.0,)},
    "order learned by a gate": {"gate": True, "gate_min_queries": 0},
    "postings by saturation alone": {"steepness": 0.0},
    "a term's place in the order counts half": {"posting_power": 0.5},
    "two thirds as whole terms": {"whole_terms": 0.67},
    "whole terms": {"unit": "term"},
    "20 candidates a list": {"width": 20},
    "candidates 100 deep": {"depth": 100},
    "pairwise hinge loss": {"loss": "hinge"},
    "batch statistics": {"statistics": "batch"},
    "statistics alone, no vectors": {"features": "statistics"},
    "vectors alone, no statistics": {"features": "vectors"},
    "candidates retrieved again": {"refresh": True},
    "judged non-relevant by rank alone": {"judged_negatives": False},
    "a larger idf not made up for": {"make_up": False},
}
"""Line -> fields of the recipe. A line whose fields this version has not is left out."""

SIZES = (0.0, 0.45, 0.6)


def run(collections: Path, work: Path, output: Path) -> str:
    """Learn what is missing, write ``ablation.md`` and ``ablation.json``, return the first."""
    known = {field.name for field in fields(DefaultRecipe)}
    changes = {name: of for name, of in CHANGES.items() if of.keys() <= known}
    found: dict[str, dict[str, Any]] = {}
    for row in QUERIES:
        at = Work(collections, work, row.collection, keep_values=False)
        queries = row.measured_queries(collections)
        for name, change in changes.items():
            try:
                found.setdefault(name, {})[row.name] = _points(at, row, queries, name, change)
            except TdvError as error:
                found[name][row.name] = {"failed": str(error)}
                print(f"FAILED {row.name}, {name}: {error}", flush=True)
            text = _write(output, found, changes)
    return text


def _points(
    work: Work, row: Row, queries: QueryData, name: str, change: dict[str, Any]
) -> dict[str, Any]:
    recipe = replace(DefaultRecipe(), reductions=SIZES, **change)
    split = Split(f"{row.key} {name}".replace(" ", "-"), queries, queries)
    made = work.values(Method("ablation", recipe), split, "bm25")
    points = TermValues.load(made.path).points
    return {
        f"{point['reduction']:g}": {
            name: point[name] for name in ("removed", "measures", "full", "scale")
        }
        for point in points
    }


def _write(output: Path, found: dict[str, Any], changes: dict[str, Any]) -> str:
    rows = list(dict.fromkeys(row for of in found.values() for row in of))
    head = ["recipe", *(f"{row}: {size:.0%}" for row in rows for size in SIZES)]
    first = found["default"]
    full = [_cell(first[row], size, "full") for row in rows for size in SIZES]
    lines = [["full index", *full]]
    for name, of in found.items():
        cells = [_cell(of.get(row, {}), size, "measures") for row in rows for size in SIZES]
        lines.append([name, *cells])
    text = (
        "# The recipe's parts\n\nnDCG@5 / R@1000 on held-out queries (cross-validation within "
        "learning), BM25, at shares of the postings removed.\n\n" + markdown_table(head, lines)
        + f"\n\nCommit {commit()}. Changes: `{json.dumps(changes)}`\n"
    )  # fmt: skip
    raw = {"commit": commit(), "default": asdict(DefaultRecipe()), "changes": changes,
           "points": found}  # fmt: skip
    write_run(output, text, raw, ("ablation.md", "ablation.json"))
    return text


def _cell(points: dict[str, Any], size: float, which: str) -> str:
    of = points.get(f"{size:g}")
    if of is None:
        return ""
    return f"{of[which]['nDCG@5']:.3f} / {of[which]['R@1000']:.3f}"
