#!/usr/bin/env python3
"""What the parts of the default recipe are worth: one thing changed at a time, cross-validated.

    scripts/bench/ablation.py --collections DIR --work DIR --output RUN [--lines "no lead" ...]

Measures are the learner's own on held-out queries: each query is measured with a training that it
took no part in, as the pruned index would answer it. Every line is one learning a collection,
without the prior, which was made of these queries. What stands in RUN is not learned again.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from results import machine, markdown_table, write_run
from sources import Sources

from tdv_lucene import TdvError, learn_term_values, load_matrix, read_qrels, read_topics
from tdv_lucene.embedding.lsa import latent_semantic_vectors
from tdv_lucene.jvm.analysis import analyze_topics
from tdv_lucene.learning.recipes import DefaultRecipe


class Row(NamedTuple):
    """Judged queries of a collection; ``suffix`` is of their files, and empty for its one set."""

    collection: str
    suffix: str = ""
    folds: int = 5

    @property
    def name(self) -> str:
        return f"{self.collection} {self.suffix}".strip()


ROWS = (Row("cranfield"), Row("vaswani"), Row("wiki165k", "tydi-train", folds=3))
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
FILES = ("ablation.md", "ablation.json")


def learn_lines(
    row: Row, collections: Path, work: Path, lines: list[str]
) -> dict[str, dict[str, Any]]:
    """Line -> the points at ``SIZES``, by reduction, or why there are none."""
    source, end = collections / row.collection, f".{row.suffix}" if row.suffix else ""
    matrix = load_matrix(Sources(source, work / row.collection).matrix_with_positions)
    topics = analyze_topics(read_topics(source / f"queries{end}.tsv"))
    qrels = read_qrels(source / f"qrels{end}.txt")
    vectors, found = latent_semantic_vectors(matrix), {}
    for line in lines:
        recipe = replace(
            DefaultRecipe(folds=row.folds, reductions=SIZES, prior=False), **CHANGES[line]
        )
        try:
            points = learn_term_values(matrix, topics, qrels, recipe=recipe, vectors=vectors).points
        except TdvError as error:
            found[line] = {"failed": str(error)}
        else:
            kept = ("removed", "measures", "full", "scale")
            found[line] = {
                f"{point['reduction']:g}": {name: point[name] for name in kept} for point in points
            }
        print(row.name, line, found[line].get("failed", ""), flush=True)
    return found


def table(points: dict[str, dict[str, Any]]) -> str:
    """A line a change; ``points`` are by collection, then by line."""
    head = ["recipe", *(f"{row}: {size:.0%}" for row in points for size in SIZES)]
    lines = [["full index", *_cells(points, "default", "full")]]
    lines += [
        [line, *_cells(points, line, "measures")]
        for line in CHANGES
        if any(line in of_row for of_row in points.values())
    ]
    return markdown_table(head, lines)


def _cells(points: dict[str, dict[str, Any]], line: str, which: str) -> list[str]:
    at = [of_row.get(line, {}).get(f"{size:g}") for of_row in points.values() for size in SIZES]
    return [
        "" if point is None else f"{point[which]['nDCG@5']:.3f} / {point[which]['R@1000']:.3f}"
        for point in at
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("collections", "work", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--lines", nargs="*", default=[*CHANGES], choices=[*CHANGES])
    args = parser.parse_args()
    kept = args.output / FILES[1]
    points = json.loads(kept.read_text(encoding="utf-8"))["points"] if kept.exists() else {}
    for row in ROWS:
        of_row = points.setdefault(row.name, {})
        left = [line for line in dict.fromkeys(("default", *args.lines)) if line not in of_row]
        if left:
            of_row |= learn_lines(row, args.collections, args.work, left)
        text = (
            "# The recipe's parts\n\nnDCG@5 / R@1000 on held-out queries (cross-validation within "
            "learning: 5 folds, of wiki165k 3), BM25, at shares of the postings removed.\n\n"
            f"{table(points)}\n\n{machine()}. Changes: `{json.dumps(CHANGES)}`\n"
        )
        raw = {"default": asdict(DefaultRecipe()), "changes": CHANGES, "points": points}
        write_run(args.output, text, raw, FILES)
    print(text)


if __name__ == "__main__":
    main()
