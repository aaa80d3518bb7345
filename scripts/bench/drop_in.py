#!/usr/bin/env python3
"""Whether an index ranks the same with k1 and b in its norms as with the recorded ones at search.

A collection is pruned twice to each size: for searchers with Anserini's parameters, the default,
and with `--search-as recorded`. Both are searched as they say, and compared: effectiveness, bytes
and latency. Values are learned on the training queries, or are the prior's.

    scripts/bench/drop_in.py --collections DIR --work DIR --output DIR
        [--collection wiki165k] [--train tydi-train] [--sets tydi-dev dbpedia ...]

`--train none` takes the prior's values; `--sets` without a name is the collection's only one. What
stands in the work folder already is taken as it is.
"""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

from commands import Commands, folder_parser
from results import machine, markdown_table, write_run

SIZES: dict[str, tuple[str, str | float]] = {
    "0 %": ("--reduction", "0"),
    "45 %": ("--reduction", "0.45"),
    "-40 % bytes": ("--max-bytes", 0.6),
    "-60 % bytes": ("--max-bytes", 0.4),
}
"""Bytes are shares of the index without positions."""
MEASURES = ("nDCG@5", "R@1000")
_HEAD = ("size", "queries", "bytes", "nDCG@5", "R@1000", "top-10", "top-1000")


class DropIn:
    """The folders of one collection, and what is made in them."""

    def __init__(self, commands: Commands, source: Path, name: str, budget: str) -> None:
        self.commands, self.source, self.name, self.budget = commands, source, name, budget

    def made(self, name: str, command: str, *arguments: str | Path) -> Path:
        """The folder ``name``, made by a command unless it stands there."""
        folder = self.commands.work / f"{self.name}-{name}"
        if not folder.exists():
            self.commands.run(command, *arguments, "--output", folder)
        return folder

    def index(self, name: str, *options: str) -> Path:
        folder = self.commands.work / f"{self.name}-{name}"
        if not folder.exists():
            documents = self.commands.work / f"{self.name}-documents"
            documents.mkdir(exist_ok=True)
            with gzip.open(self.source / "corpus.jsonl.gz") as packed:
                with open(documents / "corpus.jsonl", "wb") as plain:
                    shutil.copyfileobj(packed, plain)
            self.commands.run(
                "index", "--collection", "JsonCollection", "--input", documents, "--index", folder,
                "--generator", "DefaultLuceneDocumentGenerator", "--threads", "2", *options,
            )  # fmt: skip
            shutil.rmtree(documents)
        return folder

    def queries(self, name: str) -> tuple[str | Path, ...]:
        part = f".{name}" if name else ""
        return (
            "--topics", self.source / f"queries{part}.tsv",
            "--qrels", self.source / f"qrels{part}.txt",
        )  # fmt: skip

    def both(
        self, index: Path, values: tuple[str | Path, ...], size: str, plain: int
    ) -> list[Path]:
        """The index pruned to a size: with the recorded parameters, and with baked ones."""
        option, amount = SIZES[size]
        given = str(int(plain * amount)) if isinstance(amount, float) else amount
        what = "prune", "--index", index, *values
        name = size.replace(" ", "").replace("%", "")
        baked = self.made(f"baked{name}", *what, option, given)
        manifest = json.loads((baked / "tdv-manifest.json").read_text(encoding="utf-8"))
        same = "--reduction", repr(manifest["requested_reduction"])
        return [self.made(f"recorded{name}", *what, *same, "--search-as", "recorded"), baked]

    def compare(self, pair: list[Path], size: str, queries: str) -> dict[str, Any]:
        recorded, baked = pair
        report = self.commands.run(
            "compare", "--index", f"recorded={recorded}", "--index", f"baked={baked}",
            *self.queries(queries), "--latency-budget", self.budget, "--overwrite",
            "--output", self.commands.work / f"{self.name}-report",
        )  # fmt: skip
        return {"size": size, "queries": queries or self.name, **_figures(report)}


def _figures(report: dict[str, Any]) -> dict[str, Any]:
    """The measures, bytes and speed-ups of a report."""
    means = {
        name: {measure: report["measures"][measure][name] for measure in MEASURES}
        for name in ("recorded", "baked")
    }
    ratios = report["latency_ratio"]["baked"]
    return {
        "means": means,
        "bytes": {name: report["indexes"][name]["bytes"] for name in means},
        "speed": {depth: ratios[depth] for depth in ("top10", "top1000")},
    }


def _row(one: dict[str, Any]) -> list[str]:
    """Recorded and baked side by side; the speed is that of the baked one."""
    both = [one["means"][name] for name in ("recorded", "baked")]
    sizes = [f"{one['bytes'][name] / 1e6:.2f}" for name in ("recorded", "baked")]
    return [
        one["size"], one["queries"], " ".join(sizes),
        *(" ".join(f"{of[measure]:.4f}" for of in both) for measure in MEASURES),
        *(_interval(one["speed"][depth]) for depth in ("top10", "top1000")),
    ]  # fmt: skip


def _interval(speed: dict[str, Any]) -> str:
    low, high = speed["ci95"]
    return f"x{speed['ratio']:.3f} ({low:.3f} to {high:.3f})"


def main() -> None:
    parser = folder_parser(__doc__)
    parser.add_argument("--collection", default="wiki165k")
    parser.add_argument("--train", default="tydi-train")
    parser.add_argument(
        "--sets", nargs="*", default=["tydi-dev", "dbpedia", "boolq-train", "fever-dev"]
    )
    parser.add_argument("--sizes", nargs="*", default=list(SIZES))
    parser.add_argument("--budget", default="40", help="seconds of timing for each comparison")
    args = parser.parse_args()
    commands = Commands(args.collections, args.work)
    work = DropIn(commands, args.collections / args.collection, args.collection, args.budget)
    index, plain = work.index("positions", "--storePositions"), work.index("plain")
    size_of_plain = sum(file.stat().st_size for file in plain.iterdir())
    values: tuple[str | Path, ...] = ()
    if args.train != "none":
        values = "--tdv", work.made("values", "learn", "--index", index, *work.queries(args.train))
    raw = []
    for size in args.sizes:
        pair = work.both(index, values, size, size_of_plain)
        for name in args.sets or [""]:
            raw.append(work.compare(pair, size, name))
            print(json.dumps(raw[-1])[:300], flush=True)
    text = f"{machine()}\n\n{markdown_table(_HEAD, map(_row, raw))}\n\n{commands.listing()}\n"
    write_run(
        args.output, text, {"rows": raw}, (f"{args.collection}.md", f"{args.collection}.json")
    )


if __name__ == "__main__":
    main()
