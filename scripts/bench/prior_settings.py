"""The prior's settings: candidates, what each is worth on a collection, and the choice."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from prior_collections import QUERY_SETS, Judged, collection_of

from tdv_lucene.evaluation.measures import ndcg
from tdv_lucene.learning.prior import ASKED, DETAILS, Prior, prior_values
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.simulation.collection import WeightedCollection
from tdv_lucene.simulation.problem import Problem
from tdv_lucene.simulation.retrieval import ranks_of

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
    """What is left of query sets without a collection."""
    return {name: of for name, of in gains.items() if collection_of(name) != without}


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
    parser.add_argument("--only", nargs="*", default=collections)
    return parser


def prior_without(name: str, folder: Path = PRIOR_RUN) -> Prior:
    """The prior made without the collection ``name``, from ``prior.py``'s output ``folder``."""
    raw = json.loads((folder / "raw.json").read_text(encoding="utf-8"))
    priors = raw["priors"]
    return Prior({**priors.get(collection_of(name), priors[""]), "ranges": {}}, "")
