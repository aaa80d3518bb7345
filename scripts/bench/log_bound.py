#!/usr/bin/env python3
"""What a pruning without judgements loses, and what a query log tells of it before.

Of every collection, with the prior made without it, and at each reduction: what its query sets gain
over the full index, the bytes, and what the first answers of the re-weighted index with nothing
dropped say (see ``tdv_lucene/learning/log.py``). Each half of a query set is a log, too.

    scripts/bench/log_bound.py --collections DIR --work DIR --output RUN
        [--prior-run DIR] [--only cranfield ...]

``--work`` holds the indexes and matrices (see ``prior_collections.py``). Collections that
``RUN/raw.json`` has are not measured again. ``prior_settings.py`` chooses by it how much the prior
drops.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from prior_collections import QUERY_SETS, ROWS, Judged, read_collection, source_of, text_of
from prior_settings import bearable, left_out_parser, prior_without
from results import machine, markdown_table, write_run

from tdv_lucene.learning.log import MAX_LOSS, TEN, fidelity_of
from tdv_lucene.learning.prior import Prior, mean_length, prior_values
from tdv_lucene.learning.validate import interval_of_log
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.simulation.bytes import estimate_bytes
from tdv_lucene.simulation.problem import Problem
from tdv_lucene.simulation.retrieval import MEASURES
from tdv_lucene.values.posting_rule import REDUCTIONS as POINTS

SHOWN = ("nDCG@5", "nDCG@10", "R@100", "R@1000")
REDUCTIONS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8)
COLUMNS = [MEASURES.index(name) for name in SHOWN]
MOST = 300
"""Queries of a set, at most."""
SEED = 35
BEARABLE = 0.03
"""What no half of a query set may lose at the loss that a log is told to allow."""
ALLOWED = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.15, 0.2)
"""Losses that a log may be told to allow."""


class Measured(NamedTuple):
    """Queries of a collection that find something: n of them, at R reductions.

    Attributes
    ----------
    full : float64[n, 4]
        Of the index as it is, with Anserini's parameters: what is ``SHOWN``.
    finest : float64[n, 4]
        Of the re-weighted index with nothing dropped, at the largest scale: the whole.
    pruned : float64[R, n, 4]
    by_first : float64[R, n]
        nDCG@5 by the first answers of the whole.
    kept : float64[R, n, 3]
        The shares of the whole's ten best in the first 10, 100 and 1,000.
    size : float64[R]
        Bytes as a share of the index as it is: posting lists and dictionary, estimated.
    """

    full: np.ndarray
    finest: np.ndarray
    pruned: np.ndarray
    by_first: np.ndarray
    kept: np.ndarray
    size: np.ndarray


def measure(judged: Judged, prior: Prior) -> tuple[np.ndarray, Measured]:
    """Return int64[n], the numbers of the queries that find something, and what was measured."""
    problem = judged.problem
    values = prior_values(problem.matrix, prior=prior, reductions=REDUCTIONS, quiet=True)
    searched = problem.with_parameters(Parameters(**values.parameters))
    finest_scale = max(point["scale"] for point in values.points)
    whole, collection = searched.pruned(replace(values.at_reduction(0.0), scale=finest_scale))
    best = whole.postings.top(whole.impacts(collection), TEN)
    found = np.flatnonzero(best[:, 0] >= 0)
    finest = whole.measure(collection, found)[:, COLUMNS]
    pruned, by_first, kept, sizes = [], [], [], []
    for reduction in REDUCTIONS:
        left, collection = searched.pruned(values.at_reduction(reduction))
        sizes.append(estimate_bytes(left.matrix, collection))
        pruned.append(left.measure(collection, found)[:, COLUMNS])
        by_first.append(_answered(left, best[:, 0]).measure(collection)[:, 0])
        kept.append(fidelity_of(left, collection, best))
    plain = problem.full
    full = plain.measure(plain.plain, found)[:, COLUMNS]
    size = np.array(sizes) / plain.judged.plain_bytes
    return found, Measured(full, finest, np.array(pruned), np.array(by_first), np.array(kept), size)


def _answered(problem: Problem, answers: np.ndarray) -> Problem:
    queries = problem.queries.answered_by(answers)
    return replace(problem, judged=replace(problem.judged, queries=queries))


def figures_of(measured: Measured, some: np.ndarray) -> dict[str, Any]:
    """What ``some`` of the queries say, as a log and as judged queries."""
    differences = measured.by_first[:, some] - 1
    return {
        "queries": len(some),
        "bound": _rounded(-differences.mean(axis=1)),
        "bound_at_most": _rounded([-interval_of_log(of_point)[0] for of_point in differences]),
        "kept": [_rounded(of_point.mean(axis=0)) for of_point in measured.kept[:, some]],
        "full": _rounded(measured.full[some].mean(axis=0)),
        "finest": _rounded(measured.finest[some].mean(axis=0)),
        "pruned": [_rounded(of_point.mean(axis=0)) for of_point in measured.pruned[:, some]],
    }


def _rounded(values: Any) -> list[float]:
    return [round(float(value), 5) for value in values]


def measured_sets(judged: Judged, prior: Prior) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every query set: its figures, those of two halves, and the bytes."""
    found, measured = measure(judged, prior)
    for name, numbers in judged.sets.items():
        some = np.flatnonzero(np.isin(found, numbers))
        order = np.random.default_rng(SEED).permutation(some)
        halves = [figures_of(measured, np.sort(half)) for half in np.array_split(order, 2)]
        yield name, {
            "documents": judged.problem.matrix.shape[1],
            "mean length": round(mean_length(judged.problem.matrix), 2),
            "all": figures_of(measured, some), "halves": halves, "size": _rounded(measured.size),
        }  # fmt: skip


