#!/usr/bin/env python3
"""Bytes, effectiveness and latency of pruned indexes by the bytes they save, in one table.

A collection is indexed with and without positions; values are learned once, on its training
queries, and the index pruned to several sizes: by postings, by bytes (shares of the index without
positions, which all are compared with), and as `learn` recommends. Beside them at the same bytes,
for BM25, are values learned with `--prefer speed`, and the --peers. Every step is one `tdv-lucene`
command in a process of its own. Latency is that of each query set's own queries, so there is one
`compare` a set.

    scripts/bench/frontier.py --collections DIR --work DIR --output scripts/bench/runs/NAME

--copies 6 indexes every document six times, under ids of its own: a million documents. The same
in an environment with Pyserini 2 measures Lucene 10. `--collection scifact --train train --sets
test` measures another collection. What stands in the work folder already is taken as it is; --fresh
makes it anew.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import time
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from commands import Commands, folder_parser
from results import machine, markdown_table, write_run

from tdv_lucene.peers.orders import PEERS

SETS = ("tydi-dev", "dbpedia", "boolq-train", "fever-dev")
# Names of systems have no spaces.
BY_POSTINGS = {
    "postings-0": "0", "postings-15": "0.15", "postings-45": "0.45", "postings-60": "0.6",
    "postings-70": "0.7",
}  # fmt: skip
BY_BYTES = {"bytes-40": 0.6, "bytes-60": 0.4}
SPEED = {**BY_BYTES, "bytes-75": 0.25}
"""The last is about as fast as the fastest peers are with more bytes."""


class Frontier:
    """The folders of one run, and what was measured in them."""

    def __init__(self, commands: Commands, args: argparse.Namespace) -> None:
        self.commands, self.copies, self.budget = commands, args.copies, args.budget
        self.model, self.peers, self.train = args.model, args.peers, args.train
        self.source, self.work = commands.collections / args.collection, commands.work
        self.indexes: dict[str, Path] = {}
        self.foreseen: dict[str, float | None] = {}

    def make(self, name: str, command: str, *arguments: str | Path) -> Path:
        """Run a command that writes the folder ``name``, unless it stands there."""
        folder = self.work / name
        if not folder.exists():
            written = "--index" if command == "index" else "--output"
            self.commands.run(command, *arguments, written, folder)
        return folder

    def prepare(self) -> None:
        """Index, learn and prune."""
        documents = self.source if self.copies == 1 else self._copied()
        flags = ("--collection", "JsonCollection", "--input", documents, "--optimize",
                 "--threads", "2")  # fmt: skip
        full = self.indexes["full"] = self.make("plain", "index", *flags)
        source = self.make("positions", "index", *flags, "--storePositions")
        values = self._learn(source, "values")
        size = bytes_of(full)
        by_bytes = max_bytes(BY_BYTES, size)
        by_postings = {name: ("--reduction", r) for name, r in BY_POSTINGS.items()}
        wanted = {values: {**by_postings, **by_bytes, "recommended": ()}}
        if self.model == "bm25":
            other = self._learn(source, "values-speed", "--prefer", "speed")
            wanted[other] = {f"speed-{name}": how for name, how in max_bytes(SPEED, size).items()}
        for learned, indexes in wanted.items():
            for name, how in indexes.items():
                self.indexes[name] = self.make(
                    name, "prune", "--index", source, "--tdv", learned, *how
                )
                self.foreseen[name] = self._foreseen(learned, self.indexes[name])
        for peer in self.peers:
            values = self.make(peer, "peers", "--index", full, "--name", peer)
            for name, how in by_bytes.items():
                self.indexes[f"{peer}-{name}"] = self.make(
                    f"{peer}-{name}", "prune", "--index", full, "--tdv", values, *how,
                    "--tf", "original",
                )  # fmt: skip

    def _learn(self, source: Path, name: str, *flags: str) -> Path:
        topics, qrels = self.queries(self.train)
        # The prior was made from these very query sets.
        return self.make(name, "learn", "--no-prior", "--index", source, "--model", self.model,
                         "--topics", topics, "--qrels", qrels, *flags)  # fmt: skip

    def queries(self, name: str) -> tuple[Path, Path]:
        """Topics and qrels; the files of a collection's only test queries have no name."""
        dot = f".{name}" if (self.source / f"queries.{name}.tsv").exists() else ""
        return self.source / f"queries{dot}.tsv", self.source / f"qrels{dot}.txt"

    def _copied(self) -> Path:
        """Every document again and again, the first time under its own id."""
        folder = self.work / "documents"
        if not folder.exists():
            folder.mkdir()
            with gzip.open(self.source / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
                documents = [json.loads(line) for line in file]
            with (folder / "corpus.jsonl").open("w", encoding="utf-8") as out:
                for copy in range(self.copies):
                    for document in documents:
                        name = document["id"] + (f"-{copy}" if copy else "")
                        out.write(json.dumps({**document, "id": name}) + "\n")
        return folder

    def _foreseen(self, values: Path, pruned: Path) -> float | None:
        """The bytes that learning predicted for the reduction asked for, between its points; None
        beyond the last."""
        import tdv_lucene as tdv
        from tdv_lucene.pruning.reduction_choice import foreseen_bytes

        points = tdv.TermValues.load(values).points
        made = json.loads((pruned / "tdv-manifest.json").read_text(encoding="utf-8"))
        asked, foreseen = made["requested_reduction"], foreseen_bytes(points)
        return foreseen(asked) if foreseen and asked <= points[-1]["reduction"] else None

    def measure(self, name: str) -> dict[str, Any]:
        """Compare all indexes on one query set."""
        topics, qrels = self.queries(name)
        pairs = [word for index, path in self.indexes.items()
                 for word in ("--index", f"{index}={path}")]  # fmt: skip
        train = self.queries(self.train)
        report = self.work / f"report-{name}"
        self.commands.run("compare", *pairs, "--topics", topics, "--qrels", qrels, "--model",
                          self.model, "--tune-topics", train[0], "--tune-qrels", train[1],
                          "--latency-budget", str(self.budget), "--output", report,
                          "--overwrite")  # fmt: skip
        return json.loads((report / "report.json").read_text(encoding="utf-8"))

    def rows(self, reports: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
        """One row an index, the tuned full one besides."""
        first = next(iter(reports.values()))
        rows = []
        for name in [*self.indexes, "full-tuned"]:
            sizes = first["indexes"].get(name, {})
            row: dict[str, Any] = {"index": name, "foreseen": self.foreseen.get(name)}
            row |= {kind: sizes.get(kind) for kind in ("bytes", "postings", "bytes_by_kind")}
            for query_set, report in reports.items():
                measured = {m: report["measures"][m][name] for m in ("nDCG@5", "R@1000")}
                for depth in ("top10", "top1000"):
                    times = (report["latency_ms"][n][depth]["mean"] for n in ("full", name))
                    measured[depth] = next(times) / next(times)
                row[query_set] = measured
            rows.append(row)
        return rows


def max_bytes(shares: Mapping[str, float], size: int) -> dict[str, tuple[str, int]]:
    """The option of `prune` for each share of ``size`` bytes."""
    return {name: ("--max-bytes", round(share * size)) for name, share in shares.items()}


def bytes_of(index: Path) -> int:
    """Of Lucene's files."""
    return sum(f.stat().st_size for f in index.iterdir() if not f.name.startswith("tdv-"))


def shown(row: dict[str, Any], full: dict[str, Any], sets: Sequence[str]) -> list[str]:
    """The cells of a row."""

    def four(what: str, form: str) -> str:
        return " ".join(format(row[s][what], form).replace("0.", ".", 1) for s in sets)

    cells = [row["index"], "", "", ""]
    if row["bytes"]:
        change = f" ({row['bytes'] / full['bytes'] - 1:+.0%})" if row is not full else ""
        cells[1] = f"{row['bytes'] / 1e6:.1f}{change}"
        cells[3] = f"{row['postings'] / full['postings'] - 1:+.0%}" if row is not full else ""
    if row["foreseen"]:
        cells[2] = f"{row['foreseen'] / 1e6:.1f}"
    cells += [f"{row[s]['nDCG@5']:.3f}" for s in sets]
    cells.append(four("R@1000", ".3f"))
    if row is not full:
        cells += [" ".join(f"x{row[s][d]:.2f}" for s in sets) for d in ("top10", "top1000")]
    return cells


def main() -> None:
    parser = folder_parser(__doc__)
    parser.add_argument("--collection", default="wiki165k")
    parser.add_argument("--train", default="tydi-train", help="queries to learn and tune on")
    parser.add_argument("--sets", nargs="*", default=SETS, help="queries to measure")
    parser.add_argument("--copies", type=int, default=1, help="of each document")
    parser.add_argument("--model", choices=("bm25", "qld"), default="bm25")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of latency a set")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=["ridf"], help="unlearned")
    parser.add_argument("--fresh", action="store_true", help="empty the work folder first")
    args = parser.parse_args()
    if args.fresh:
        shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True, exist_ok=True)
    run = Commands(args.collections, args.work)
    started = time.perf_counter()
    frontier = Frontier(run, args)
    frontier.prepare()
    reports = {name: frontier.measure(name) for name in args.sets}
    rows = frontier.rows(reports)
    head = ("index", "MB", "foreseen", "postings", *args.sets, "R@1000", "top-10", "top-1000")
    table = markdown_table(head, [shown(row, rows[0], args.sets) for row in rows])
    versions = next(iter(reports.values()))["versions"]
    copies = "" if args.copies == 1 else f", every document {args.copies} times"
    text = (
        f"# Bytes, ranking and time, {date.today().isoformat()}\n\n"
        f"{args.collection}{copies}, {args.model}; learned on {args.train}. nDCG@5, R@1000 and the "
        "times faster than the full index (mean of a query, dynamic pruning) of "
        f"{', '.join(args.sets)}; full-"
        "tuned: the full index with parameters tuned on the training queries.\n\n"
        f"{table}\n\nMachine: {machine()}. {time.perf_counter() - started:.0f} s.\n\n"
        f"Versions: {json.dumps(versions)}\n\n{run.listing()}\n"
    )
    raw = {"machine": machine(), "versions": versions, "rows": rows, "commands": run.done}
    write_run(args.output, text, raw, ("summary.md", "raw.json"))
    print(table)


if __name__ == "__main__":
    main()
