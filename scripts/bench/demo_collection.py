#!/usr/bin/env python3
"""Samples the demonstration's collection: Wikipedia articles, and queries of people.

    scripts/bench/demo_collection.py --collections DIR --output tdv_lucene/demo/wikipedia

From each query set as many queries are drawn at random as ``DRAWN`` says. With them come all
articles that people judged for them, relevant or not. The other articles are drawn at random from
all, so no ranking had a say in what is there. The prior is the one made without these articles.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import random
from pathlib import Path

from prior_settings import prior_without

from tdv_lucene import read_qrels, read_topics

DRAWN = {
    "train": {"tydi-train": 120, "boolq-train": 100, "dbpedia": 80},
    "test": {"tydi-dev": 120, "boolq-train": 100, "dbpedia": 80},
}
"""Part -> query set -> how many; a set that both parts have gives each other queries."""
KINDS = {"tydi": "questions", "boolq": "yes-no", "dbpedia": "keywords"}
"""Set -> what its queries are called: their ids are this and a number."""
ARTICLES = 4000
SEED = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    source, draw = args.collections / "wiki165k", random.Random(SEED)
    args.output.mkdir(parents=True, exist_ok=True)
    judged = write_queries(source, args.output, draw)
    with gzip.open(source / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        documents = {document["id"]: document for document in map(json.loads, file)}
    others = draw.sample(sorted(documents.keys() - judged), ARTICLES - len(judged))
    kept = judged.union(others)
    lines = "".join(
        json.dumps(document, ensure_ascii=False) + "\n"
        for name, document in documents.items() if name in kept
    )  # fmt: skip
    packed = lzma.compress(lines.encode(), preset=9 | lzma.PRESET_EXTREME)
    (args.output / "documents.jsonl.xz").write_bytes(packed)
    prior = json.dumps(prior_without("wiki165k").content)
    (args.output / "prior.json").write_text(prior + "\n", encoding="utf-8")
    print(f"{len(judged):,} judged articles of {len(kept):,}")


def write_queries(source: Path, output: Path, draw: random.Random) -> set[str]:
    """Write the topics and qrels of both parts, and return the ids of all judged articles."""
    judged: set[str] = set()
    left: dict[str, list[str]] = {}
    numbers = dict.fromkeys(KINDS, 0)
    for part, sets in DRAWN.items():
        topics, judgements = [], []
        for name, count in sets.items():
            texts = read_topics(source / f"queries.{name}.tsv")
            qrels = read_qrels(source / f"qrels.{name}.txt")
            queries = left.setdefault(name, draw.sample(sorted(texts), len(texts)))
            drawn, left[name] = queries[:count], queries[count:]
            for query in drawn:
                kind = name.partition("-")[0]
                numbers[kind] += 1
                label = f"{KINDS[kind]}-{numbers[kind]}"
                topics.append(f"{label}\t{texts[query]}\n")
                judgements += [f"{label} 0 {doc} {grade}\n" for doc, grade in qrels[query].items()]
                judged |= qrels[query].keys()
        (output / f"topics-{part}.tsv").write_text("".join(topics), encoding="utf-8")
        (output / f"qrels-{part}.txt").write_text("".join(judgements), encoding="utf-8")
    return judged


if __name__ == "__main__":
    main()