def markdown(raw: dict[str, Any]) -> str:
    """Return what the prior's default gains over the full index, and what each half of a set
    chooses as a log, measured on the other half."""
    prior, rows, cells = Prior.load(), [], []
    for name, of_set in raw["sets"].items():
        documents, length = of_set["documents"], of_set["mean length"]
        at = prior.settings("bm25", True, length, documents=documents).reduction
        size, gains = np.array(of_set["size"]), _gains(of_set["all"])
        by_prior = [float(np.interp(at or 0, REDUCTIONS, c)) for c in (size - 1, *gains.T)]
        by_prior = [0.0] * len(by_prior) if at is None else by_prior
        chosen = [_chosen(log) for log in of_set["halves"]]
        others = [_gains(test)[i] for test, i in zip(of_set["halves"][::-1], chosen)]
        dropped = ", ".join(f"{REDUCTIONS[i]:.0%}" for i in chosen)
        worst = [min(gains) for gains in zip(*others)]
        by_log = [size[chosen].mean() - 1, *worst]
        rows.append(
            [name, QUERY_SETS[name].kind, f"{documents:,}, {length:.0f}", f"{at or 0:.0%}",
             *(f"{value:+.1%}" for value in by_prior),
             " ".join(f"{100 * share:.0f}" for share in bearable(of_set, REDUCTIONS)), dropped,
             *(f"{value:+.1%}" for value in by_log)]
        )  # fmt: skip
        for log, test in (of_set["halves"], of_set["halves"][::-1]):
            lost = 1 - np.array(test["pruned"])[:, 0] / test["finest"][0]
            cells.append(lost <= np.array(log["bound_at_most"]))
    head = ("query set", "kind", "documents, tokens", "prior", "bytes", *SHOWN,
            "borne, %", "log: two halves", "bytes",
            *(f"{name}, the worse" for name in SHOWN))  # fmt: skip
    held = np.array(cells)
    told = (
        f"Of {held.size} cells (half of a set as the log, {len(REDUCTIONS)} reductions) the other "
        f"half lost more than the bound in {(~held).sum()}."
    )
    tables = markdown_table(head, rows), *_of_logs(raw)
    return "\n\n".join([machine(), told, *tables]) + "\n"


