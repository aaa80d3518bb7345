#!/usr/bin/env python3
"""What each kind of evidence gives: none, a query log, judgements; and what `learn` prints of it.

Of a query set at most ``--most`` queries are drawn, and halved at random. One half is a query log,
and then judged queries: each chooses an index, the prior's default is a third, and k1 and b of the
full index are tuned. The other half measures them all. The prior, and the lines that say what a log
means, are those made without the collection.

    scripts/bench/evidence.py --collections DIR --work DIR --output RUN
        [--prior-run DIR] [--log-run DIR] [--only cranfield ...] [--splits 4] [--most 600]

``--prior-run`` and ``--log-run`` are outputs of ``prior.py`` and ``log_bound.py``. A split is kept
in ``RUN/evidence.json`` when it is done, and not measured again. Where no point is sure enough for
`--max-loss 0.01`, `prune` refuses: nothing is lost then.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from judged_draws import Draws
from log_bound import allowed_by, columns, figures_of, measure
from log_lines import fit_lines
from prior_collections import QUERY_SETS, ROWS, Judged, collection_of, read_collections
from prior_settings import left_out_parser, prior_without
from results import machine, markdown_table, write_run

from tdv_lucene import TdvError
from tdv_lucene.evaluation.tuning import OBJECTIVE
from tdv_lucene.learning.recipes import DefaultRecipe
from tdv_lucene.prior.alone import prior_values
from tdv_lucene.prior.prior import KINDS, Prior
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.simulation.estimated_bytes import estimate_bytes
from tdv_lucene.simulation.problem import Problem
from tdv_lucene.values.losses import point_within_loss
from tdv_lucene.values.operating_point import REDUCTIONS
from tdv_lucene.values.term_values import TermValues

MAX_LOSS = 0.01
LOG_RUN = Path(__file__).parent / "runs" / "2026-11-24-log"
SEED = 40
_FILES = ("evidence.md", "evidence.json")


class Pruned(NamedTuple):
    """``bytes`` are a share of the full index's, posting lists and dictionary, estimated."""

    reduction: float
    bytes: float
    measured: np.ndarray

    def of(self, test: np.ndarray) -> dict[str, Any]:
        measures = self.measured[test].mean(axis=0)
        return {"reduction": self.reduction, "bytes": self.bytes, "measures": measures.tolist()}


class Evidence:
    """A collection, and what is measured once of it: of every query float64[n, 3], what is
    ``log_bound.SHOWN``, of the full index, of the prior's default for either kind of queries, and
    at every reduction that a log may choose."""

    def __init__(self, judged: Judged, prior: Prior) -> None:
        self._draws, self._problem = Draws(judged, prior), judged.problem
        self._found, self._log = measure(judged, prior)
        plain = self._problem.plain
        self._whole = self._problem.full.judged.plain_bytes
        self._full = self._measured(self._problem, plain)
        self._alone = {kind: self._by_prior(prior, kind) for kind in KINDS}

    def _measured(self, problem: Problem, collection: Any) -> np.ndarray:
        return problem.measure(collection, np.arange(len(problem.queries)))[:, columns()]

    def _by_prior(self, prior: Prior, kind: str) -> Pruned:
        values = prior_values(
            self._problem.matrix, prior=prior, expect=kind, reductions=(None,), quiet=True
        )
        return self._pruned(values, values.recommended_reduction)

    def _pruned(self, values: TermValues, reduction: float) -> Pruned:
        """That of the index that ``prune --reduction`` would write."""
        problem = self._problem.with_parameters(Parameters(**values.parameters))
        left, collection = problem.pruned(values.at_reduction(reduction))
        size = estimate_bytes(left.matrix, collection) / self._whole
        return Pruned(reduction, size, self._measured(left, collection))

    def split(self, some: np.ndarray, seed: int) -> dict[str, Any]:
        """What is chosen by half of ``some`` queries, measured on the other half."""
        train, test = np.array_split(np.random.default_rng([SEED, seed]).permutation(some), 2)
        values = self._draws.learn(train, DefaultRecipe(), seed)
        points = [self._point(values, point, test) for point in values.points]
        reductions = [point["reduction"] for point in points]
        return {
            "queries": len(train),
            "full": self._full[test].mean(axis=0).tolist(),
            "tuned": self._tuned(train, test),
            **{kind: self._alone[kind].of(test) for kind in KINDS},
            "log": self._by_log(train, test),
            "points": points,
            "judged": points[reductions.index(values.recommended_reduction)],
            "max loss": self._within_loss(values, test),
            "printed": _printed(values),
        }

    def _point(self, values: TermValues, point: Mapping[str, Any], test: np.ndarray) -> Any:
        """An operating point: what `learn` measured of it, and what it is on the other half."""
        held_out = {name: point["difference"][name] for name in (OBJECTIVE, "R@1000")}
        pruned = self._pruned(values, point["reduction"]).of(test)
        return {**pruned, "posting_bytes": point["posting_bytes"], "difference": held_out}

    def _tuned(self, train: np.ndarray, test: np.ndarray) -> list[float]:
        problem = self._problem.with_parameters(self._draws.tuned_on(train))
        return problem.measure(problem.plain, test)[:, columns()].mean(axis=0).tolist()

    def _by_log(self, train: np.ndarray, test: np.ndarray) -> dict[str, Any]:
        """What ``train`` says as a log, by the queries that find something, and all that it may
        choose. Lines choose, when all collections are there to make them."""
        measured = np.zeros((len(REDUCTIONS), *self._full.shape))
        measured[:, self._found] = self._log.pruned
        points = zip(REDUCTIONS, self._log.size.tolist(), measured)
        says = figures_of(self._log, np.flatnonzero(np.isin(self._found, train)))
        return {"says": says, "points": [Pruned(*point).of(test) for point in points]}

    def _within_loss(self, values: TermValues, test: np.ndarray) -> dict[str, Any] | None:
        try:
            point = point_within_loss(values.points, MAX_LOSS)
        except TdvError:
            return None
        return self._pruned(values, point["reduction"]).of(test)


