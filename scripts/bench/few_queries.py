#!/usr/bin/env python3
"""What few judged queries recommend to drop, measured on the queries left out.

Of a query set so many queries are drawn, learning has its default settings, and every operating
point is measured on all other queries (of sets in two halves, on the other half). The statistics of
the points are kept, so that any rule can be asked what it would have recommended of them. The prior
is the one made without the collection.

    scripts/bench/few_queries.py --collections DIR --work DIR --output RUN
        [--only cranfield ...] [--model bm25] [--sizes 5 10 20 50 100] [--draws 8]

A draw is kept in ``RUN/COLLECTION-MODEL.json`` when it is done, and not learned again. At the end
the table of all draws in ``RUN`` is printed, by two rules: that of before 2026-11-25, and today's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from judged_draws import Draws
from log_bound import columns
from prior_collections import QUERY_SETS, Judged, read_collection
from prior_settings import left_out_parser, prior_without
from results import markdown_table

from tdv_lucene.evaluation.tuning import OBJECTIVE
from tdv_lucene.learning.recipes import DefaultRecipe
from tdv_lucene.prior.alone import prior_values
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.simulation.problem import Problem
from tdv_lucene.values.losses import recommend
from tdv_lucene.values.term_values import TermValues

SHOWN = (OBJECTIVE, "R@1000")
COLLECTIONS = ("cranfield", "vaswani", "xquad-el")
"""Those that the rule was chosen on."""
SIZES = (5, 10, 20, 50, 100)
SEED = 51
MOST = 400
"""Queries of a set that has halves, at most."""


class Measured:
    """A collection, and how its queries are divided: all are drawn from, or the half that the prior
    is made of; tests are the others of the same half, or the other half."""

    def __init__(self, judged: Judged, model: str) -> None:
        self._draws = Draws(judged, prior_without(judged.name), model)
        self._problem = judged.of_model(model)
        trains = [n for name, n in judged.sets.items() if not QUERY_SETS[name].shown]
        tests = [n for name, n in judged.sets.items() if QUERY_SETS[name].shown]
        self._test = tests[0] if trains else None
        self.queries = trains[0] if trains else tests[0]
        alone = prior_values(
            judged.problem.matrix, model=model, prior=self._draws.prior, reductions=(None,),
            quiet=True,
        )  # fmt: skip
        self._prior = alone.recommended_reduction

    def draw(self, size: int, seed: int) -> dict[str, Any]:
        order = np.random.default_rng([SEED, size, seed]).permutation(self.queries)
        train = order[:size]
        test = order[size:] if self._test is None else self._test
        values = self._draws.learn(train, DefaultRecipe(), seed)
        tuned = self._problem.with_parameters(self._draws.tuned_on(train))
        return {
            "queries": size, "seed": seed, "tests": len(test), "prior": self._prior,
            "full": self._mean(self._problem, self._problem.plain, test),
            "tuned": self._mean(tuned, tuned.plain, test),
            "recommended": values.recommended_reduction,
            "choice": values.manifest.get("choice"),
            "points": [self._point(values, point, test) for point in values.points],
        }  # fmt: skip

    def _point(self, values: TermValues, point: Mapping[str, Any], test: np.ndarray) -> Any:
        """What learning says of a point, held out: means with their intervals; and the tests."""
        said = {
            name: _rounded([point["difference"][name]["mean"], *point["difference"][name]["ci95"]])
            for name in SHOWN
        }
        problem = self._problem.with_parameters(Parameters(**values.parameters))
        left, collection = problem.pruned(values.at_reduction(point["reduction"]))
        return {
            "reduction": point["reduction"], "posting_bytes": point["posting_bytes"],
            "full": _rounded([point["full"][name] for name in SHOWN]), **said,
            "measured": self._mean(left, collection, test),
        }  # fmt: skip

    def _mean(self, problem: Problem, collection: Any, test: np.ndarray) -> list[float]:
        ndcg, _, recall = problem.measure(collection, test)[:, columns()].mean(axis=0)
        return _rounded([ndcg, recall])


def _rounded(values: Any) -> list[float]:
    return [round(float(value), 5) for value in values]


def as_point(kept: Mapping[str, Any]) -> dict[str, Any]:
    """An operating point as learning has it, of what is kept of it."""
    differences = {name: {"mean": kept[name][0], "ci95": kept[name][1:]} for name in SHOWN}
    return {**kept, "full": dict(zip(SHOWN, kept["full"])), "difference": differences}


def today(draw: Mapping[str, Any]) -> float:
    points = [as_point(point) for point in draw["points"]]
    return recommend(points, prior_reduction=draw["prior"]).reduction


def before(draw: Mapping[str, Any]) -> float:
    """The smallest index above the full one by half of the interval's half, else the best; recall
    not significantly below."""
    points = [as_point(p) for p in draw["points"] if p["R@1000"][2] >= 0]
    above = [p for p in points if p[OBJECTIVE][0] + p[OBJECTIVE][1] >= 0]
    if above:
        return float(min(above, key=lambda p: p["posting_bytes"])["reduction"])
    best = max(points, key=lambda p: p[OBJECTIVE][0], default={"reduction": 0.0})
    return float(best["reduction"])


RULES = {"before": before, "today": today, "prior": lambda draw: draw["prior"]}
"""What each recommends of a draw; the prior's is that of the point below it."""