class Log(NamedTuple):
    """Half of a query set as a log, the other to test it, and the set's bytes by reduction."""

    kind: str
    log: dict[str, Any]
    test: dict[str, Any]
    size: list[float]

    def chosen(self, most: float) -> tuple[int, float, float, float]:
        """Return the reduction's number at a loss of ``most``, and what the other half loses of
        nDCG@5 and R@1000 against the whole, and of nDCG@5 against the full index."""
        at = _chosen(self.log, most)
        pruned, whole, full = self.test["pruned"][at], self.test["finest"], self.test["full"]
        return at, 1 - pruned[0] / whole[0], 1 - pruned[3] / whole[3], 1 - pruned[0] / full[0]

    def broken(self) -> np.ndarray:
        """Return bool[R]: the other half lost more than the bound."""
        lost = 1 - np.array(self.test["pruned"])[:, 0] / self.test["finest"][0]
        return np.asarray(lost > np.array(self.log["bound_at_most"]))


def _of_logs(raw: dict[str, Any]) -> Iterator[str]:
    """Yield what logs let go by the loss allowed, and each kind left out. Not of sets of which
    nothing is weighted."""
    prior, logs = Prior.load(), []
    for name, of_set in raw["sets"].items():
        if prior.settings("bm25", True, of_set["mean length"]).reduction is not None:
            pairs = (of_set["halves"], of_set["halves"][::-1])
            logs += [Log(text_of(name), *halves, of_set["size"]) for halves in pairs]
    rows = []
    for most in ALLOWED:
        found = [each.chosen(most) for each in logs]
        size = np.mean([each.size[at] for each, (at, *_) in zip(logs, found)]) - 1
        dropping = [lost for at, *lost in found if at]
        over = sum(lost[0] > most for lost in dropping)
        worst = (f"{-max(of_measure):+.1%}" for of_measure in zip(*dropping))
        rows.append([f"{most:.0%}", str(len(dropping)), str(over), f"{size:+.1%}", *worst])
    head = ("loss allowed", f"of {len(logs)} halves drop", "lose more", "bytes",
            "nDCG@5, whole", "R@1000, whole", "nDCG@5, full")  # fmt: skip
    yield markdown_table(head, rows)
    rows = []
    for kind in dict.fromkeys(each.kind for each in logs):
        those, others = ([e for e in logs if (e.kind == kind) is one] for one in (True, False))
        limit = max(most for most in ALLOWED if _worst_loss(others, most) <= BEARABLE)
        losses = (f"{_worst_loss(those, most):.1%}" for most in (limit, MAX_LOSS))
        cells = np.array([each.broken() for each in those])
        rows.append([kind, f"{limit:.0%}", *losses, f"{cells.sum()} of {cells.size}"])
    head = ("left out", f"others lose {BEARABLE:.0%} at most at", "loses there",
            f"at {MAX_LOSS:.0%}", "bound broken")  # fmt: skip
    yield markdown_table(head, rows)


def _worst_loss(logs: Sequence[Log], most: float) -> float:
    return max((lost for at, lost, *_ in (e.chosen(most) for e in logs) if at), default=0.0)


def _gains(figures: dict[str, Any]) -> np.ndarray:
    gains: np.ndarray = np.array(figures["pruned"]) / np.array(figures["full"]) - 1
    return gains


def _chosen(log: dict[str, Any], most: float = MAX_LOSS) -> int:
    """Return the number of the reduction that a log chooses, among those of operating points."""
    return max(
        (
            number
            for number, reduction in enumerate(REDUCTIONS)
            if reduction in POINTS
            and log["bound_at_most"][number] <= most
            and log["kept"][number][-1] >= 1 - most
        ),
        default=0,
    )


def main() -> None:
    args = left_out_parser(__doc__, list(ROWS)).parse_args()
    before = args.output / "raw.json"
    raw: dict[str, Any] = json.loads(before.read_text()) if before.exists() else {"sets": {}}
    for name in args.only:
        known = all(each.label(name) in raw["sets"] for each in ROWS[name].sets)
        if known or not source_of(name, args.collections).exists():
            continue
        judged = read_collection(name, args.collections, args.work, MOST, 0, shown=0)
        prior = prior_without(name, args.prior_run, args.kinds)
        raw["sets"].update(measured_sets(judged, prior))
        write_run(args.output, "", raw, ("log.md", "raw.json"))
        print(name, flush=True)
    write_run(args.output, markdown(raw), raw, ("log.md", "raw.json"))


if __name__ == "__main__":
    main()