def _printed(values: TermValues) -> dict[str, Any]:
    """What ``learn`` prints of the recommended point: of its own queries, and of as many others."""
    reduction = values.recommended_reduction
    point = next(p for p in values.points if p["reduction"] == reduction)
    return {"point": point["difference"][OBJECTIVE], "choice": values.manifest["choice"]}


def measure_all(args: argparse.Namespace, raw: dict[str, Any]) -> None:
    for judged in read_collections(args.collections, args.work, args.most, 0, args.only, shown=0):
        judged = judged.only(lambda each: each.shown)
        done = {name: raw.setdefault(name, []) for name in judged.sets}
        if all(len(splits) >= args.splits for splits in done.values()):
            continue
        evidence = Evidence(judged, prior_without(judged.name, args.prior_run))
        for name, splits in done.items():
            for seed in range(len(splits), args.splits):
                splits.append(evidence.split(judged.sets[name], seed))
                write_run(args.output, "", raw, _FILES)
                print(name, seed, json.dumps(splits[-1]["judged"]), flush=True)


def with_log_choices(raw: Mapping[str, Any], logs: Mapping[str, Any]) -> dict[str, Any]:
    """What the log chose in place of what it may choose, by lines made without the collection."""
    chosen = {}
    for name, splits in raw.items():
        lines = fit_lines(logs, collection_of(name))
        points = [s["log"]["points"][allowed_by(lines, s["log"]["says"])] for s in splits]
        chosen[name] = [{**split, "log": point} for split, point in zip(splits, points)]
    return chosen


def markdown(raw: Mapping[str, Any]) -> str:
    return "\n\n".join([machine(), _table(raw), _intervals(raw), _rules(raw)]) + "\n"


def _table(raw: Mapping[str, Any]) -> str:
    """Means over the splits: nDCG@5, R@100 and R@1000 of the full index, and what is gained."""
    head = ("query set", "kind", "queries", "full", "tuned", "no evidence", "`--expect details`",
            "log", "judgements", "judgements, against tuned")  # fmt: skip
    rows = []
    for name, splits in raw.items():
        if splits:
            mean = {what: _mean(splits, what) for what in ("full", "tuned", *_CHOICES)}
            full, tuned = mean["full"][1], mean["tuned"][1]
            gains = [_gains(mean[what], full) for what in ("tuned", *_CHOICES)]
            rows.append([name, QUERY_SETS[name].kind, str(splits[0]["queries"]),
                         ", ".join(f"{value:.3f}" for value in full), *gains,
                         _gains((None, mean["judged"][1]), tuned)])  # fmt: skip
    return markdown_table(head, rows)


_CHOICES = (*KINDS, "log", "judged")
_PRINTED = ("point", "choice")


def _mean(splits: Sequence[Mapping[str, Any]], what: str) -> tuple[Any, np.ndarray]:
    of = [split[what] for split in splits]
    if not isinstance(of[0], dict):
        return None, np.mean(of, axis=0)
    bytes_ = float(np.mean([each["bytes"] for each in of]))
    return bytes_, np.mean([each["measures"] for each in of], axis=0)


