#!/usr/bin/env python3
"""Run the paper's experiment on several collections, and write what its rows show in one table.

For each collection an index is made, and `paper reproduce` run for each ranking function. A run
that WORK has is not made again, so the script can be ended and begun again.

Who owns TREC's disks passes a folder with their documents in la/, ap88-89/ and ft91-94/, and all
topics and judgements in topics.txt and qrels.txt:

    paper.py --collections DISKS --name la --name ap88-89 --name ft91-94 --work WORK --output RUN
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from commands import Commands, folder_parser

from tdv_lucene.paper.published import COLLECTIONS, MODELS, OWN, ROWS
from tdv_lucene.report.table import Table, change, p_value, ratio, to_markdown

QUERIES = {
    "cranfield": "queries", "vaswani": "queries", "cisi": "queries", "nfcorpus": "queries.train",
    "wiki165k": "queries.dbpedia", "wiki165k-tydi": "queries.tydi-train",
}  # fmt: skip
"""Behind a dash stands which queries of a collection."""
DISKS = ("la", "ap88-89", "ft91-94")
OPTIONAL = ("wiki165k", "wiki165k-tydi", *DISKS)
"""These are run by name only."""
TITLES = {"tuned": "tuned", "paper": "literal", "default": "default recipe"}
"""Recipes in the order in which they are run."""
HALF = ("nfcorpus",)
"""Of these every second query is taken: they have thousands."""


def main() -> None:
    parser = folder_parser(__doc__)
    names = [*QUERIES, *DISKS]
    usual = [each for each in names if each not in OPTIONAL]
    parser.add_argument("--name", action="append", choices=names, help=f"default: {usual}")
    parser.add_argument("--model", action="append", choices=MODELS)
    parser.add_argument("--recipe", action="append", choices=TITLES, help="default: all, in turn")
    parser.add_argument("--latency-budget", default="0", help="seconds; 0 counts postings only")
    parser.add_argument("--vectors", type=Path, help="in place of LSA, see paper_vectors.py")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    commands = Commands(given.collections, given.work)
    reports = {}
    for recipe in given.recipe or TITLES:
        for model in given.model or MODELS:
            for name in given.name or usual:
                made = given.work / f"{name}.{model}.{recipe}"
                if not (made / "report.json").exists():
                    _reproduce(commands, name, model, recipe, given)
                reports[name, model, recipe] = json.loads((made / "report.json").read_text())
    given.output.mkdir(parents=True, exist_ok=True)
    for key, report in reports.items():
        text = json.dumps(report, indent=1, ensure_ascii=False)
        (given.output / f"{'.'.join(key)}.json").write_text(text + "\n")
    rows = [row for key in sorted(reports) for row in rows_of(*key, reports[key])]
    tables = [table_of(rows), means_of(rows), curve_of(reports)]
    ran = f"\n{commands.listing()}\n" if commands.done else ""
    (given.output / "tables.md").write_text(to_markdown(tables) + ran)


def _reproduce(commands: Commands, name: str, model: str, recipe: str, given: Any) -> None:
    kind, documents, topics, qrels = (_disk if name in DISKS else _collection)(name, given)
    index = given.work / f"{name}.index"
    if not index.exists():
        commands.run(
            "index", "--collection", kind, "--input", documents, "--index", index,
            "--generator", "DefaultLuceneDocumentGenerator", "--threads", "2", "--optimize",
        )  # fmt: skip
    commands.run(
        "paper", "reproduce", "--collection", name if name in COLLECTIONS else "other",
        "--index", index, "--topics", topics, "--qrels", qrels, "--model", model,
        "--recipe", recipe, "--latency-budget", given.latency_budget,
        *(["--vectors", given.vectors] if given.vectors else []),
        "--output", given.work / f"{name}.{model}.{recipe}",
    )  # fmt: skip


def _disk(name: str, given: Any) -> tuple[str, Path, Path, Path]:
    """Return Anserini's name of the format, the documents, topics and judgements."""
    folder = given.collections
    return "TrecCollection", folder / name, folder / "topics.txt", folder / "qrels.txt"


