#!/usr/bin/env python3
"""Time and memory of `learn` as a collection grows, and whether a pool learns the same.

Two questions, an option each. --sizes 1 6 46: wiki165k, and the same documents six and 46 times
over (one segment each, by Lucene's addIndexes: a million and 7.6 million documents, the ids
repeated), learned on tydi-train as `learn` does by default: from all documents of the first, from a
pool of the others. Wall and processor seconds, the process's own memory and all it touched, mapped
files included. --seeds 0 1 2: wiki165k from all documents and from a pool of --pool, pruned to
0, 45 and 60 %, nDCG@5 of the four held-out query sets. Linux alone: memory is read from /proc.

    scripts/bench/size.py --collections DIR --work DIR --output RUN --sizes 1 6 46
    scripts/bench/size.py --collections DIR --work DIR --output RUN --seeds 0 1 2 --pool 60000

What stands in the work folder already is taken as it is.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from commands import folder_parser
from results import machine, markdown_table, write_run

COLLECTION, TRAIN = "wiki165k", "tydi-train"
SETS = ("tydi-dev", "dbpedia", "boolq-train", "fever-dev")
REDUCTIONS = ("0", "0.45", "0.6")
_MEASURED = ("seconds", "cpu", "own_mb", "touched_mb")
_EVERY = 0.05  # seconds between two looks at a process's memory


class Bench:
    """The folders of one run."""

    def __init__(self, collections: Path, work: Path) -> None:
        self.source, self.work = collections / COLLECTION, work
        work.mkdir(parents=True, exist_ok=True)

    def index(self, copies: int) -> Path:
        """The index of so many copies, with positions."""
        folder = self.work / f"index-{copies}"
        if folder.exists():
            return folder
        if copies == 1:
            self.run("index", "--collection", "JsonCollection", "--input", str(self.source),
                     "--index", str(folder), "--storePositions", "--optimize",
                     "--threads", "2")  # fmt: skip
        else:
            repeat_index(self.index(1), folder, copies)
        return folder

    def matrix(self, copies: int) -> Path:
        folder = self.work / f"matrix-{copies}"
        if not folder.exists():
            self.run("extract", "--index", str(self.index(copies)), "--output", str(folder))
        return folder

    def learn(self, copies: int, name: str, *options: str) -> dict[str, Any]:
        """Learn and return what was measured; values stand in the work folder under ``name``."""
        topics, qrels = self.queries(TRAIN)
        # The prior was made of these very query sets.
        found = self.run(
            "learn", "--no-prior", "--index", str(self.index(copies)), "--matrix",
            str(self.matrix(copies)), "--topics", topics, "--qrels", qrels, "--output",
            str(self.work / name), "--overwrite", "--json", *options,
        )  # fmt: skip
        return found

    def queries(self, name: str) -> tuple[str, str]:
        return (str(self.source / f"queries.{name}.tsv"), str(self.source / f"qrels.{name}.txt"))

    def run(self, *words: str) -> dict[str, Any]:
        """Run a command in a process of its own; its JSON, seconds and megabytes."""
        print("tdv-lucene", *words, file=sys.stderr, flush=True)
        started = time.perf_counter()
        with tempfile.TemporaryFile("w+") as out:
            process = subprocess.Popen([sys.executable, "-m", "tdv_lucene", *words], stdout=out)
            own = touched = 0.0
            cpu = 0.0
            while process.poll() is None:
                own, touched = (max(pair) for pair in zip((own, touched), _memory(process.pid)))
                cpu = max(cpu, _processor_seconds(process.pid))
                time.sleep(_EVERY)
            seconds = time.perf_counter() - started
            if process.returncode:
                sys.exit(f"failed with status {process.returncode}: {' '.join(words)}")
            out.seek(0)
            said = out.read()
        printed = json.loads(said) if "--json" in words else {}
        measured = {"seconds": seconds, "cpu": cpu, "own_mb": own, "touched_mb": touched}
        return {**printed, **measured}


def _memory(pid: int) -> tuple[float, float]:
    """Megabytes of a process's own memory, and with mapped files."""
    found = {"RssAnon": 0.0, "VmRSS": 0.0}
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            name, _, value = line.partition(":")
            if name in found:
                found[name] = int(value.split()[0]) / 1000 * 1.024
    except OSError:
        pass
    return found["RssAnon"], found["VmRSS"]