def _gains(found: tuple[float | None, np.ndarray], full: np.ndarray) -> str:
    size, measures = found
    gains = ", ".join(f"{value:+.1%}" for value in measures / full - 1)
    return gains if size is None else f"{size - 1:+.0%}: {gains}"


def _intervals(raw: Mapping[str, Any]) -> str:
    """Whether what `learn` prints of the recommended point holds on the other half."""
    head = ("query set", "splits", "recommended, mean", "of the point", "of the choice", "measured",
            "below the point's interval", "below the choice's", "`--max-loss`: pruned",
            "lost more than 1 %")  # fmt: skip
    measured = {name: splits for name, splits in raw.items() if splits}
    every = [split for splits in measured.values() for split in splits]
    rows = (_interval_row(*row) for row in {**measured, "all": every}.items())
    return markdown_table(head, rows)


def _interval_row(name: str, splits: Sequence[Mapping[str, Any]]) -> list[str]:
    change = np.array([s["judged"]["measures"][0] - s["tuned"][0] for s in splits])
    ends = {of: np.array([s["printed"][of]["ci95"][0] for s in splits]) for of in _PRINTED}
    pruned = [s for s in splits if s["max loss"]]
    losses = [1 - s["max loss"]["measures"][0] / s["tuned"][0] for s in pruned]
    return [name, str(len(splits)), f"{np.mean([s['judged']['reduction'] for s in splits]):.0%}",
            *(f"{np.mean([s['printed'][of]['mean'] for s in splits]):+.3f}" for of in _PRINTED),
            f"{change.mean():+.3f}", *(str(int((change < ends[of]).sum())) for of in _PRINTED),
            str(len(pruned)),
            str(sum(loss > MAX_LOSS for loss in losses))]  # fmt: skip


RULES: dict[str, tuple[float, bool]] = {
    "above by the 95 % interval, else drop nothing": (1.0, False),
    "above by half of it, else drop nothing": (0.5, False),
    "above by half of it, else the best (`learn`)": (0.5, True),
    "above on the mean, else the best": (0.0, True),
}
"""The share of the interval's half that held-out queries must be above by, and whether the best is
taken where none is."""


def _rules(raw: Mapping[str, Any]) -> str:
    """What other rules would have recommended of the same points."""
    head = ("rule", "bytes, mean of the sets", "nDCG@5 against tuned, mean", "worst set",
            "sets more than 1 % below", "R@1000, worst set")  # fmt: skip
    rows = []
    for name, rule in RULES.items():
        sets = [_by_rule(splits, *rule) for splits in raw.values() if splits]
        size, ndcg, recall = np.array(sets).T
        rows.append([name, f"{size.mean():+.0%}", f"{ndcg.mean():+.1%}", f"{ndcg.min():+.1%}",
                     str(int((ndcg < -0.01).sum())), f"{recall.min():+.1%}"])  # fmt: skip
    return markdown_table(head, rows)


def _by_rule(splits: Sequence[Mapping[str, Any]], share: float, best: bool) -> list[float]:
    """Changes of bytes, against the full index, and of nDCG@5 and R@1000, against the tuned one."""
    chosen = [_chosen(split["points"], share, best) for split in splits]
    measured = np.mean([point["measures"] for point in chosen], axis=0)
    tuned = np.mean([split["tuned"] for split in splits], axis=0)
    change = measured / tuned - 1
    return [float(np.mean([point["bytes"] for point in chosen])) - 1, change[0], change[2]]


def _chosen(points: Sequence[Mapping[str, Any]], share: float, best: bool) -> Mapping[str, Any]:
    def margin(point: Mapping[str, Any]) -> float:
        of = point["difference"][OBJECTIVE]
        return float(of["mean"] - share * (of["mean"] - of["ci95"][0]))

    finding = [p for p in points if p["difference"]["R@1000"]["ci95"][1] >= 0]
    above = [point for point in finding if margin(point) >= 0]
    if above:
        return min(above, key=lambda point: float(point["posting_bytes"]))
    if best and finding:
        return max(finding, key=lambda point: float(point["difference"][OBJECTIVE]["mean"]))
    return points[0]


def main() -> None:
    parser = left_out_parser(__doc__, list(ROWS))
    parser.add_argument("--log-run", type=Path, default=LOG_RUN)
    parser.add_argument("--splits", type=int, default=4, help="of each query set")
    parser.add_argument("--most", type=int, default=600, help="queries of a set, at most")
    args = parser.parse_args()
    kept = args.output / _FILES[1]
    raw = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    measure_all(args, raw)
    logs = json.loads((args.log_run / "raw.json").read_text(encoding="utf-8"))["sets"]
    write_run(args.output, markdown(with_log_choices(raw, logs)), raw, _FILES)


if __name__ == "__main__":
    main()
