#!/usr/bin/env python3
"""What a query log tells of a pruning without judgements, beside what judgements say.

Of every collection, with the prior made without it: what its query sets lose at each reduction, and
what they lose by the first answers of the re-weighted index with nothing dropped (the bound). From
that come the lines in ``tdv_lucene/learning/log.json``, and, with each collection left out of them,
the reduction that half of a query set chooses as a log, measured on the other half.

    scripts/bench/log_bound.py --collections DIR --work DIR --output RUN
        [--prior-run DIR] [--only cranfield ...]

``--work`` holds the indexes and matrices (see ``prior_collections.py``). Collections that
``RUN/raw.json`` has are not measured again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from log_lines import AT_MOST, LINES, cells_of, fit_lines, losses
from prior_collections import QUERY_SETS, ROWS, Judged, collection_of, read_collection, source_of
from prior_settings import left_out_parser, prior_without
from results import machine, markdown_table, write_run

from tdv_lucene.evaluation.significance import t_test
from tdv_lucene.evaluation.tuning import OBJECTIVE
from tdv_lucene.learning.log import CALIBRATION, MAX_LOSS
from tdv_lucene.prior.prior import Prior, prior_values
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.simulation.bytes import estimate_bytes
from tdv_lucene.simulation.problem import Problem
from tdv_lucene.simulation.retrieval import MEASURES
from tdv_lucene.values.posting_rule import REDUCTIONS

SHOWN = ("nDCG@5", "R@100", "R@1000")
MOST = 500
"""Queries of a set, at most."""
SEED = 35


class Measured(NamedTuple):
    """Queries of a collection that find something.

    Attributes
    ----------
    full : float64[n, 3]
        Of the index as it is, with Anserini's parameters: what is ``SHOWN``.
    finest : float64[n]
        nDCG@5 of the re-weighted index with nothing dropped, at the largest scale.
    same : bool[n]
        Whether its first answer is that of that index.
    pruned : float64[R, n, 3]
    by_first : float64[R, n]
        nDCG@5 by the first answers of that index.
    size : float64[R]
        Bytes as a share of the index as it is: posting lists and dictionary, estimated.
    """

    full: np.ndarray
    finest: np.ndarray
    same: np.ndarray
    pruned: np.ndarray
    by_first: np.ndarray
    size: np.ndarray


def measure(judged: Judged, prior: Prior) -> tuple[np.ndarray, Measured]:
    """Return int64[n], the numbers of the queries that find something, and what was measured."""
    problem = judged.problem
    values = prior_values(problem.matrix, prior=prior, reductions=REDUCTIONS, quiet=True)
    searched = problem.with_parameters(Parameters(**values.parameters))
    finest = max(point["scale"] for point in values.points)
    left, collection = searched.pruned(replace(values.at_reduction(0.0), scale=finest))
    answers = left.postings.top(left.impacts(collection), 1)[:, 0]
    found = np.flatnonzero(answers >= 0)
    finest_ndcg = left.measure(collection, found)[:, MEASURES.index(OBJECTIVE)]
    pruned, by_first, sizes = [], [], []
    for reduction in REDUCTIONS:
        left, collection = searched.pruned(values.at_reduction(reduction))
        sizes.append(estimate_bytes(left.matrix, collection))
        pruned.append(left.measure(collection, found)[:, columns()])
        by_first.append(_answered(left, answers).measure(collection)[:, 0])
    plain = problem.full
    full = plain.measure(plain.plain, found)[:, columns()]
    same = _answered(plain, answers).measure(plain.plain)[:, 0] == 1
    whole = plain.judged.plain_bytes
    return found, Measured(
        full, finest_ndcg, same, np.array(pruned), np.array(by_first), np.array(sizes) / whole
    )


def columns() -> list[int]:
    return [MEASURES.index(name) for name in SHOWN]


def _answered(problem: Problem, answers: np.ndarray) -> Problem:
    queries = problem.queries.answered_by(answers)
    return replace(problem, judged=replace(problem.judged, queries=queries))


def figures_of(measured: Measured, some: np.ndarray) -> dict[str, Any]:
    """What ``some`` of the queries say, as a log and as judged queries."""
    differences = measured.by_first[:, some] - 1
    return {
        "queries": len(some),
        "same": round(float(measured.same[some].mean()), 5),
        "bound": _rounded(-differences.mean(axis=1)),
        "bound_at_most": _rounded([_worst(of_point) for of_point in differences]),
        "full": _rounded(measured.full[some].mean(axis=0)),
        "finest": round(float(measured.finest[some].mean()), 5),
        "pruned": [_rounded(of_point.mean(axis=0)) for of_point in measured.pruned[:, some]],
    }


def _worst(differences: np.ndarray) -> float:
    interval = t_test(differences)[1]
    return 1.0 if interval is None else -interval[0]


def _rounded(values: Any) -> list[float]:
    return [round(float(value), 5) for value in values]


def measured_sets(judged: Judged, prior: Prior) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every query set: its figures, those of two halves, and the bytes."""
    found, measured = measure(judged, prior)
    for name, numbers in judged.sets.items():
        some = np.flatnonzero(np.isin(found, numbers))
        order = np.random.default_rng(SEED).permutation(some)
        halves = [figures_of(measured, np.sort(half)) for half in np.array_split(order, 2)]
        yield name, {"all": figures_of(measured, some), "halves": halves,
                     "size": _rounded(measured.size)}  # fmt: skip


