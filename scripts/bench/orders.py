#!/usr/bin/env python3
"""What orders of postings are worth in as many bytes, on queries that no table reports.

TDVs learned on wiki165k's tydi-train stay as they are; what is dropped changes. A posting is worth
(RIDF + c)^a idf^b S, with S its saturation, and as many are kept as fit into the bytes, predicted.
Queries are the training questions, titles (wikir-train, whose relevance is made by rule) and
sentences of the collection as queries for their article, with a word of its title and without.

    scripts/bench/orders.py --collections DIR --work DIR --output RUN --values VALUES

VALUES are those of frontier.py; --work holds the matrix, which is extracted once.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from pathlib import Path

import numpy as np
from results import machine, markdown_table, write_run
from table_sources import Sources

from tdv_lucene import TermValues, analyze, load_matrix, read_qrels, read_topics
from tdv_lucene.embedding.embed import latent_semantic_vectors
from tdv_lucene.learning.full_index import visited
from tdv_lucene.learning.problem import Problem
from tdv_lucene.learning.recipes import Parameters
from tdv_lucene.learning.term_orders import order_by_contribution
from tdv_lucene.values.estimated_bytes import estimate_dictionary_bytes, estimate_posting_bytes
from tdv_lucene.values.posting_thresholds import make_posting_rule, make_up_for
from tdv_lucene.values.weighted_collection import apply_values

WEIGHTS = (
    (2 / 3, 2 / 3, 0.1), (4 / 9, 7 / 9, 0.1), (1 / 3, 5 / 6, 0.01), (1 / 3, 2 / 3, 0.01),
    (0.2, 0.5, 0.003), (0.2, 0.65, 0.003), (0.2, 0.75, 0.003), (0.2, 0.8, 0.003),
    (0.1, 0.8, 0.003), (0, 1, 0.1), (2 / 3, 7 / 6, 0.1),
)  # fmt: skip
"""a, b and c; the first is what `learn` takes, with S^1.5 written as S."""
MEGABYTES = (22.4, 13.9)
"""Of lists and dictionary: 25.2 and 16.8 MB of the index."""
SCALE, STEPS, CLOSE = 1.0, 7, 0.005
SENTENCES, ASKED, TITLES = 700, 6, 600
Queries = dict[str, tuple[list[str], dict[str, int]]]


def judged_queries(source: Path, name: str, most: int | None = None) -> Queries:
    """Query id -> its text as a list, and its grades."""
    texts, qrels = (
        read_topics(source / f"queries.{name}.tsv"),
        read_qrels(source / f"qrels.{name}.txt"),
    )
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


class Orders:
    """The collection with all queries, and the TDVs that stay as they are."""

    def __init__(self, source: Path, work: Path, values: TermValues) -> None:
        self.values = values
        matrix = load_matrix(Sources(source, work / source.name).matrix_with_positions)
        parts = (
            judged_queries(source, "tydi-train"),
            judged_queries(source, "wikir-train", TITLES),
        )
        every = {q: row for part in (*parts, *sentence_queries(source)) for q, row in part.items()}
        topics, qrels = ({q: row[i] for q, row in every.items()} for i in (0, 1))
        problem = Problem.of(
            matrix, topics, qrels, latent_semantic_vectors(matrix, dimensions=0), "bm25",
            Parameters(**values.parameters),
        )  # fmt: skip
        self.problem = problem.with_position_boost(values.position_boost)
        self.matrix = self.problem.matrix
        self.sets = np.array([query.split(":")[0] for query in problem.queries.ids])

    def measure(self, weights: tuple[float, float, float], megabytes: float) -> list[str]:
        """A row: bytes, postings left, then nDCG@5, R@1000 and postings visited of each set."""
        a, b, c = weights
        order = order_by_contribution(self.matrix, a, b, c)
        k1_b = {name: self.values.parameters[name] for name in ("k1", "b")}
        ones = np.ones(len(order), np.float32)
        rule = make_posting_rule(self.matrix, ones, order, order, 0.0, **k1_b)
        low, high = 0.2, 0.95
        for _ in range(STEPS):
            reduction = (low + high) / 2
            made = make_up_for(rule, self.matrix, order, [reduction], "bm25", k1_b["k1"])
            tdv, cut = made.drop(
                self.values.weights, order, np.asarray(self.matrix.doc_freq), reduction
            )
            left = apply_values(self.matrix, tdv, SCALE, cut)
            size = estimate_posting_bytes(self.matrix, left) + estimate_dictionary_bytes(
                self.matrix.vocabulary.terms, left.statistics
            )
            if abs(size / 1e6 - megabytes) < CLOSE * megabytes:
                break
            low, high = (reduction, high) if size / 1e6 > megabytes else (low, reduction)
        measured, lists = self.problem.measure(left), visited(self.problem, left.statistics)
        cells = [f"{a:.2g}, {b:.2g}, {c:g}", f"{size / 1e6:.1f}", f"{reduction:.0%}"]
        for name in dict.fromkeys(self.sets.tolist()):
            some = self.sets == name
            ndcg, recall = measured[some].mean(axis=0)[:2]
            cells.append(f"{ndcg:.3f}, {recall:.3f}, {lists[some].mean():,.0f}")
        return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("collections", "work", "output", "values"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    args = parser.parse_args()
    values = TermValues.load(args.values)
    orders = Orders(args.collections / "wiki165k", args.work, values)
    rows = []
    for megabytes in MEGABYTES:
        for weights in WEIGHTS:
            rows.append(orders.measure(weights, megabytes))
            print(*rows[-1], sep=" | ", flush=True)
    head = ("a, b, c", "MB", "dropped", *dict.fromkeys(orders.sets.tolist()))
    text = (
        "nDCG@5, R@1000 and postings in a query's lists, at two sizes of lists and dictionary.\n\n"
        f"{markdown_table(head, rows)}\n\n{machine()}\n"
    )
    write_run(args.output, text, {"head": head, "rows": rows}, ("orders.md", "orders.json"))


if __name__ == "__main__":
    main()
