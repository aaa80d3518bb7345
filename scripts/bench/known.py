#!/usr/bin/env python3
"""Prunes collections that everybody knows, and prints bytes, ranking, recall and latency.

    scripts/bench/known.py NAME ... --work DIR --output RUN [--latency SECONDS] [--flags FLAGS]

NAME is a folder with ``corpus.jsonl.gz``, ``queries.tsv`` and ``qrels.txt``, FOLDER:PART for
``queries.PART.tsv`` and ``qrels.PART.txt``, or an identifier of ir_datasets, such as
``beir/scifact/test``, which is downloaded. FLAGS are Anserini's, such as ``"-language ar"``.

Half of the queries tune the full index, are the log, and are learned from; the others measure all
indexes. Two tiers are written where they are as faithful as is asked by default.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from results import machine, markdown_table, write_run

from tdv_lucene import (
    Index,
    TdvError,
    build_index,
    compare_indexes,
    learn_from_index,
    prune_index,
    read_qrels,
    read_topics,
)

SYSTEMS = ("full", "full-tuned", "prior", "log", "judged", "tiers")
MEASURES = ("nDCG@10", "R@100", "R@1000")
SEED = 0


class Collection(NamedTuple):
    """Lines of a JsonCollection; query id -> text; query id -> document id -> grade."""

    documents: Iterable[str]
    topics: Mapping[str, str]
    qrels: Mapping[str, Mapping[str, int]]


def read(name: str) -> Collection:
    """Read a collection by its folder or its identifier."""
    place, _, part = name.partition(":")
    if (folder := Path(place)).is_dir():
        lines = gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8")
        end = f".{part}" if part else ""
        topics = read_topics(folder / f"queries{end}.tsv")
        return Collection(lines, topics, read_qrels(folder / f"qrels{end}.txt"))
    import ir_datasets

    found = ir_datasets.load(name)
    qrels: dict[str, dict[str, int]] = {}
    for one in found.qrels_iter():
        qrels.setdefault(one.query_id, {})[one.doc_id] = one.relevance
    lines = (
        json.dumps({"id": one.doc_id, "contents": one.default_text()}) for one in found.docs_iter()
    )
    topics = {one.query_id: one.default_text() for one in found.queries_iter()}
    return Collection(lines, topics, qrels)


def halves(collection: Collection, folder: Path) -> list[tuple[Path, Path]]:
    """Write topics and qrels of two random halves of the queries that have a relevant document."""
    judged = [q for q in collection.topics if max(collection.qrels.get(q, {"": 0}).values()) > 0]
    random.Random(SEED).shuffle(judged)
    written = []
    for number in range(2):
        topics, qrels = folder / f"topics-{number}.tsv", folder / f"qrels-{number}.txt"
        some = judged[number::2]
        texts = (f"{q}\t{' '.join(collection.topics[q].split())}\n" for q in some)
        grades = ((q, *each) for q in some for each in collection.qrels[q].items())
        topics.write_text("".join(texts), encoding="utf-8")
        qrels.write_text("".join(f"{q} 0 {doc} {g}\n" for q, doc, g in grades), encoding="utf-8")
        written.append((topics, qrels))
    return written


def measured(name: str, work: Path, seconds: float, flags: str) -> dict[str, Any]:
    """Index, prune in four ways and compare; return the report of the comparison."""
    folder = work / name.strip("/").replace("/", "-")
    shutil.rmtree(folder, ignore_errors=True)
    documents, collection = folder / "documents", read(name)
    documents.mkdir(parents=True)
    with open(documents / "documents.jsonl", "w", encoding="utf-8") as out:
        out.writelines(f"{line.strip()}\n" for line in collection.documents)
    train, test = halves(collection, folder)
    given = [
        "-collection", "JsonCollection", "-input", str(documents), "-generator",
        "DefaultLuceneDocumentGenerator", "-threads", "1", "-optimize", *flags.split(),
    ]  # fmt: skip
    full, positions = folder / "full", folder / "with-positions"
    build_index(full, given)
    build_index(positions, [*given, "-storePositions"])
    prune_index(positions, None, folder / "prior")
    prune_index(positions, None, folder / "log", queries=train[0])
    learn_from_index(positions, *train, folder / "values")
    prune_index(positions, folder / "values", folder / "judged")
    pruned = ["log", "judged"]
    try:
        prune_index(positions, folder / "values", folder / "tiers", tiers=True, queries=train[0])
        pruned.append("tiers")
    except TdvError as error:
        print(f"{name}: {error}")
    report = compare_indexes(
        positions, folder / "prior", *test, folder / "report", tune=train, names=("full", "prior"),
        further_indexes={other: folder / other for other in pruned},
        measures=MEASURES, latency_budget_seconds=seconds,
    )  # fmt: skip
    with Index.open(full) as index:
        report["bytes_without_positions"] = index.bytes
    return report


def rows(name: str, report: Mapping[str, Any]) -> Iterable[list[str]]:
    """Yield a line a system; bytes are against the full index without positions."""
    whole = report["bytes_without_positions"]
    for system in filter(report["latency_ms"].__contains__, SYSTEMS):
        size = whole if system in SYSTEMS[:2] else report["indexes"][system]["bytes"]
        means = (report["measures"][measure]["means"][system] for measure in MEASURES)
        latency = report["latency_ms"][system]["top10"]["mean"]
        told = [f"{size:,}", f"{size / whole - 1:+.1%}", *(f"{mean:.4f}" for mean in means)]
        yield [Path(name).name, system, *told, f"{latency:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--work", type=Path, required=True, help="for indexes; replaced")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--flags", default="", help="of Anserini, for documents and queries")
    parser.add_argument("--latency", type=float, default=10, help="seconds of measuring latency")
    args = parser.parse_args()
    head = ("collection", "index", "bytes", "change", *MEASURES, "ms for ten")
    found: list[list[str]] = []
    for name in args.names:
        found += rows(name, measured(name, args.work, args.latency, args.flags))
        text = f"{machine()}\n\n{markdown_table(head, found)}\n"
        write_run(args.output, text, {"rows": found}, ("known.md", "known.json"))
    print(text)


if __name__ == "__main__":
    main()
