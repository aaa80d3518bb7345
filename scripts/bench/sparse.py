#!/usr/bin/env python3
"""A real learned sparse model: pruned without judgements, beside six peers of the same bytes.

    scripts/bench/sparse.py --collections DIR --work WORK --output RUN [NAME ...]

WORK is what ``splade.py`` wrote. Each collection is indexed by Anserini, and pruned by shares of
its postings without judgements; ``--learned`` also by TDVs that ``learn`` makes of training
queries, where there are any. The peers (``impact_peers.py``), which leave weights as they are, are
cut to the bytes of each pruned index: the package's estimate of lists and dictionary. Rankings are
computed in NumPy, with Lucene's integers; ties fall by a hash of the id, which favours nobody.
Several query sets count as one: their means are averaged. What was measured is kept in
``RUN/sparse.json``: the same command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from impact_peers import PEERS, Peer, Postings, estimated_bytes
from results import machine, markdown_table, write_run
from scipy.sparse import csr_array
from sources import timed
from splade import COLLECTIONS, SETS, with_set

from tdv_lucene import build_index, extract_matrix, learn_from_index, prune_index, read_qrels
from tdv_lucene.matrix.extract import open_matrix
from tdv_lucene.matrix.term_document_matrix import TermDocumentMatrix, load_matrix

SHARES = (0.3, 0.5, 0.6, 0.7, 0.85)
SHOWN = ("nDCG@10", "R@100", "R@1000")
FULL, OURS, LEARNED = "full", "ours", "ours, learned"
_TRAIN = "train"
_FILES = ("sparse.md", "sparse.json")
Row = dict[str, Any]


def built(documents: Path, index: Path) -> None:
    """Index a folder of vectors as Anserini does."""
    flags = [
        "-collection", "JsonVectorCollection", "-generator", "DefaultLuceneDocumentGenerator",
        "-input", str(documents), "-impact", "-pretokenized", "-threads", "1", "-optimize",
    ]  # fmt: skip
    build_index(index, flags)


class Queries:
    """At most so many judged queries with their weights, and their relevant documents."""

    def __init__(self, whole: TermDocumentMatrix, topics: Path, qrels: Path, most: int) -> None:
        judged = read_qrels(qrels)
        documents = {name.decode(): number for number, name in enumerate(whole.doc_ids)}
        lines = map(json.loads, topics.read_text(encoding="utf-8").splitlines())
        asked = {line["id"]: line["vector"] for line in lines}
        self._relevant = {
            qid: held for qid in asked
            if (held := {documents[doc]: grade for doc, grade in judged.get(qid, {}).items()
                         if grade > 0 and doc in documents})
        }  # fmt: skip
        chosen = [*self._relevant][:: -(-len(self._relevant) // most)]
        self._relevant = {qid: self._relevant[qid] for qid in chosen}
        self._ideal = [sorted((g for g in judged[qid].values() if g > 0), reverse=True)[:10]
                       for qid in chosen]  # fmt: skip
        sizes = [len(asked[qid]) for qid in chosen]
        terms = whole.vocabulary.find([term for qid in chosen for term in asked[qid]])
        weights = np.array([w for qid in chosen for w in asked[qid].values()], float)
        queries = np.repeat(np.arange(len(chosen)), sizes)
        here, shape = terms >= 0, (len(chosen), whole.shape[0])
        self._weights = csr_array((weights[here], (queries[here], terms[here])), shape)

    def measured(self, index: csr_array, ties: np.ndarray) -> np.ndarray:
        """Return the means of ``SHOWN``; ``ties`` int64[D] ranks documents of equal scores."""
        found = []
        for number, relevant in enumerate(self._relevant.values()):
            scores = (self._weights[[number]] @ index).toarray()[0]
            held = np.flatnonzero(scores)
            ranking = held[np.lexsort((ties[held], -scores[held]))][:1000].tolist()
            ranks = {rank: relevant[doc] for rank, doc in enumerate(ranking) if doc in relevant}
            gain = sum(grade / np.log2(rank + 2) for rank, grade in ranks.items() if rank < 10)
            best = sum(g / np.log2(rank + 2) for rank, g in enumerate(self._ideal[number]))
            recall = [sum(rank < depth for rank in ranks) / len(relevant) for depth in (100, 1000)]
            found.append([gain / best, *recall])
        return np.mean(found, axis=0)


class Collection:
    """An impact index of a collection, its judged queries, and what was pruned of it."""

    def __init__(self, documents: Path, made: Path, queries: int) -> None:
        self.name, self._made, self._documents = documents.name, made, documents
        self.has_training = (made / f"queries.{_TRAIN}.jsonl").exists()
        self.index = self.step("index", self._build)
        self.whole = load_matrix(
            self.step("matrix", lambda to: extract_matrix(self.index, to, positions=False))
        )
        names = np.array([crc32(name) for name in self.whole.doc_ids])
        self._ties = np.argsort(np.argsort(names, kind="stable"), kind="stable")
        self._queries = [Queries(self.whole, *judged, queries) for judged in self.judged_sets()]

    def _build(self, path: Path) -> None:
        folder = self._made / "documents"
        folder.mkdir(exist_ok=True)
        (folder / "documents.jsonl").unlink(missing_ok=True)
        (folder / "documents.jsonl").hardlink_to(self._made / "documents.jsonl")
        built(folder, path)

    def pruned(self, share: float, learned: bool) -> Path:
        values = self.step("values", self._learn) if learned else None
        return self.step(
            f"{'learned' if learned else 'pruned'}-{share:.0%}",
            lambda path: prune_index(self.index, values, path, reduction=share),
        )

    def _learn(self, path: Path) -> None:
        learn_from_index(self.index, *self._judged(_TRAIN), path)

    def judged_sets(self) -> list[tuple[Path, Path]]:
        """Return the queries and judgements of each query set."""
        return [self._judged(name) for name in SETS.get(self.name, ("",))]

    def _judged(self, name: str) -> tuple[Path, Path]:
        topics = self._made / with_set("queries.jsonl", name)
        return topics, self._documents / with_set("qrels.txt", name)

    def step(self, name: str, make: Callable[[Path], Any]) -> Path:
        path = self._made / name
        if not path.exists():
            timed(f"{self.name}, {name}", lambda: make(path))
        return path

    def measured(self, left: TermDocumentMatrix) -> dict[str, float]:
        """Return the means over the query sets of what is left of the index."""
        rows = self.whole.vocabulary.find([*left.vocabulary.terms])
        terms = np.repeat(rows, np.diff(left.indptr))
        shape = self.whole.shape
        weights = csr_array((np.asarray(left.data, float), (terms, left.indices)), shape)
        found = [queries.measured(weights, self._ties) for queries in self._queries]
        return dict(zip(SHOWN, np.mean(found, axis=0).tolist()))

    def row(self, left: TermDocumentMatrix) -> Row:
        return {"bytes": estimated_bytes(left), "postings": left.postings, **self.measured(left)}

    def ours(self, shares: Sequence[float], learned: bool) -> list[Row]:
        found = []
        for share in shares:
            with open_matrix(self.pruned(share, learned), positions=False) as left:
                found.append(self.row(left))
        return found

    def left_by(self, name: str, sizes: Sequence[int]) -> Iterator[TermDocumentMatrix]:
        """Yield what a peer leaves in each of these numbers of bytes."""
        peer = Peer(Postings(self.whole), name)
        yield from map(peer.left, peer.shares_of(sizes))

    def peer(self, name: str, sizes: Sequence[int]) -> list[Row]:
        return [*map(self.row, self.left_by(name, sizes))]


def measure(
    collection: Collection,
    shares: Sequence[float],
    learned: bool,
    known: dict[str, list[Row]],
    keep: Callable[[], None],
) -> None:
    """Add what is not ``known`` yet, and keep it after each method."""

    def add(name: str, of: Callable[[], list[Row]]) -> None:
        if name not in known:
            timed(f"{collection.name}, {name}", lambda: known.update({name: of()}))
            keep()

    add(FULL, lambda: [collection.row(collection.whole)])
    add(OURS, lambda: collection.ours(shares, False))
    for name in PEERS:
        add(name, partial(collection.peer, name, [row["bytes"] for row in known[OURS]]))
    if learned and collection.has_training:
        add(LEARNED, lambda: collection.ours(shares, True))


def markdown(raw: Mapping[str, Any]) -> str:
    """A table for each collection, and means over them against full."""
    parts = ["# A learned sparse model", machine()]
    head = ["method", *(f"{share:.0%}" for share in raw["shares"])]
    every = {name: known for name, known in raw["rows"].items() if OURS in known}
    for name, known in every.items():
        (full,) = known[FULL]
        shown = ", ".join(f"{measure} {full[measure]:.4f}" for measure in SHOWN)
        size = f"{full['postings']:,} postings, {full['bytes'] / 1e6:.3g} MB"
        rows = [["bytes", *(f"{row['bytes'] / full['bytes'] - 1:+.0%}" for row in known[OURS])]]
        for method in [*known][1:]:
            cells = (", ".join(f"{row[of]:.4f}" for of in SHOWN) for row in known[method])
            rows.append([method, *cells])
        parts += [f"## {name}", f"Full: {size}, {shown}.", markdown_table(head, rows)]
    for measure in SHOWN:
        rows = []
        for method in (OURS, *PEERS):
            of = [known for known in every.values() if method in known]
            if not of:
                continue
            gains = [[row[measure] / known[FULL][0][measure] - 1 for row in known[method]]
                     for known in of]  # fmt: skip
            rows.append([method, *(f"{gain:+.1%}" for gain in np.mean(gains, axis=0))])
        parts += [f"## {measure}, mean against full", markdown_table(head, rows)]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("collections", "work", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--shares", nargs="+", type=float, default=SHARES)
    parser.add_argument("--queries", type=int, default=400, help="at most so many of a set")
    parser.add_argument("--learned", action="store_true", help="also learn from training queries")
    parser.add_argument("names", nargs="*", default=COLLECTIONS, metavar="NAME")
    args = parser.parse_args()
    kept = args.output / _FILES[1]
    raw: dict[str, Any] = {"shares": list(args.shares), "rows": {}}
    if kept.exists():
        raw = json.loads(kept.read_text(encoding="utf-8"))

    def keep() -> None:
        write_run(args.output, markdown(raw), raw, _FILES)

    for name in args.names:
        documents = args.collections / name
        collection = Collection(documents, args.work / documents.name, args.queries)
        known = raw["rows"].setdefault(documents.name, {})
        measure(collection, raw["shares"], args.learned, known, keep)


if __name__ == "__main__":
    main()
