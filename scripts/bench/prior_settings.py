"""The prior's settings: candidates, what each is worth on a collection, and the choice."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from prior_collections import QUERY_SETS, Judged, collection_of, is_left_out, text_of

from tdv_lucene.evaluation.measures import ndcg
from tdv_lucene.learning.prior import ASKED, DETAILS, KINDS, Prior, prior_values, reduction_for
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.simulation.collection import WeightedCollection
from tdv_lucene.simulation.problem import Problem
from tdv_lucene.simulation.retrieval import ranks_of

REDUCTIONS = tuple(np.round(np.arange(0, 0.81, 0.1), 1).tolist())
"""What is measured; between them a curve is a line."""
STEPS = tuple(np.round(np.arange(0, 0.76, 0.01), 2).tolist())
POWERS = (0.0, 0.1, 0.2, 0.3, 0.4)
LOSS = 0.015
"""More than this no query set of the kind may lose, of nDCG@5 or of R@100, so that one of a
collection that took no part does not lose more than 2 %."""
_WORTH = 0.1
"""Less is not dropped: it saves a few per cent of the bytes."""
_STEPS_BEFORE = 5
"""A reduction is bearable if as many before it are, too: one alone may be so by chance. All before
it need not be, for where little is dropped frequencies are coarser."""
LIMITS = {"shortest": 35, "small": 0.3, "documents": 100_000}
"""Of documents of fewer tokens than ``shortest`` nothing is dropped; in a collection of fewer than
``documents`` no more than ``small``. By the figures of ``log_bound.py``, which :func:`bearable`
reads: R@1000 and short documents were not looked at before."""
_BORNE = {"nDCG@5": 0.02, "nDCG@10": 0.02, "R@100": 0.011, "R@1000": 0.02}
_LARGEST = 1.01

Curves = Mapping[str, np.ndarray]
"""Query set -> float64[REDUCTIONS, measures]: the gains over the full index."""


def curves_of(raw: dict[str, Any], key: Key, without: str | None) -> Curves:
    """With the settings that the collections but ``without`` choose, theirs."""
    settings = json.dumps(chosen(raw, key, without))
    return {
        n: np.array(c) for n, c in left_of(raw["curves"][label(key)][settings], without).items()
    }


def gains_at(curve: np.ndarray, reduction: float) -> np.ndarray:
    """Return float64[measures]."""
    return np.array([np.interp(reduction, REDUCTIONS, column) for column in curve.T])


def rule_of(curves: Curves, lengths: Mapping[str, float]) -> dict[str, float] | None:
    """Return the reduction of a collection of mean length 100 for either kind of query, and the
    power of the length that makes it any other's; None if somebody loses much at any reduction.

    The power is the one with which most is dropped, on the mean of the collections, for queries
    that are asked.
    """
    asked, details = (_of_kind(curves, kind) for kind in KINDS)

    def dropped(power: float) -> float:
        largest = _largest(asked, lengths, power) or 0.0
        by_collection = {collection_of(name): lengths[name] for name in asked}
        return float(np.mean([reduction_for(largest, power, n) for n in by_collection.values()]))

    power = max(POWERS, key=dropped)
    largest, small = (_largest(some, lengths, power) for some in (asked, details))
    if largest is None:
        return None
    found = {ASKED: largest, DETAILS: min(largest, small or 0.0)}
    return {**{k: r if r >= _WORTH else 0.0 for k, r in found.items()}, "power": power}


def _of_kind(curves: Curves, kind: str) -> Curves:
    return {name: curve for name, curve in curves.items() if QUERY_SETS[name].kind == kind}


def _largest(curves: Curves, lengths: Mapping[str, float], power: float) -> float | None:
    """Return the last of ``STEPS`` at which, and shortly before which, nobody loses much."""

    def borne(step: float) -> bool:
        at = ((curve, reduction_for(step, power, lengths[n])) for n, curve in curves.items())
        return all(gains_at(*each)[: len(MEASURED)].min() >= -LOSS for each in at)

    row, largest = 0, None  # bearable steps that end here
    for number, step in enumerate(STEPS):
        row = row + 1 if borne(step) else 0
        if row > min(_STEPS_BEFORE, number):
            largest = step
    return largest


def bearable(of_set: Mapping[str, Any], reductions: Sequence[float]) -> list[float]:
    """Return the ``reductions`` at which a query set of ``log_bound.py`` loses little, in an index
    that is no larger than the full one."""
    figures, limits = of_set["all"], np.array([*_BORNE.values()])
    gains = np.array(figures["pruned"]) / np.array(figures["full"]) - 1
    fits = (gains >= -limits).all(axis=1) & (np.array(of_set["size"]) <= _LARGEST)
    return [reduction for reduction, is_borne in zip(reductions, fits) if is_borne]


CHOSEN_AT = {ASKED: 0.45, DETAILS: 0.0}
"""Settings are chosen by what queries of a kind gain where so many postings are dropped."""
PRIOR_RUN = Path(__file__).parent / "runs" / "2026-11-24-prior"
ENOUGH = 0.03
"""A gain above this counts as this: to lose nowhere is worth more than to win much somewhere."""
MEASURED = ("nDCG@5", "R@100")
SHOWN = (*MEASURED, "R@1000")
Key = tuple[str, str]
"""A model, and whether there are positions."""


def _bm25(k1: float, power: float, b: float = 0.4, boost: float = 1.5, span: float = 8,
          slope: float = 0.8) -> dict[str, float]:  # fmt: skip
    return {"k1": k1, "k1_power": power, "b": b, "boost": boost, "span": span, "slope": slope,
            "scale": 3}  # fmt: skip


_QLD: list[dict[str, float]] = [
    {"mu": mu, "mu_power": power, "slope": 0, "scale": 1}
    for mu, power in ((100, 0.7), (300, 0), (1000, 0))
]
_TFIDF: list[dict[str, float]] = [{"slope": slope, "scale": 0.2} for slope in (0, 0.4)]
CANDIDATES: dict[Key, list[dict[str, float]]] = {
    ("bm25", "positions"): [
        *(_bm25(k1, power) for k1, power in ((1.5, 0.3), (1.2, 0.3), (1.2, 0.5), (2, 0.3))),
        *(_bm25(k1, 0.3, b=0.6) for k1 in (1.2, 1.5)),
        _bm25(1.5, 0.3, boost=1),
        _bm25(1.5, 0.3, slope=0.5),
    ],
    ("bm25", "no positions"): [
        {"k1": k1, "k1_power": power, "b": 0.4, "slope": 0.8, "scale": 3}
        for k1, power in ((0.9, 0), (1.2, 0), (1.5, 0))
    ],
    ("qld", "positions"): [{"boost": 1.5, "span": 8, **settings} for settings in _QLD],
    ("qld", "no positions"): _QLD,
    ("tfidf", "positions"): _TFIDF,
    ("tfidf", "no positions"): _TFIDF,
}
"""Round numbers about what a first look at all collections liked; the choice among them is made
again with each collection left out."""
AS_WITH: dict[Key, Key] = {("tfidf", "no positions"): ("tfidf", "positions")}
"""What is measured as another: without a first-position boost, positions do nothing."""
NOTHING = {ASKED: 0.0, DETAILS: 0.0, "power": 0.0}


def label(key: Key) -> str:
    """Where ``raw.json`` keeps what was measured."""
    return "/".join(AS_WITH.get(key, key))


def measure(problem: Problem, collection: WeightedCollection, some: np.ndarray) -> np.ndarray:
    """Return float64[n, 3]: what is ``SHOWN`` of ``some`` queries, 0 of all others."""
    queries, impacts = problem.queries, problem.impacts(collection, some)
    found = np.zeros((len(queries), len(SHOWN)))
    for query, scores in problem.postings.scores(impacts, some):
        docs, grades = queries.judged_of(query)
        ranks, ideal = ranks_of(scores, docs[grades > 0]), queries.ideal_grades[query]
        lists = (ranks, grades[grades > 0].astype(float)), (ideal.astype(float),)
        numbered = [part for some in lists for part in (np.zeros(len(some[-1]), int), *some)]
        found[query, 0] = ndcg(*numbered, depth=5, number=1)[0]
        found[query, 1:] = [(ranks <= depth).sum() / len(ideal) for depth in (100, 1000)]
    return found


def measure_pruned(
    judged: Judged, key: Key, prior: Prior, reductions: Sequence[float]
) -> list[np.ndarray]:
    """Return :func:`measure` of the integer indexes that ``prune`` writes without judgements."""
    model, positions = key
    values = prior_values(
        judged.problem.matrix, model=model, lead=positions == "positions", prior=prior,
        reductions=reductions, quiet=True,
    )  # fmt: skip
    problem = judged.of_model(model).with_parameters(Parameters(**values.parameters))
    left = (problem.pruned(values.at_reduction(reduction)) for reduction in reductions)
    return [measure(problem, collection, judged.in_sets) for problem, collection in left]


def prior_of(network: dict[str, Any], key: Key, settings: dict[str, Any]) -> Prior:
    """A prior that knows one thing."""
    found = {"reduction": NOTHING, **settings}
    content = {"name": "candidate", "network": network, "ranges": {},
               "settings": {key[0]: {key[1]: found}}}  # fmt: skip
    return Prior(content, "")


Gains = dict[str, list[float]]
"""Query set -> the gains over the full index of what is ``SHOWN``, as shares."""


def gains_by_set(judged: Judged, measured: np.ndarray, full: np.ndarray) -> Gains:
    return {
        name: np.round(measured[some].mean(axis=0) / full[some].mean(axis=0) - 1, 5).tolist()
        for name, some in judged.sets.items()
    }


def kinds_of(judged: Judged) -> dict[str, Judged]:
    """The kinds of queries that the prior is made of, each with its query sets."""
    kinds = {kind: judged.only(lambda s, k=kind: s.made and s.kind == k) for kind in CHOSEN_AT}
    return {kind: some for kind, some in kinds.items() if some.sets}


def utility(gains: Gains) -> float:
    """The mean over collections and kinds of what is gained of nDCG@5, a large gain cut off."""
    groups: dict[tuple[str, str], list[float]] = {}
    for name, of_set in gains.items():
        group = collection_of(name), QUERY_SETS[name].kind
        groups.setdefault(group, []).append(min(of_set[0], ENOUGH))
    return float(np.mean([np.mean(group) for group in groups.values()]))


def left_of(gains: dict[str, Any], without: str | None) -> dict[str, Any]:
    """What is left of query sets without a collection or a kind of text."""
    return {name: of for name, of in gains.items() if not is_left_out(name, without)}


def chosen(raw: dict[str, Any], key: Key, without: str | None) -> dict[str, float]:
    """The candidate that the collections but ``without`` choose."""
    gains = raw["gains"][label(key)]
    return max(CANDIDATES[key], key=lambda c: utility(left_of(gains[json.dumps(c)], without)))


def left_out_parser(about: str | None, collections: Sequence[str]) -> argparse.ArgumentParser:
    """Of what measures collections, each by the prior that was made without it."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("collections", "work", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--prior-run", type=Path, default=PRIOR_RUN)
    parser.add_argument("--kinds", action="store_true", help="leave out all of a kind of text")
    parser.add_argument("--only", nargs="*", default=collections)
    return parser


def prior_without(name: str, folder: Path = PRIOR_RUN, kind: bool = False) -> Prior:
    """Return the prior made without the collection ``name``, or without any of its ``kind``, from
    ``prior.py``'s output ``folder``."""
    raw = json.loads((folder / "raw.json").read_text(encoding="utf-8"))
    priors = raw["priors"]
    alone = priors.get(collection_of(name), priors[""])
    made = priors.get(text_of(name), alone) if kind else alone
    return Prior({**made, "ranges": {}}, "")
