#!/usr/bin/env python3
"""How fast Lucene searches what ``sparse.py`` pruned: ours, six peers, and two tiers.

    scripts/bench/sparse_latency.py --collections DIR --work WORK --output RUN [NAME ...]

WORK and the shares are those of ``sparse.py``. Half of the first query set is the log of the tiers,
the other half is searched. The peers, in as many bytes as ours at one share, are indexed anew from
what they leave.
"""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from commands import folder_parser
from impact_peers import PEERS, estimated_bytes
from results import machine, markdown_table, write_run
from sparse import SHARES, Collection, built
from splade import COLLECTIONS

from tdv_lucene import TdvError, compare_indexes, prune_index
from tdv_lucene.matrix.extract import open_matrix
from tdv_lucene.matrix.term_document_matrix import TermDocumentMatrix

PEERS_AT = 0.6
"""The share dropped whose bytes the peers get."""
MEASURES = ("nDCG@10", "R@1000")


def index_peer(collection: Collection, name: str, size: int, index: Path) -> None:
    """Index what a peer leaves in so many bytes."""
    (left,) = collection.left_by(name, [size])
    documents = index.with_name(f"{index.name}-documents")
    write_documents(left, documents / "documents.jsonl")
    built(documents, index)
    shutil.rmtree(documents)


def write_documents(left: TermDocumentMatrix, path: Path) -> None:
    """Write what a pruning leaves as Anserini's vectors."""
    by_document = np.argsort(left.indices, kind="stable")
    terms = [term.decode() for term in left.vocabulary.terms]
    of_posting = np.repeat(np.arange(len(terms)), np.diff(left.indptr))[by_document].tolist()
    weights = np.asarray(left.data)[by_document].tolist()
    ends = np.cumsum(np.bincount(left.indices, minlength=left.shape[1])).tolist()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        begin = 0
        for name, end in zip(left.doc_ids, ends):
            vector = {terms[t]: w for t, w in zip(of_posting[begin:end], weights[begin:end])}
            line = {"id": name.decode(), "contents": "", "vector": vector}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            begin = end


def systems_of(collection: Collection, log: Path) -> dict[str, Path]:
    """Return the indexes to compare, the full one first; tiers if any are faithful."""
    found = {"full": collection.index}
    found |= {f"ours-{100 * share:.0f}": collection.pruned(share, False) for share in SHARES}
    with open_matrix(collection.pruned(PEERS_AT, False), positions=False) as left:
        size = estimated_bytes(left)
    for name in PEERS:
        make = partial(index_peer, collection, name, size)
        found[name.partition(" ")[0]] = collection.step(f"peer-{name}", make)
    try:
        found["tiers"] = collection.step(
            "tiers-by-half",
            lambda path: prune_index(collection.index, None, path, tiers=True, queries=log),
        )
    except TdvError as error:
        print(f"{collection.name}: {error}")
    return found


def rows(name: str, report: dict[str, Any]) -> list[list[str]]:
    size = report["indexes"]["full"]["bytes"]
    found = []
    for system, times in report["latency_ms"].items():
        of = report["indexes"].get(system)
        cells = [f"{times[depth][of]:.3f}" for depth in times for of in ("mean", "p99")]
        ratios = report["latency_ratio"].get(system, {})  # the first index has none
        faster = (f"x{ratios[depth]['ratio']:.2f}" if ratios else "" for depth in times)
        effect = [f"{report['measures'][one]['means'][system]:.4f}" for one in MEASURES]
        found.append([name, system, "" if of is None else f"{of['bytes'] / size - 1:+.0%}",
                      *effect, *cells, *faster])  # fmt: skip
    return found


def main() -> None:
    parser = folder_parser(__doc__)
    parser.add_argument("--latency", type=float, default=20, help="seconds of measuring")
    parser.add_argument("names", nargs="*", default=COLLECTIONS, metavar="NAME")
    args = parser.parse_args()
    kept = args.output / "latency.json"
    raw: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
    head = ("collection", "system", "bytes", *MEASURES, "top-10: mean", "p99", "top-1000: mean",
            "p99", "top-10", "top-1000")  # fmt: skip
    for given in args.names:
        documents = args.collections / given
        collection = Collection(documents, args.work / documents.name, 1)
        topics, qrels = collection.judged_sets()[0]
        lines = topics.read_text(encoding="utf-8").splitlines(keepends=True)
        halves = [args.work / documents.name / f"half-{half}.jsonl" for half in (0, 1)]
        for half, path in enumerate(halves):
            path.write_text("".join(lines[half::2]), encoding="utf-8")
        (_, index), (second, treatment), *more = systems_of(collection, halves[0]).items()
        report = compare_indexes(
            index, treatment, halves[1], qrels, args.work / documents.name / "latency-report",
            names=("full", second), further_indexes=dict(more), measures=MEASURES,
            latency_budget_seconds=args.latency, overwrite=True,
        )  # fmt: skip
        raw[collection.name] = rows(collection.name, report)
        table = markdown_table(head, [row for found in raw.values() for row in found])
        write_run(args.output, f"{machine()}\n\n{table}\n", raw, ("latency.md", "latency.json"))


if __name__ == "__main__":
    main()