def _changes(draw: Mapping[str, Any], rule: str) -> list[float]:
    """The reduction, and what is gained of the tests' nDCG@5 and R@1000 against the tuned full
    index, in points."""
    reduction = RULES[rule](draw)
    point = max((p for p in draw["points"] if p["reduction"] <= reduction + 1e-9),
                key=lambda p: p["reduction"])  # fmt: skip
    return [point["reduction"], *np.subtract(point["measured"], draw["tuned"])]


def table(output: Path) -> str:
    """Of every collection and number of queries, of those that the rule was chosen on, and of all
    others; worst is of the draws."""
    head = ("", "queries", "draws", *(f"{rule}: dropped; nDCG@5, worst; R@1000" for rule in RULES))
    draws = {
        file.stem: json.loads(file.read_text(encoding="utf-8"))
        for file in sorted(output.glob("*.json"))
    }
    by_bm25 = [name for name in draws if name.endswith("-bm25")]
    chosen_on = [name for name in by_bm25 if name.removesuffix("-bm25") in COLLECTIONS]
    others = [name for name in by_bm25 if name not in chosen_on]
    for label, names in (("rule chosen on, bm25", chosen_on), ("others, bm25", others)):
        draws[label] = [draw for name in names for draw in draws[name]]
    rows = []
    for name, of_name in draws.items():
        for size in sorted({draw["queries"] for draw in of_name}):
            some = [draw for draw in of_name if draw["queries"] == size]
            rows.append([name, str(size), str(len(some)), *(_cell(some, rule) for rule in RULES)])
    return markdown_table(head, rows)


def _cell(some: Sequence[Mapping[str, Any]], rule: str) -> str:
    changes = np.array([_changes(draw, rule) for draw in some])
    reduction, ndcg, recall = changes.mean(axis=0)
    return f"{reduction:.0%}; {ndcg:+.3f}, {changes[:, 1].min():+.3f}; {recall:+.3f}"


def main() -> None:
    parser = left_out_parser(__doc__, COLLECTIONS)
    parser.add_argument("--model", default="bm25")
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--draws", type=int, default=8)
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    for name in args.only:
        file = args.output / f"{name}-{args.model}.json"
        draws = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
        judged = read_collection(name, args.collections, args.work, MOST, 0, shown=MOST)
        measured = Measured(judged, args.model)
        known = {(draw["queries"], draw["seed"]) for draw in draws}
        for size in args.sizes:
            for seed in range(args.draws):
                if (size, seed) in known or size > len(measured.queries) * 2 // 3:
                    continue
                draws.append(measured.draw(size, seed))
                _write(file, draws)
                print(name, size, seed, draws[-1]["recommended"], flush=True)
    print(table(args.output))


def _write(file: Path, draws: list[Any]) -> None:
    """A draw a line."""
    lines = ",\n".join(json.dumps(draw) for draw in draws)
    file.write_text(f"[{lines}]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