def _processor_seconds(pid: int) -> float:
    """User and system time of a process until now."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / 100


def repeat_index(index: Path, output: Path, copies: int) -> None:
    """Write the index so many times over, segment beside segment."""
    from tdv_lucene.jvm import java_class, start

    start()
    paths, directory = (
        java_class("java.nio.file.Paths"),
        java_class("org.apache.lucene.store.FSDirectory"),
    )
    aside = output.with_name(output.name + "-unfinished")
    shutil.rmtree(aside, ignore_errors=True)
    config = java_class("org.apache.lucene.index.IndexWriterConfig")()
    config.setMergePolicy(java_class("org.apache.lucene.index.NoMergePolicy").INSTANCE)
    folder = directory.open(paths.get(str(aside)))
    writer = java_class("org.apache.lucene.index.IndexWriter")(folder, config)
    for _ in range(copies):
        source = directory.open(paths.get(str(index)))
        writer.addIndexes(source)
        source.close()
    writer.commit()
    writer.close()
    folder.close()
    aside.rename(output)


def measure_sizes(bench: Bench, sizes: list[int], pool: list[str]) -> tuple[str, dict[str, Any]]:
    """A row a size; ratios are to the first."""
    rows, raw = [], {}
    for copies in sizes:
        bench.matrix(copies)
        extent = json.loads((bench.matrix(copies) / "manifest.json").read_text())
        found = bench.learn(copies, f"values-{copies}", *pool)
        raw[str(copies)] = {
            **{name: found[name] for name in (*_MEASURED, "parameters", "points")},
            "documents": extent["documents"],
            "postings": extent["postings"],
        }
        first = raw[str(sizes[0])]
        by_reduction = {f"{point['reduction']:g}": point for point in found["points"]}
        rows.append([
            f"{extent['documents']:,}", f"{extent['postings'] / 1e6:,.0f} M",
            *(f"{found[name]:,.0f} (x{found[name] / first[name]:.2f})"
              for name in _MEASURED),
            f"{by_reduction['0']['full']['nDCG@5']:.3f}",
            ", ".join(f"{by_reduction[r]['measures']['nDCG@5']:.3f}" for r in REDUCTIONS),
        ])  # fmt: skip
        print(rows[-1], file=sys.stderr, flush=True)
    head = ("documents", "postings", "wall s", "processor s", "own MB", "with mapped files",
            "full", "held-out nDCG@5 at 0, 45, 60 %")  # fmt: skip
    return markdown_table(head, rows), raw


def measure_seeds(bench: Bench, seeds: list[int], pool: int) -> tuple[str, dict[str, Any]]:
    """nDCG@5 of every set at every reduction, from all and from a pool, and the differences."""
    raw: dict[str, Any] = {}
    for seed in seeds:
        for kind, size in (("all", 0), ("pool", pool)):
            name = f"{kind}-{seed}"
            if not (bench.work / name).exists():
                bench.learn(1, name, "--pool", str(size), "--seed", str(seed))
            raw[name] = {r: _measure_pruned(bench, name, r) for r in REDUCTIONS}
            print(name, raw[name], file=sys.stderr, flush=True)
    rows = []
    for reduction in REDUCTIONS:
        for kind in ("all", "pool"):
            cells = [
                ", ".join(f"{raw[f'{kind}-{seed}'][reduction][name]:.4f}" for seed in seeds)
                for name in SETS
            ]
            rows.append([f"{float(reduction):.0%}", kind, *cells])
        found = np.array(
            [
                [[raw[f"{kind}-{seed}"][reduction][name] for name in SETS] for seed in seeds]
                for kind in ("all", "pool")
            ]
        )
        difference = found[1].mean(axis=0) - found[0].mean(axis=0)
        rows.append(["", "difference of means", *(f"{name:+.4f}" for name in difference)])
    return markdown_table(("removed", "learned from", *SETS), rows), raw


def _measure_pruned(bench: Bench, name: str, reduction: str) -> dict[str, float]:
    from tdv_lucene import evaluate_run, prune_index, read_qrels, read_topics, search_index

    found = {}
    with tempfile.TemporaryDirectory(dir=bench.work) as folder:
        pruned = Path(folder) / "pruned"
        prune_index(bench.index(1), bench.work / name, pruned, reduction=float(reduction))
        for name_of_set in SETS:
            topics, qrels = bench.queries(name_of_set)
            run = Path(folder) / f"run-{name_of_set}"
            search_index(pruned, topics, run)
            values = evaluate_run(run, read_topics(topics), read_qrels(qrels)).values
            found[name_of_set] = float(np.mean(values["nDCG@5"]))
    return found


def main() -> None:
    parser = folder_parser(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[], metavar="COPIES")
    parser.add_argument("--seeds", type=int, nargs="+", default=[])
    parser.add_argument("--pool", type=int, help="with --sizes: not the default pool")
    options = parser.parse_args()
    bench = Bench(options.collections, options.work)
    if options.sizes:
        given = [] if options.pool is None else ["--pool", str(options.pool)]
        text, raw = measure_sizes(bench, options.sizes, given)
        write_run(options.output, f"{machine()}\n\n{text}\n", raw, ("sizes.md", "sizes.json"))
    if options.seeds:
        text, raw = measure_seeds(bench, options.seeds, options.pool or 60_000)
        write_run(options.output, f"{machine()}\n\n{text}\n", raw, ("seeds.md", "seeds.json"))


if __name__ == "__main__":
    main()
