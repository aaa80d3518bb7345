#!/usr/bin/env python3
"""What orders of postings are worth in as many bytes, and what an order by use should weigh.

TDVs learned on wiki165k's tydi-train stay as they are; what is dropped changes. A posting is worth
its term's order times its saturation, and as many are kept as fit into the bytes, predicted. Beside
the package's two are those fitted here, one for each price of what searches visit. No query is
one that a table reports: training questions, titles (wikir-train, whose relevance is made by rule)
and sentences of the collection as queries for their article, with a word of its title and without.
The fits of four other collections, each to its own queries, show what travels.

    scripts/bench/orders.py --collections DIR --work DIR --output RUN --values VALUES

VALUES are those of frontier.py; --work holds the matrices, which are extracted once.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from order_fits import Fit, Uses
from order_queries import Queries, judged_queries, sentence_queries
from results import machine, markdown_table, write_run
from sources import Sources

from tdv_lucene import TermValues, load_matrix
from tdv_lucene.embedding.embed import latent_semantic_vectors
from tdv_lucene.learning.recipes import DefaultRecipe
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.simulation.estimated_bytes import estimate_bytes
from tdv_lucene.simulation.full_index import visited
from tdv_lucene.simulation.posting_rules import make_up_for, rule_of_order
from tdv_lucene.simulation.problem import Problem
from tdv_lucene.values.dropped_postings import PostingRule
from tdv_lucene.values.operating_point import OperatingPoint
from tdv_lucene.values.posting_thresholds import make_posting_rule
from tdv_lucene.values.term_orders import SPEED, counted_for_dropping, saturation_for_dropping

KINDS = {"the order": None, "for speed": SPEED}
PRICES = (0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
"""Of all that queries visit, in that of all the index's bytes."""
OTHERS = {"adi": "", "lisa": "", "time": "", "scifact": "train"}
"""Collections that are fitted as well, and their query sets."""
BY_USE = saturation_for_dropping(SPEED, "bm25")
"""k1 and b of the saturation of what is fitted."""
MEGABYTES = (22.4, 13.9)
"""Of lists and dictionary: 25.2 and 16.8 MB of the index."""
SCALE, STEPS, CLOSE, TITLES = 1.0, 7, 0.005, 600


def problem_of(source: Path, work: Path, queries: Queries, values: TermValues) -> Problem:
    """A collection with queries, searched and boosted as ``values`` are."""
    matrix = load_matrix(Sources(source, work / source.name).matrix_with_positions)
    topics, qrels = ({q: row[i] for q, row in queries.items()} for i in (0, 1))
    problem = Problem.of(
        matrix, topics, qrels, latent_semantic_vectors(matrix, dimensions=0), "bm25",
        Parameters(**values.parameters),
    )  # fmt: skip
    return problem.with_position_boost(values.position_boost)


def sets_of(problem: Problem) -> np.ndarray:
    """Return str[Q]: which set each query is of."""
    return np.array([query.split(":")[0] for query in problem.queries.ids])


class Orders:
    """The collection with all queries, and the TDVs that stay as they are."""

    def __init__(self, source: Path, work: Path, values: TermValues) -> None:
        parts = (
            judged_queries(source, "tydi-train"),
            judged_queries(source, "wikir-train", TITLES),
            *sentence_queries(source),
        )
        queries = {q: row for part in parts for q, row in part.items()}
        self.values, self.problem = values, problem_of(source, work, queries, values)
        self.matrix, self.sets = self.problem.matrix, sets_of(self.problem)

    def rule_of_kind(self, kind: str | None) -> PostingRule:
        """The rule of one of the package's orders."""
        made_up_for_later = DefaultRecipe(make_up=False)
        parameters = self.problem.parameters
        return rule_of_order(self.matrix, kind, "bm25", parameters, made_up_for_later, ())

    def rule_of_fit(self, fit: Fit) -> PostingRule:
        """The rule of an order by use."""
        order = fit.order(self.matrix)
        counted = counted_for_dropping(self.matrix, "bm25")
        k1, b = BY_USE
        return make_posting_rule(counted, order, 0.0, k1=k1, b=b)

    def measure(self, rule: PostingRule, megabytes: float) -> list[str]:
        """Cells: bytes, postings dropped, then nDCG@5, R@1000 and postings visited of each set."""
        k1, order = self.values.parameters["k1"], rule.priority
        low, high = 0.1, 0.95
        for _ in range(STEPS):
            reduction = (low + high) / 2
            made = make_up_for(rule, self.matrix, [reduction], "bm25", k1)
            doc_freq = np.asarray(self.matrix.doc_freq)
            tdv, cut = made.drop(self.values.weights, order, doc_freq, reduction)
            boost = self.matrix.position_boost
            point = OperatingPoint(tdv, SCALE, cut, reduction, {}, boost)
            left, written = self.problem.pruned(point)
            size = estimate_bytes(left.matrix, written)
            if abs(size / 1e6 - megabytes) < CLOSE * megabytes:
                break
            low, high = (reduction, high) if size / 1e6 > megabytes else (low, reduction)
        measured, lists = left.measure(written), visited(left, written.statistics)
        cells = [f"{size / 1e6:.1f}", f"{reduction:.0%}"]
        for name in dict.fromkeys(self.sets.tolist()):
            some = self.sets == name
            ndcg, recall = measured[some].mean(axis=0)[:2]
            cells.append(f"{ndcg:.3f}, {recall:.3f}, {lists[some].mean():,.0f}")
        return cells


def fits(problem: Problem) -> dict[float, Fit]:
    """Price -> what was fitted to the problem's queries."""
    uses = Uses(problem, sets_of(problem), BY_USE)
    return {price: uses.fit(price) for price in PRICES}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("collections", "work", "output", "values"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    args = parser.parse_args()
    values = TermValues.load(args.values)
    orders = Orders(args.collections / "wiki165k", args.work, values)
    fitted = {"wiki165k": fits(orders.problem)}
    for name, queries in OTHERS.items():
        source = args.collections / name
        judged = {f"{name}:{q}": row for q, row in judged_queries(source, queries).items()}
        fitted[name] = fits(problem_of(source, args.work, judged, values))
    rules = {name: orders.rule_of_kind(kind) for name, kind in KINDS.items()}
    rules |= {f"price {p:g}": orders.rule_of_fit(fit) for p, fit in fitted["wiki165k"].items()}
    rows = []
    for megabytes in MEGABYTES:
        for name, rule in rules.items():
            rows.append([name, *orders.measure(rule, megabytes)])
            print(*rows[-1], sep=" | ", flush=True)
    head = ("order", "MB", "dropped", *dict.fromkeys(orders.sets.tolist()))
    weights = [
        [name, f"{price:g}", *(f"{weight:.2f}" for weight in fit)]
        for name, of_prices in fitted.items()
        for price, fit in of_prices.items()
    ]
    text = (
        "nDCG@5, R@1000 and postings in a query's lists, at two sizes of lists and dictionary.\n\n"
        f"{markdown_table(head, rows)}\n\nWhat was fitted:\n\n"
        f"{markdown_table(('collection', 'price', *Fit._fields), weights)}\n\n{machine()}\n"
    )
    raw = {"head": head, "rows": rows, "fits": weights}
    write_run(args.output, text, raw, ("orders.md", "orders.json"))
    print(text)


if __name__ == "__main__":
    main()