def choices(raw: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what each half of each set chooses as a log, and what the other half measures."""
    for name, of_set in raw["sets"].items():
        lines = fit_lines(raw["sets"], without=collection_of(name))
        for log, test in (of_set["halves"], of_set["halves"][::-1]):
            at = allowed_by(lines, log)
            gains = np.array(test["pruned"][at]) / np.array(test["full"]) - 1
            yield {
                "set": name, "log": log["queries"], "same": log["same"],
                "reduction": REDUCTIONS[at], "size": of_set["size"][at],
                "bound": log["bound"][at], **losses(lines, log, at),
                "gains": _rounded(gains),
            }  # fmt: skip


def allowed_by(lines: Mapping[str, Any], log: Mapping[str, Any]) -> int:
    """Return the number of the largest reduction that a log allows."""
    within = [losses(lines, log, at)[AT_MOST] <= MAX_LOSS for at in range(len(REDUCTIONS))]
    return max(np.flatnonzero(within).tolist(), default=0)


def markdown(raw: dict[str, Any]) -> str:
    chosen, cells = list(choices(raw)), list(cells_of(raw["sets"]))
    head = ("query set", "kind", "log", "same first answer", "dropped", "bytes", "bound",
            "expected", "careful", *(f"measured, {name}" for name in SHOWN))  # fmt: skip
    rows = [
        [c["set"], QUERY_SETS[c["set"]].kind, str(c["log"]), f"{c['same']:.2f}",
         f"{c['reduction']:.0%}", f"{c['size'] - 1:+.0%}", f"{0 - c['bound']:+.1%}",
         *(f"{-c[line]:+.1%}" for line in LINES), *(f"{gain:+.1%}" for gain in c["gains"])]
        for c in chosen
    ]  # fmt: skip
    above = [sum(c.loss > bound for c in cells for bound in [b(c)])
             for b in (lambda c: c.bound, lambda c: c.bound_at_most)]  # fmt: skip
    said = (
        f"{len(cells)} cells (sets x reductions): the loss against the re-weighted index with "
        f"nothing dropped is above the bound in {above[0]}, and above the end of the bound's 95 % "
        f"interval in {above[1]}."
    )
    lines = "\n".join(f"- {name}: {line}" for name, line in fit_lines(raw["sets"]).items())
    return f"{machine()}\n\n{said}\n\n{lines}\n\n{markdown_table(head, rows)}\n"


def main() -> None:
    parser = left_out_parser(__doc__, list(ROWS))
    parser.add_argument("--install", action="store_true", help=f"write {CALIBRATION.name} too")
    args = parser.parse_args()
    before = args.output / "raw.json"
    raw: dict[str, Any] = json.loads(before.read_text()) if before.exists() else {"sets": {}}
    for name in args.only:
        known = all(each.label(name) in raw["sets"] for each in ROWS[name].sets)
        if known or not source_of(name, args.collections).exists():
            continue
        judged = read_collection(name, args.collections, args.work, MOST, 0)
        raw["sets"].update(measured_sets(judged, prior_without(name, args.prior_run)))
        print(name, flush=True)
        write_run(args.output, "", raw, ("log.md", "raw.json"))
    raw["lines"] = fit_lines(raw["sets"])
    write_run(args.output, markdown(raw), raw, ("log.md", "raw.json"))
    if args.install:
        CALIBRATION.write_text(json.dumps(raw["lines"], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
