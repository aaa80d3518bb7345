#!/usr/bin/env python3
"""Bytes, effectiveness and latency of every way to keep the values in an index, in one run.

For each collection and each share of removed postings the index is pruned with scaled frequencies
(at fixed scales and at the one that was chosen when learning) and with original ones (the values
only decide what goes); all of them and the full index are then compared on queries that learning
never saw, their latencies in turn.

    scripts/bench/tf_encodings.py --work DIR --output scripts/bench/runs/NAME \\
        --collection wiki165k INDEX VALUES queries.tydi-dev.tsv qrels.tydi-dev.txt \\
        --collection scifact INDEX VALUES queries.tsv qrels.txt \\
        --positions wiki165k INDEX-WITH-POSITIONS

VALUES are what `tdv-lucene learn` wrote. Indexes given with --positions have the vocabulary of the
collection of that name; of them only bytes are told, at the last but one reduction.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from results import machine, markdown_table, write_run

import tdv_lucene as tdv

ENCODINGS: dict[str, dict[str, Any]] = {
    "scale-1": {"scale": 1},
    "scale-2": {"scale": 2},
    "scale-4": {"scale": 4},
    "scale-8": {"scale": 8},
    "chosen": {"scale": "auto"},
    "original": {"tf": "original"},
}
WITH_POSITIONS = ("chosen", "original")
FILES = (".doc", ".pos", ".tim")
HEAD = (
    "encoding", "scale", *(f"{ending} MB" for ending in FILES), "total MB", "nDCG@5", "p",
    "R@1000", "top-10 ms", "top-1000 ms", "every posting: top-10", "top-1000",
)  # fmt: skip


class Collection(NamedTuple):
    """An index, the values learned for it, and what to measure on."""

    name: str
    index: Path
    values: Path
    topics: Path
    qrels: Path


class Bench:
    """Writes the indexes, compares them and collects rows."""

    def __init__(self, work: Path, budget: float) -> None:
        self.work = work
        self.budget = budget
        self.rows: list[dict[str, Any]] = []
        self.versions: dict[str, Any] = {}

    def measure(self, collection: Collection, reduction: float) -> None:
        """Compare the full index with all encodings at one reduction."""
        made, reports = self.write(collection, collection.index, reduction, tuple(ENCODINGS))
        (first, path), *others = made.items()
        report = tdv.compare_indexes(
            collection.index, path, collection.topics, collection.qrels, self.work / "report",
            names=("full", first), further_indexes=dict(others),
            latency_budget_seconds=self.budget, overwrite=True,
        )  # fmt: skip
        self.versions = report["versions"]
        for name, index in {"full": collection.index, **made}.items():
            self.rows.append(
                {
                    "collection": collection.name,
                    "reduction": reduction,
                    "encoding": name,
                    "reached": reports.get(name, {}).get("reduction", 0.0),
                    "scale": reports.get(name, {}).get("scale"),
                    "fidelity": reports.get(name, {}).get("fidelity"),
                    **sizes(index),
                    **measured(report, name, first),
                }
            )
        self.say(f"{collection.name} at {reduction:g} done")

    def weigh(self, collection: Collection, index: Path, reduction: float) -> None:
        """Tell only the bytes of the encodings of an index with positions."""
        made, reports = self.write(collection, index, reduction, WITH_POSITIONS)
        for name, path in {"full": index, **made}.items():
            scale = reports.get(name, {}).get("scale")
            row = {"collection": f"{collection.name} with positions", "reduction": reduction}
            self.rows.append({**row, "encoding": name, "scale": scale, **sizes(path)})

    def write(
        self, collection: Collection, index: Path, reduction: float, names: tuple[str, ...]
    ) -> tuple[dict[str, Path], dict[str, dict[str, Any]]]:
        """Prune once for each encoding; return the folders and the reports."""
        made, reports = {}, {}
        for name in names:
            made[name] = self.work / f"index-{name}"
            reports[name] = tdv.prune_index(
                index, collection.values, made[name], reduction=reduction, overwrite=True,
                **ENCODINGS[name],
            )  # fmt: skip
        self.say(f"{collection.name} at {reduction:g}: {len(made)} indexes written")
        return made, reports

    def say(self, what: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)


def sizes(index: Path) -> dict[str, Any]:
    """Bytes of the files that encodings change, and of all of Lucene's."""
    files = [file for file in index.iterdir() if not file.name.startswith("tdv-")]
    by_ending = {e: sum(f.stat().st_size for f in files if f.suffix == e) for e in FILES}
    return {"bytes": by_ending, "total_bytes": sum(file.stat().st_size for file in files)}


