#!/usr/bin/env python3
"""Impact indexes of two kinds of weights: ours beside six peers that leave the same bytes.

Of a collection two impact indexes are made: of BM25's scores in 8 bits, and of weights that a small
network learned (``impact_collections.py``). Each is learned from, and pruned by shares of its
postings; the peers (``impact_peers.py``) are cut to the bytes of each pruned index. Bytes are the
package's estimate of posting lists and dictionary, for all of them. Rankings are computed in NumPy,
with Lucene's integers; ties fall by a hash of the id, which favours nobody.

    scripts/bench/impact.py --collections DIR --work DIR --output RUN [--collection wiki165k]
        [--train tydi-train] [--sets tydi-dev ...] [--shares 0.3 0.5 0.7] [--queries 300]
        [--kinds bm25 learned] [--latency] [--pool N]

A collection with plain ``queries.tsv`` is split: every second query trains, the others measure.
``--train halves`` splits each of the sets so, and trains on the halves of all of them.
``--latency`` also times full, ours and max_ratio at the middle share, by ``compare``: on a machine
that does nothing else. What is made is kept in WORK, what is measured in ``RUN/impact.json``: the
same command goes on where it stopped. RUN is for one collection and one choice of queries.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from impact_collections import (
    BM25,
    KINDS,
    QueryData,
    as_impacts,
    make_impacts,
    read_query_sets,
    write_index,
)
from impact_peers import PEERS, Peer, Postings, estimated_bytes
from results import machine, markdown_table, write_run
from sources import Sources

from tdv_lucene import compare_indexes, extract_matrix, learn_from_index, prune_index
from tdv_lucene.matrix.extract import open_matrix
from tdv_lucene.matrix.term_document_matrix import TermDocumentMatrix, load_matrix
from tdv_lucene.simulation.retrieval import MEASURES, QueryPostings, evaluate, make_queries

SHOWN = ("nDCG@5", "nDCG@10", "R@1000")
FULL, OURS, TIMED = "full", "ours", "max_ratio"
DEPTHS = ("top10", "top1000")


def markdown(raw: Mapping[str, Any]) -> str:
    """Both tables of each kind of weights, and how long the steps took."""
    about = raw["about"]
    parts = [f"# Impact indexes of {about['collection']}", machine()]
    for kind in KINDS:
        rows = [*_rows(raw, kind)]
        columns = [f"{name}: {', '.join(SHOWN)}" for name in about["sets"]]
        if rows:
            parts += [f"## {kind}", markdown_table(["method", "dropped", "MB", *columns], rows)]
        timed = [*_timed(raw, kind)]
        if timed:
            parts += ["ms a query, mean, and times as fast as full; nDCG@10 by `compare`.",
                      markdown_table(["", "MB", *about["sets"]], timed)]  # fmt: skip
    steps = [[label, f"{seconds:,.0f}"] for label, seconds in raw["seconds"].items()]
    return "\n\n".join([*parts, "## Steps", markdown_table(["step", "seconds"], steps)]) + "\n"


def _rows(raw: Mapping[str, Any], kind: str) -> Iterator[list[str]]:
    """By share: ours, then the peers of its bytes."""
    known = {name: raw["rows"].get(f"{kind}: {name}", []) for name in (FULL, OURS, *PEERS)}
    for share in (None, *raw["about"]["shares"]):
        for name, rows in known.items():
            for row in rows:
                if row["share"] == share:
                    cells = [", ".join(f"{of[m]:.3f}" for m in SHOWN)
                             for of in row["measured"].values()]  # fmt: skip
                    yield [name, f"{row['dropped']:.1%}", _megabytes(row["bytes"]), *cells]


def _timed(raw: Mapping[str, Any], kind: str) -> Iterator[list[str]]:
    found = {name: raw["latency"].get(f"{kind}: {name}") for name in raw["about"]["sets"]}
    if not all(found.values()):
        return
    for measure in (*DEPTHS, "nDCG@10"):
        for each in (FULL, OURS, TIMED):
            cells = []
            for of in found.values():
                times = f" (x{of[FULL][measure] / of[each][measure]:.2f})"
                cells.append(f"{of[each][measure]:.3f}" + (times if measure in DEPTHS else ""))
            size = next(iter(found.values()))[each]["bytes"]
            yield [f"{measure}: {each}", _megabytes(size), *cells]


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.3g}"


SETS = ("tydi-dev", "dbpedia", "boolq-train", "fever-dev")
_FILES = ("impact.md", "impact.json")


class Run:
    """What was measured, and how long each step took: kept in the folder ``output``."""

    def __init__(self, output: Path, about: Mapping[str, Any]) -> None:
        self.output, kept = output, output / _FILES[1]
        self.raw: dict[str, Any] = {"about": about, "rows": {}, "latency": {}, "seconds": {}}
        if kept.exists():
            self.raw = json.loads(kept.read_text(encoding="utf-8"))
            if self.raw["about"] != about:
                raise SystemExit(f"{kept} is of {self.raw['about']}: take another --output")

    def step(self, label: str, made: Path, make: Callable[[Path], Any]) -> Path:
        """Make a folder unless it is there; it is there when it is whole."""
        if not made.exists():
            aside = made.with_name(f"{made.name}.unfinished")
            shutil.rmtree(aside, ignore_errors=True)
            self._timed(label, make, aside)
            aside.rename(made)
            self.write()
        return made

    def measure(self, part: str, label: str, measured: Callable[..., Any], *of: Any) -> None:
        """Measure unless it was."""
        if label not in self.raw[part]:
            self.raw[part][label] = self._timed(label, measured, *of)
            self.write()

    def _timed(self, label: str, step: Callable[..., Any], *of: Any) -> Any:
        started = time.perf_counter()
        found = step(*of)
        self.raw["seconds"][label] = round(time.perf_counter() - started, 1)
        print(f"{self.raw['seconds'][label]:8.1f} s  {label}", flush=True)
        return found

    def write(self) -> None:
        write_run(self.output, markdown(self.raw), self.raw, _FILES)


class Collection:
    """Its query sets as terms, those to train on among them, and its counts with their tokens."""

    def __init__(self, args: argparse.Namespace, run: Run) -> None:
        folder = args.collections / args.collection
        self.work = args.work / args.collection
        self.train, self.sets = read_query_sets(folder, args.train, args.sets, args.queries)
        sources = Sources(folder, self.work)
        self.matrix = load_matrix(
            run.step(
                f"{args.collection}, counts", self.work / "matrix-with-tokens",
                lambda path: extract_matrix(
                    sources.index_with_positions, path, positions=False, tokens=True
                ),
            )
        )  # fmt: skip

    def trains(self, kind: str) -> QueryData:
        """Those to learn from: of learned weights the half that the weights were not."""
        return self.train if kind == BM25 else self.train.every_second(1)


class Kind:
    """One kind of weights: its impact index, what is learned of it, and what is left of it."""

    def __init__(self, name: str, collection: Collection, run: Run, args: Any) -> None:
        self.name, self._collection, self._run, self._args = name, collection, run, args
        self._folder = collection.work / name
        run.step(f"{name}, index", self._folder, self._make)
        weights = np.load(self._folder / "weights.npy", mmap_mode="r")
        self.matrix = as_impacts(collection.matrix, np.asarray(weights))
        self._postings = Postings(self.matrix)

    def _make(self, folder: Path) -> None:
        half = self._collection.train.every_second(0)
        make_impacts(self.name, self._collection.matrix, half, folder)

    def pruned(self, share: float) -> Path:
        values = self._run.step(f"{self.name}, learn", self._folder / "values", self._learn)
        return self._run.step(
            f"{self.name}, prune {share:.0%}", self._folder / f"pruned-{share:.0%}",
            lambda path: prune_index(self._folder / "index", values, path, reduction=share),
        )  # fmt: skip

    def _learn(self, values: Path) -> None:
        topics, qrels = self._collection.trains(self.name).write(self._folder, "train")
        learn_from_index(self._folder / "index", topics, qrels, values, pool=self._args.pool)

    def measure(self) -> None:
        """Full, ours and peers: bytes and ranking."""
        run = self._run
        for share in self._args.shares:
            self.pruned(share)
        run.measure("rows", f"{self.name}: {FULL}", self._full)
        run.measure("rows", f"{self.name}: {OURS}", self._ours)
        sizes = [row["bytes"] for row in run.raw["rows"][f"{self.name}: {OURS}"]]
        for peer in PEERS:
            run.measure("rows", f"{self.name}: {peer}", self._cut, peer, sizes)

    def _full(self) -> list[dict[str, Any]]:
        return [self._row(self.matrix, None)]

    def _ours(self) -> list[dict[str, Any]]:
        found = []
        for share in self._args.shares:
            with open_matrix(self.pruned(share), positions=False) as left:
                found.append(self._row(left, share))
        return found

    def _cut(self, name: str, sizes: Sequence[int]) -> list[dict[str, Any]]:
        peer = Peer(self._postings, name)
        shares = zip(self._args.shares, peer.shares_of(sizes))
        return [self._row(peer.left(dropped), share) for share, dropped in shares]

    def _row(self, left: TermDocumentMatrix, share: float | None) -> dict[str, Any]:
        measured = {}
        for name, queries in self._collection.sets.items():
            postings = QueryPostings(left, make_queries(left, queries.terms, queries.qrels))
            means = evaluate(postings, postings.tf.astype(np.float32)).mean(axis=0)
            measured[name] = dict(zip(MEASURES, map(float, means)))
        dropped = 1 - left.postings / self.matrix.postings
        return {"share": share, "dropped": dropped, "bytes": estimated_bytes(left),
                "measured": measured}  # fmt: skip

    def time(self) -> None:
        """Full, ours and one peer of ours' bytes, by ``compare``: its latency and its nDCG@10."""
        middle = self._args.shares[len(self._args.shares) // 2]
        rows = {row["share"]: row for row in self._run.raw["rows"][f"{self.name}: {TIMED}"]}
        share = rows[middle]["dropped"]
        peer = self._run.step(
            f"{self.name}, write {TIMED}", self._folder / f"{TIMED}-{middle:.0%}",
            lambda path: write_index(path, Peer(self._postings, TIMED).left(share)),
        )  # fmt: skip
        for name, queries in self._collection.sets.items():
            label = f"{self.name}: {name}"
            self._run.measure("latency", label, self._compare, middle, peer, name, queries)

    def _compare(self, share: float, peer: Path, name: str, queries: QueryData) -> dict[str, Any]:
        topics, qrels = queries.write(self._folder, name)
        report = compare_indexes(
            self._folder / "index", self.pruned(share), topics, qrels, self._folder / "compared",
            names=(FULL, OURS), further_indexes={TIMED: peer}, overwrite=True,
            latency_budget_seconds=self._args.budget,
        )  # fmt: skip
        return {
            each: {
                "bytes": report["indexes"][each]["bytes"],
                "nDCG@10": report["measures"]["nDCG@10"]["means"][each],
                **{depth: report["latency_ms"][each][depth]["mean"] for depth in DEPTHS},
            }
            for each in (FULL, OURS, TIMED)
        }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("collections", "work", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--collection", default="wiki165k")
    parser.add_argument("--train", default="tydi-train", help="queries to learn from, or: halves")
    parser.add_argument("--sets", nargs="+", default=SETS, help="queries to measure")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="weights to make")
    parser.add_argument("--shares", nargs="+", type=float, default=[0.3, 0.5, 0.7])
    parser.add_argument("--queries", type=int, default=300, help="at most so many of a set")
    parser.add_argument("--pool", type=int, help="learn from so many documents")
    parser.add_argument("--latency", action="store_true", help="also measure latency")
    parser.add_argument("--budget", type=float, default=45.0, help="seconds of latency a set")
    args = parser.parse_args()
    plain = (args.collections / args.collection / "queries.tsv").exists()
    about = {
        "collection": args.collection, "sets": [args.collection] if plain else [*args.sets],
        "train": "every second query" if plain else args.train, "shares": args.shares,
        "queries": args.queries, "pool": args.pool,
    }  # fmt: skip
    run = Run(args.output, about)
    collection = Collection(args, run)
    for name in args.kinds:
        kind = Kind(name, collection, run, args)
        kind.measure()
        if args.latency:
            kind.time()
    run.write()


if __name__ == "__main__":
    main()
