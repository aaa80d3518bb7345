#!/usr/bin/env python3
"""A pruned index that follows its source, beside pruning and learning anew.

Indexes 90 % of wiki165k, learns on it and prunes it. Then ten times: adds 1 % of the documents and
deletes 0.2 % of all, at random, and updates the pruned index. In the end verifies it, prunes the
source anew with the same TDVs, learns anew and prunes with those, and measures all of them. Times
are without the start of Python and Java; those of the processor depend least on what else runs.

    scripts/bench/update.py --collections DIR --work DIR --output FOLDER
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from commands import Commands, folder_parser
from results import machine, markdown_table, write_run
from shards import index, read

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from lucene_indexes import _directory, delete_document  # noqa: E402 - beside the tests

import tdv_lucene as tdv  # noqa: E402
from tdv_lucene.jvm import java_class  # noqa: E402

LUCENE = "org.apache.lucene."
COLLECTION = "wiki165k"
UPDATES, ADDED, DELETED, FIRST = 10, 0.01, 0.002, 0.9
SETS = {"tydi-dev": ("queries.tydi-dev.tsv", "qrels.tydi-dev.txt"),
        "dbpedia": ("queries.dbpedia.tsv", "qrels.dbpedia.txt")}  # fmt: skip


def make_indexes(collection: Path, work: Path) -> list[str]:
    """``first`` and ``slice-0``, ``slice-1``, ...; returns the ids of all documents, in order."""
    lines = read(collection / "corpus.jsonl.gz")
    random.Random(0).shuffle(lines)
    bounds = [0] + [int(len(lines) * (FIRST + ADDED * i)) for i in range(UPDATES + 1)]
    places = [work / "first", *(work / f"slice-{i}" for i in range(UPDATES))]
    for place, a, b in zip(places, bounds, bounds[1:]):
        if not place.exists():
            index(lines[a:b], place, work / "input")
    return [json.loads(line)["id"] for line in lines]


def change(source: Path, piece: Path, gone: list[str]) -> None:
    """What a writer with Lucene's defaults does: it merges segments now and then."""
    config = java_class(LUCENE + "index.IndexWriterConfig")()
    writer = java_class(LUCENE + "index.IndexWriter")(_directory(source), config)
    writer.addIndexes(_directory(piece), signature="([Lorg/apache/lucene/store/Directory;)J")
    for name in gone:
        delete_document(writer, name, _Plain)
    writer.commit()
    writer.close()


class _Plain:
    soft_deletes = ""


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """What the work returns; its seconds, and those of all processors."""
    started, before = time.perf_counter(), time.process_time()
    done = work()
    cpu = time.process_time() - before
    return done, {"seconds": time.perf_counter() - started, "cpu_seconds": cpu}


def follow(ids: list[str], work: Path, values: Path) -> tuple[list[dict[str, Any]], dict]:
    """A row of each update, and how long pruning the first state took."""
    source, pruned = work / "source", work / "pruned"
    for folder in (source, pruned, work / "warm"):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(work / "first", source)
    tdv.prune_index(source, values, work / "warm")
    _, whole = timed(lambda: tdv.prune_index(source, values, pruned))
    rng, rows = random.Random(1), []
    first = int(len(ids) * FIRST)
    alive = ids[:first]
    for number in range(UPDATES):
        size = int(len(ids) * ADDED)
        gone = rng.sample(alive, int(len(ids) * DELETED))
        alive = [*({*alive} - {*gone}), *ids[first + number * size : first + (number + 1) * size]]
        alive.sort()
        change(source, work / f"slice-{number}", gone)
        report, took = timed(lambda: tdv.update_index(pruned))
        rows.append({**took, **report})
        print(took, report, file=sys.stderr, flush=True)
    return rows, whole


def main() -> None:
    args = folder_parser(__doc__).parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    folder, commands = args.collections / COLLECTION, Commands(args.collections, args.work)
    ids = make_indexes(folder, args.work)
    judged = ["--topics", folder / "queries.tydi-train.tsv", "--qrels",
              folder / "qrels.tydi-train.txt"]  # fmt: skip
    values, anew, work = args.work / "values", args.work / "values-anew", args.work
    if not values.exists():
        commands.run("learn", "--index", work / "first", *judged, "--output", values)
    rows, whole = follow(ids, work, values)
    source = work / "source"
    verified = tdv.verify_pruned(source, work / "pruned", values)
    whole_after = timed(lambda: tdv.prune_index(source, values, work / "fresh", overwrite=True))[1]
    if not anew.exists():
        commands.run("learn", "--index", source, *judged, "--output", anew)
    reduction = rows[-1]["requested_reduction"]
    tdv.prune_index(source, anew, work / "anew", reduction=reduction, overwrite=True)
    measured = measure(folder, work)
    raw = {"machine": machine(), "updates": rows, "prune_seconds": [whole, whole_after],
           "verified": verified, "measured": measured}  # fmt: skip
    write_run(args.output, summary(raw) + "\n" + commands.listing() + "\n", raw,
              ("README.md", "update.json"))  # fmt: skip


def measure(folder: Path, work: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Query set -> index -> measures, each searched as it says."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name, (topics, qrels) in SETS.items():
        for which in ("source", "pruned", "fresh", "anew"):
            run = work / f"{which}-{name}.run"
            run.unlink(missing_ok=True)
            tdv.search_index(work / which, folder / topics, run, overwrite=True)
            asked, judged = tdv.read_topics(folder / topics), tdv.read_qrels(folder / qrels)
            values = tdv.evaluate_run(run, asked, judged).values
            found.setdefault(name, {})[which] = {
                key: float(value.mean()) for key, value in values.items()
            }
    return found


def summary(raw: dict[str, Any]) -> str:
    before, after = raw["prune_seconds"]
    rows = [
        [
            str(number), f"{row['seconds']:.2f}", f"{row['cpu_seconds']:.2f}",
            f"{row['segments_added']}",
            f"{row['segments_dropped']}", f"{row['segments']}", f"{row['deletions']}",
            f"{row['postings_before']:,}", f"{100 * row['reduction']:.2f} %",
            f"{100 * row['drift']['moved']:.2f} %",
            f"{100 * row['drift']['unseen_postings']:.2f} %",
        ]
        for number, row in enumerate(raw["updates"], 1)
    ]  # fmt: skip
    head = ["update", "seconds", "of processors", "segments added", "dropped", "in all",
            "deletions", "postings read", "dropped in all", "moved", "unseen"]  # fmt: skip
    figures = [
        [name, *(f"{by[which]['nDCG@5']:.4f} / {by[which]['R@1000']:.3f}" for which in by)]
        for name, by in raw["measured"].items()
    ]
    return "\n".join([
        "# A pruned index that follows its source", "",
        f"{raw['machine']}. Pruning all anew took {_seconds(before)} before the updates and "
        f"{_seconds(after)} after them. Verified after the last: {raw['verified']}.", "",
        markdown_table(head, rows), "",
        "nDCG@5 / R@1000 after the last update:", "",
        markdown_table(["", "source", "updated", "pruned anew", "learned anew"], figures), "",
    ])  # fmt: skip


def _seconds(took: dict[str, float]) -> str:
    return f"{took['seconds']:.1f} s ({took['cpu_seconds']:.1f} of processors)"


if __name__ == "__main__":
    main()