def measured(report: dict[str, Any], name: str, first: str) -> dict[str, Any]:
    """Effectiveness and latency of one index out of a comparison."""
    ndcg = report["measures"]["nDCG@5"]
    p_values = {test["treatment"]: test["p_value"] for test in ndcg["tests"]}
    return {
        "nDCG@5": ndcg[name],
        "R@1000": report["measures"]["R@1000"][name],
        "p": p_values.get(name),
        "latency_ms": report["latency_ms"][name],
        "latency_exhaustive_ms": report["latency_exhaustive_ms"][name],
    }


def tables(rows: list[dict[str, Any]]) -> str:
    """One Markdown table for each collection and reduction."""
    parts = []
    for key in dict.fromkeys((row["collection"], row["reduction"]) for row in rows):
        chosen = [row for row in rows if (row["collection"], row["reduction"]) == key]
        title = f"## {key[0]}, {key[1]:.0%} removed"
        parts.append(f"{title}\n\n{markdown_table(HEAD, map(shown, chosen))}")
    return "\n\n".join(parts)


def shown(row: dict[str, Any]) -> list[str]:
    """The cells of a row; those of an index that was only weighed end with the bytes."""
    cells = [row["encoding"], "" if row["scale"] is None else f"{row['scale']:g}"]
    cells += [f"{row['bytes'][ending] / 1e6:.2f}" for ending in FILES]
    cells.append(f"{row['total_bytes'] / 1e6:.2f}")
    if "nDCG@5" in row:
        p = row["p"]
        cells += [f"{row['nDCG@5']:.3f}", "" if p is None else f"{p:.2g}", f"{row['R@1000']:.3f}"]
        for kind in ("latency_ms", "latency_exhaustive_ms"):
            cells += [f"{row[kind][depth]['mean']:.3f}" for depth in ("top10", "top1000")]
    return cells


def write_summary(bench: Bench, seconds: float, output: Path) -> None:
    text = (
        f"# Encodings, {date.today().isoformat()}\n\n{tables(bench.rows)}\n\n"
        "p: two-tailed paired t-test of nDCG@5 against the full index, corrected for all that the "
        "comparison tests. Latency: mean of a query in one warm JVM, with skipping and scoring "
        "every posting. `chosen` is the scale `learn` found to keep the ranking in the fewest "
        "bytes; `original` keeps frequencies, unweighted."
        f"\n\nMachine: {machine()}. {seconds:.0f} s.\n\n"
        f"Versions: {json.dumps(bench.versions)}\n"
    )
    raw = {"machine": machine(), "versions": bench.versions, "rows": bench.rows}
    write_run(output, text, raw, ("README.md", "raw.json"))
    print(tables(bench.rows))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--collection", nargs=5, action="append", required=True,
        metavar=("NAME", "INDEX", "VALUES", "TOPICS", "QRELS"),
    )  # fmt: skip
    parser.add_argument("--positions", nargs=2, action="append", metavar=("NAME", "INDEX"))
    parser.add_argument("--reductions", nargs="+", type=float, default=[0.0, 0.45, 0.6])
    parser.add_argument("--work", type=Path, required=True, help="folder for indexes; emptied")
    parser.add_argument("--output", type=Path, required=True, help="folder for the summary")
    parser.add_argument("--budget", type=float, default=45.0, help="seconds of latency each time")
    args = parser.parse_args()
    collections = [Collection(name, *map(Path, paths)) for name, *paths in args.collection]
    started = time.perf_counter()
    work = args.work / "encodings"
    work.mkdir(parents=True, exist_ok=True)
    bench = Bench(work, args.budget)
    by_name = {collection.name: collection for collection in collections}
    for name, index in args.positions or []:
        bench.weigh(by_name[name], Path(index), sorted(args.reductions)[-2:][0])
    for collection in collections:
        for reduction in args.reductions:
            bench.measure(collection, reduction)
    shutil.rmtree(work)
    write_summary(bench, time.perf_counter() - started, args.output)


if __name__ == "__main__":
    main()
