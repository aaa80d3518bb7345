#!/usr/bin/env python3
"""Whether postings of terms that a log asks for should count for more: they are kept longer, by a
factor, and the other half of the queries measures what that gains.

    scripts/bench/log_terms.py --collections DIR --work DIR --output RUN [--only cranfield ...]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
from log_bound import MOST, SEED
from prior_collections import Judged, read_collection
from prior_settings import left_out_parser, prior_without
from results import machine, markdown_table, write_run

from tdv_lucene.prior.alone import prior_values
from tdv_lucene.prior.prior import Prior
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.simulation import posting_rules
from tdv_lucene.simulation.measures import MEASURES
from tdv_lucene.simulation.problem import Problem

COLLECTIONS = ("cranfield", "sw-tydi", "scifact", "ru-tydi", "fr-piaf", "xquad-en", "wiki165k")
REDUCTIONS = (0.45, 0.7)
FACTORS = (1.0, 1.5, 2.5, 5.0)
SHOWN = ("nDCG@5", "R@100")


def measure(
    problem: Problem, prior: Prior, asked: np.ndarray, factor: float, test: np.ndarray
) -> list[list[float]]:
    """What the test queries measure at each reduction, with that factor for the terms asked for."""
    made = posting_rules.order_terms

    def order_terms(*given: Any, **how: Any) -> np.ndarray:
        order = made(*given, **how).copy()
        order[asked] *= factor
        return order

    with mock.patch.object(posting_rules, "order_terms", order_terms):
        values = prior_values(problem.matrix, prior=prior, reductions=REDUCTIONS, quiet=True)
    searched = problem.with_parameters(Parameters(**values.parameters))
    left = (searched.pruned(values.at_reduction(reduction)) for reduction in REDUCTIONS)
    means = (pruned.measure(collection, test).mean(axis=0) for pruned, collection in left)
    return [[round(float(mean[MEASURES.index(name)]), 4) for name in SHOWN] for mean in means]


def rows_of(judged: Judged, prior: Prior) -> Iterator[dict[str, Any]]:
    """Each query set, one half of it the log."""
    for name, numbers in judged.sets.items():
        order = np.random.default_rng(SEED).permutation(numbers)
        log, test = map(np.sort, np.array_split(order, 2))
        terms = [judged.problem.queries.terms_of(query)[0] for query in log.tolist()]
        asked = np.unique(np.concatenate(terms))
        found = {f: measure(judged.problem, prior, asked, f, test) for f in FACTORS}
        for at, reduction in enumerate(REDUCTIONS):
            yield {"set": name, "log": len(log), "reduction": reduction,
                   **{f"x{f:g}": found[f][at] for f in FACTORS}}  # fmt: skip


def main() -> None:
    parser = left_out_parser(__doc__, COLLECTIONS)
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name in args.only:
        judged = read_collection(name, args.collections, args.work, MOST, 0)
        rows += rows_of(judged, prior_without(name, args.prior_run))
        print(rows[-1], flush=True)
    factors = [f"x{f:g}" for f in FACTORS]
    cells = [
        [row["set"], str(row["log"]), f"{row['reduction']:.0%}",
         *(" ".join(f"{value:.3f}" for value in row[f]) for f in factors)]
        for row in rows
    ]  # fmt: skip
    head = ("query set", "log", "dropped", *(f"{f}: {', '.join(SHOWN)}" for f in factors))
    text = f"{machine()}\n\n{markdown_table(head, cells)}\n"
    write_run(args.output, text, {"rows": rows}, ("terms.md", "terms.json"))


if __name__ == "__main__":
    main()
