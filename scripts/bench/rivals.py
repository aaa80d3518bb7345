#!/usr/bin/env python3
"""Learned pruning beside unlearned ones, of bytes and ranking, on queries that gain and that lose.

Two collections are indexed with and without positions, and the queries' training half teaches: what
`learn` makes of it, and k1 and b for every rival, by `tune`. So all have the same training queries,
and the norms of all are written for Anserini's k1 and b. Pruned to the same shares of the bytes of
the index without positions, they are compared on the other half. `picture.py` draws it.

    scripts/bench/rivals.py --collections DIR --work DIR --output scripts/bench/runs/NAME

What stands in the work folder already is taken as it is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from commands import Commands, folder_parser
from results import machine, markdown_table, write_run

from tdv_lucene.values.peers import PEERS

MEASURES = ("nDCG@5", "R@1000")


class Task(NamedTuple):
    """A collection, what to learn and what to measure on, and flags of Anserini's indexing."""

    collection: str
    train: str
    measured: str
    flags: tuple[str, ...] = ()


TASKS = [
    Task("wiki165k", "tydi-train", "tydi-dev"),
    Task("lang/fr-piaf", "train", "test", ("-language", "fr")),
]


class Rivals:
    """The indexes of one task."""

    def __init__(self, commands: Commands, task: Task) -> None:
        self.run, self.task = commands.run, task
        self.source = commands.collections / task.collection
        self.work = commands.work / Path(task.collection).name
        self.work.mkdir(parents=True, exist_ok=True)
        self.indexes: dict[str, Path] = {}

    def make(self, name: str, command: str, *arguments: str | Path) -> Path:
        """Run a command that writes the folder ``name``, unless it stands there."""
        folder = self.work / name
        if not folder.exists():
            written = "--index" if command == "index" else "--output"
            self.run(command, *arguments, written, folder)
        return folder

    def judged(self, name: str) -> tuple[str | Path, ...]:
        """The options of topics and judgements."""
        return ("--topics", self.source / f"queries.{name}.tsv",
                "--qrels", self.source / f"qrels.{name}.txt")  # fmt: skip

    def prepare(self, peers: Sequence[str], shares: Sequence[float]) -> None:
        """Index, learn, prune and tune."""
        flags = ("--collection", "JsonCollection", "--input", self.source, "--optimize",
                 "--threads", "2", *self.task.flags)  # fmt: skip
        full = self.indexes["full"] = self.make("plain", "index", *flags)
        source = self.make("positions", "index", *flags, "--storePositions")
        self._tune("full", full)
        # The prior was made from these very query sets.
        learned = self.make("values", "learn", "--no-prior", "--index", source,
                            *self.judged(self.task.train))  # fmt: skip
        whole = bytes_of(full)
        sizes = {f"{share:g}": ("--max-bytes", str(round(share * whole))) for share in shares}
        for name, how in {**sizes, "0-dropped": ("--reduction", "0"), "recommended": ()}.items():
            self.indexes[f"learned-{name}"] = self.make(
                f"learned-{name}", "prune", "--index", source, "--tdv", learned, *how
            )
        for peer in peers:
            values = self.make(peer, "peers", "--index", full, "--name", peer)
            for name, how in sizes.items():
                index = f"{peer}-{name}"
                try:
                    pruned = self.make(index, "prune", "--index", full, "--tdv", values, *how,
                                       "--tf", "original")  # fmt: skip
                except SystemExit:  # a rule that keeps each list's best has a smallest index
                    continue
                self._tune(index, pruned)

    def _tune(self, name: str, index: Path) -> None:
        self.indexes[f"{name}-tuned"] = self.make(
            f"{name}-tuned", "tune", "--index", index, *self.judged(self.task.train)
        )

    def measure(self) -> list[dict[str, Any]]:
        """A row an index."""
        named = [f"{name}={path}" for name, path in self.indexes.items()]
        report = self.work / "report"
        self.run("compare", *(word for one in named for word in ("--index", one)),
                 *self.judged(self.task.measured), "--model", "bm25", "--latency-budget", "1",
                 "--output", report, "--overwrite")  # fmt: skip
        found = json.loads((report / "report.json").read_text(encoding="utf-8"))
        return [
            {"index": name, "bytes": bytes_of(path),
             "postings": found["indexes"][name]["postings"],
             **{measure: found["measures"][measure][name] for measure in MEASURES}}
            for name, path in self.indexes.items()
        ]  # fmt: skip


def bytes_of(index: Path) -> int:
    """Of Lucene's files."""
    return sum(f.stat().st_size for f in index.iterdir() if not f.name.startswith("tdv-"))


def shown(row: dict[str, Any], full: dict[str, Any]) -> list[str]:
    """The cells of a row."""
    change = f" ({row['bytes'] / full['bytes'] - 1:+.0%})" if row is not full else ""
    dropped = f"{1 - row['postings'] / full['postings']:.0%}" if row is not full else ""
    return [row["index"], f"{row['bytes']:,}{change}", dropped,
            *(f"{row[measure]:.3f}".lstrip("0") for measure in MEASURES)]  # fmt: skip


def main() -> None:
    parser = folder_parser(__doc__)
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=["ridf", "carmel-delta"])
    parser.add_argument("--shares", nargs="*", type=float, default=[0.85, 0.7, 0.55, 0.4],
                        help="of the full index's bytes")  # fmt: skip
    args = parser.parse_args()
    commands = Commands(args.collections, args.work)
    found, tables = {}, []
    for task in TASKS:
        rivals = Rivals(commands, task)
        rivals.prepare(args.peers, args.shares)
        rows = found[task.collection] = rivals.measure()
        table = markdown_table(("index", "bytes", "dropped", *MEASURES),
                               [shown(row, rows[0]) for row in rows])  # fmt: skip
        tables.append(f"{task.collection}, learned and tuned on {task.train}, measured on "
                      f"{task.measured}:\n\n{table}")  # fmt: skip
    text = "\n\n".join(
        [f"# Rivals, {date.today().isoformat()}", *tables, f"Machine: {machine()}.",
         commands.listing()]
    )  # fmt: skip
    raw = {"machine": machine(), "rows": found, "commands": commands.done}
    write_run(args.output, text + "\n", raw, ("summary.md", "raw.json"))
    print("\n\n".join(tables))


if __name__ == "__main__":
    main()