def _collection(name: str, given: Any) -> tuple[str, Path, Path, Path]:
    folder = name.partition("-")[0]
    source = next(p for p in (given.collections / folder, given.collections / "domains" / folder)
                  if p.is_dir())  # fmt: skip
    documents, topics = given.work / f"{name}.corpus", source / f"{QUERIES[name]}.tsv"
    documents.mkdir(exist_ok=True)  # of its own: the source may have other files
    shutil.copy(source / "corpus.jsonl.gz", documents)
    if name in HALF:
        lines = topics.read_text().splitlines(keepends=True)
        topics = given.work / f"{name}.half.tsv"
        topics.write_text("".join(lines[::2]))
    qrels = source / f"{QUERIES[name].replace('queries', 'qrels')}.txt"
    return "JsonCollection", documents, topics, qrels


class Row(NamedTuple):
    """What a row of an experiment drops, and pairs (full index, TDV) of means."""

    title: str
    model: str
    recipe: str
    dropped: float
    ndcg: tuple[float, float]
    p: float | None
    recall: tuple[float, float]
    visited: tuple[float, float]
    own: tuple[float, float] | None


def rows_of(name: str, model: str, recipe: str, report: dict[str, Any]) -> list[Row]:
    """Return the rows of a report, the recipe's own first."""

    def pair(entry: dict[str, Any]) -> tuple[float, float]:
        return entry["baseline"], entry["tdv"]

    rows = []
    for row, entry in report["models"].items():
        kind, own = row.partition("-")[2], OWN + "nDCG@5"
        rows.append(
            Row(
                f"{name}, {MODELS[model]}, {ROWS[kind] if kind else TITLES[recipe]}",
                model, kind or recipe, entry["postings_removed"]["mean"], pair(entry["nDCG@5"]),
                entry["nDCG@5"]["p_value"], pair(entry["R@1000"]),
                pair(entry["postings_visited"]), pair(entry[own]) if own in entry else None,
            )
        )  # fmt: skip
    return rows


def table_of(rows: list[Row]) -> Table:
    """Return each row: what is dropped, and what that changes."""
    shown = [
        (
            row.title, f"{row.dropped:.1f} %", *(f"{each:.4f}" for each in row.ndcg),
            change(*row.ndcg), p_value(row.p), f"{row.recall[0]:.4f}", change(*row.recall),
            f"x{ratio(*row.visited)}", change(*row.own) if row.own else "",
        )
        for row in rows
    ]  # fmt: skip
    heads = ("", "dropped", "nDCG@5", "TDV", "change", "p", "R@1000", "change", "fewer postings",
             "nDCG@5 by own formulas")  # fmt: skip
    return Table("Rows", heads, shown)


def means_of(rows: list[Row]) -> Table:
    """Return the means over the collections of each ranking function's rows of TDVs."""
    shown = []
    for recipe, title in TITLES.items():
        for model in MODELS:
            some = [row for row in rows if (row.recipe, row.model) == (recipe, model)]
            if some:
                fewer = [row.visited[0] / row.visited[1] for row in some]
                pairs = ([getattr(row, m) for row in some] for m in ("ndcg", "recall"))
                changes = (100 * fmean(tdv / base - 1 for base, tdv in each) for each in pairs)
                shown.append(
                    (
                        f"{title}, {MODELS[model]}", f"{len(some)}",
                        f"{fmean(row.dropped for row in some):.1f} %",
                        *(f"{each:+.1f} %" for each in changes), f"x{fmean(fewer):.2f}",
                    )
                )  # fmt: skip
    heads = ("", "collections", "dropped", "nDCG@5", "R@1000", "fewer postings")
    return Table("Means over the collections", heads, shown)


def curve_of(reports: dict[Any, Any]) -> Table:
    """Return the curve along the chosen trainings, on inner folds: the mean of the outer folds."""
    rows = []
    for (name, model, _), report in reports.items():
        chosen = [c for c in report["models"].get(model, {}).get("chosen", []) if "curve" in c]
        for at in range(min((len(c["curve"]) for c in chosen), default=0)):
            points = [c["curve"][at] for c in chosen]
            dropped = sum(p["dropped"] for p in points) / len(points)
            changes = [
                sum(p[m] / p[f"baseline {m}"] for p in points) / len(points)
                for m in ("nDCG@5", "R@1000")
            ]
            shown = (f"{100 * (each - 1):+.1f} %" for each in changes)
            rows.append((f"{name}, {MODELS[model]}", f"{100 * dropped:.0f} %", *shown))
    return Table("Along training, on inner folds", ("", "dropped", "nDCG@5", "R@1000"), rows)


if __name__ == "__main__":
    main()
