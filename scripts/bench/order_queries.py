"""Queries that no table reports: judged ones, and sentences of a collection for their article."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import numpy as np

from tdv_lucene import analyze, read_qrels, read_topics

SENTENCES, ASKED = 700, 6
Queries = dict[str, tuple[list[str], dict[str, int]]]


def judged_queries(source: Path, name: str = "", most: int | None = None) -> Queries:
    """Query id -> its terms, and its grades. Without a ``name``, of the collection's only set."""
    dot = f".{name}" if name else ""
    texts = read_topics(source / f"queries{dot}.tsv")
    qrels = read_qrels(source / f"qrels{dot}.txt")
    ids = [q for q in texts if any(grade > 0 for grade in qrels.get(q, {}).values())]
    drawn = np.random.default_rng(0).permutation(len(ids))[:most]
    tokens = analyze([texts[ids[i]] for i in drawn])
    return {f"{name}:{ids[i]}": (words, qrels[ids[i]]) for i, words in zip(drawn, tokens)}


def sentence_queries(source: Path) -> tuple[Queries, Queries]:
    """Up to six words of a sentence from the middle of an article, drawn at random, and which
    article: sentences with a word of the title, and without."""
    rng = np.random.default_rng(5)
    found = []
    with gzip.open(source / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            if rng.random() > 0.06:
                continue
            record = json.loads(line)
            title, *body = record["contents"].split("\n")
            sentences = [
                s
                for s in re.split(r"(?<=[.!?])\s+", " ".join(body[1:]))
                if 6 <= len(s.split()) <= 16
            ]
            if len(sentences) > 3:
                sentence = sentences[rng.integers(1, len(sentences))]
                found.append((record["id"], title, sentence))
    titles, asked = (analyze([row[i] for row in found]) for i in (1, 2))
    with_title: Queries = {}
    without: Queries = {}
    for (document, *_), of_title, words in zip(found, titles, asked):
        distinct = sorted(set(words))
        drawn = [distinct[i] for i in rng.permutation(len(distinct))[:ASKED]]
        kind = with_title if set(of_title) & set(words) else without
        if len(drawn) > 3 and len(kind) < SENTENCES:
            kind[f"{'with' if kind is with_title else 'without'}:{document}"] = drawn, {document: 1}
    return with_title, without
