"""The prior's settings: candidates, what each is worth on a collection, and the choice."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from prior_collections import Judged, collection_of

from tdv_lucene.prior.alone import prior_values
from tdv_lucene.prior.prior import Prior
from tdv_lucene.ranking import SearchParameters as Parameters

REDUCTIONS = (0.45, 0.3, 0.15)
"""Settings are chosen at the first; the first that is bearable is recommended with them."""
PRIOR_RUN = Path(__file__).parent / "runs" / "2026-11-22-prior"
ENOUGH = 0.03
"""A gain above this counts as this: to lose nowhere is worth more than to win much somewhere. A
larger loss on any query set is not bearable."""


def _bm25(k1: float, b: float, boost: float, span: float, slope: float) -> dict[str, float]:
    return {"k1": k1, "b": b, "boost": boost, "span": span, "slope": slope, "scale": 3}


_QLD: list[dict[str, float]] = [
    {**settings, "slope": slope, "scale": 1}
    for settings, slopes in (
        *(({"mu": mu}, (0, 0.4, 0.8)) for mu in (300, 500, 1000)),
        *(
            ({"mu": mu, "mu_power": power}, (0, 0.4, 0.8))
            for mu, power in ((100, 0.7), (150, 0.7), (100, 1), (150, 1), (200, 1), (100, 1.5))
        ),
        *(
            ({"mu": mu, "mu_tokens_power": power}, (0,))
            for mu, power in ((50, 0.6), (70, 0.6), (100, 0.6), (100, 0.5), (150, 0.5), (70, 0.7))
        ),
        *(
            ({"mu": mu, "mu_power": power, "mu_tokens_power": 0.3}, (0,))
            for mu, power in ((100, 0.5), (150, 0.5), (200, 0.5), (150, 0.7))
        ),
    )
    for slope in slopes
]
_TFIDF: list[dict[str, float]] = [
    {"slope": slope, "scale": scale}
    for slope in (0, 0.4)
    for scale in (3, 1, 0.75, 0.5, 0.3, 0.2, 0.1)
]
CANDIDATES: dict[tuple[str, str], list[dict[str, float]]] = {
    ("bm25", "positions"): [
        _bm25(2, 0.4, 1.5, 8, 0.8),
        *(_bm25(k1, 0.4, 1.5, 8, 0.8) for k1 in (1.2, 1.5, 2.5, 3)),
        _bm25(2, 0.6, 1.5, 8, 0.8),
        *(_bm25(2, 0.4, boost, 8, 0.8) for boost in (1, 2)),
        *(_bm25(2, 0.4, 1.5, span, 0.8) for span in (4, 16)),
        *(_bm25(2, 0.4, 1.5, 8, slope) for slope in (0, 0.5, 1)),
        *(
            {**_bm25(k1, 0.4, 1.5, 8, 0.8), "k1_power": power}
            for k1, power in ((2, 0.3), (1.5, 0.3), (2, 0.5), (1.5, 0.5))
        ),
        _bm25(1.2, 0.4, 0.5, 8, 0.4),
    ],
    ("bm25", "no positions"): [
        {"k1": k1, "b": 0.4, "slope": slope, "scale": 3}
        for k1, slope in ((0.9, 0.4), (0.9, 0.8), (1.5, 0.4), (1.5, 0.8), (2, 0.8), (3, 0.8))
    ]
    + [
        {"k1": k1, "k1_power": power, "b": 0.4, "slope": 0.8, "scale": 3}
        for k1, power in ((1.5, 0.3), (2, 0.3), (1.5, 0.5), (2, 0.5))
    ],
    ("qld", "positions"): [{"boost": 1.5, "span": 8, **settings} for settings in _QLD],
    ("qld", "no positions"): list(_QLD),
    ("tfidf", "positions"): [
        *_TFIDF,
        *({"boost": 0.5, "span": 8, "slope": 0, "scale": scale} for scale in (3, 0.75)),
    ],
    ("tfidf", "no positions"): list(_TFIDF),
}
"""Round numbers about what a first look at all collections liked; the choice among them is made
again with each collection left out."""
AS_IT_IS: dict[str, dict[str, float]] = {
    "bm25": {"k1": 0.9, "b": 0.4, "slope": 0, "scale": 1},
    "qld": {"mu": 1000, "slope": 0, "scale": 1},
    "tfidf": {"slope": 0, "scale": 1},
}
"""An index with nothing dropped, frequencies as they are and Anserini's parameters: it loses
nothing."""
AS_WITH = {("qld", "no positions"): ("qld", "positions")}
"""Whose choice is another's: how much to smooth does not depend on positions."""


def measure(
    judged: Judged,
    key: tuple[str, str],
    settings: dict[str, float],
    network: dict[str, Any],
    reduction: float = REDUCTIONS[0],
) -> np.ndarray:
    """Return float64[n, 3]: the measures of every query on the integer index that ``prune`` writes
    without judgements."""
    model, positions = key
    content = {
        "name": "candidate", "network": network, "ranges": {},
        "settings": {model: {positions: {**settings, "reduction": reduction}}},
    }  # fmt: skip
    values = prior_values(
        judged.problem.matrix,
        model=model,
        lead=positions == "positions",
        prior=Prior(content, ""),
        reductions=(reduction,),
    )
    point = values.at_reduction(reduction)
    problem = judged.of_model(model).with_parameters(Parameters(**values.parameters))
    left, collection = problem.pruned(point)
    return left.measure(collection)


def gains_by_set(judged: Judged, measured: np.ndarray, full: np.ndarray) -> dict[str, list[float]]:
    """Query set -> the gains of nDCG@5 and of R@1000 over the full index, as shares."""
    return {
        name: (measured[some].mean(axis=0) / full[some].mean(axis=0) - 1)[:2].tolist()
        for name, some in judged.sets.items()
    }


Gains = dict[str, dict[str, list[float]]]
"""Collection -> query set -> the gains of nDCG@5 and of R@1000."""


def utility(gains: Gains) -> float:
    """Of the gains by collection and set: the mean over collections, a large gain cut off."""
    by_collection = [
        np.mean([min(of_set[0], ENOUGH) for of_set in sets.values()]) for sets in gains.values()
    ]
    return float(np.mean(by_collection))


def worst(gains: Gains) -> float:
    """The largest loss anywhere."""
    return min(of_set[0] for sets in gains.values() for of_set in sets.values())


def choose(candidates: Sequence[Gains], without: str | None, by: Any = utility) -> int:
    """Return the best candidate on all collections but ``without``."""
    return int(np.argmax([by(_left_of(gains, without)) for gains in candidates]))


def recommend(gains_at: Callable[[float], Gains], without: str | None) -> float | None:
    """Return the largest reduction at which no query set of a collection but ``without`` loses more
    than is bearable; None where there is none."""
    return next(
        (r for r in REDUCTIONS if worst(_left_of(gains_at(r), without)) >= -ENOUGH), None
    )  # fmt: skip


def _left_of(gains: Gains, without: str | None) -> Gains:
    return {collection: sets for collection, sets in gains.items() if collection != without}


def gains_key(reduction: float) -> str:
    """Where ``raw.json`` keeps the gains at a reduction."""
    return f"gains at {reduction:.0%}"


def gains_of(
    raw: dict[str, Any], key: tuple[str, str], number: int, reduction: float
) -> dict[str, dict[str, list[float]]]:
    """Of a candidate: collection -> query set -> gains."""
    gains: dict[str, dict[str, list[float]]] = {}
    for name, of_candidates in raw[gains_key(reduction)]["/".join(key)].items():
        of_this = of_candidates[json.dumps(CANDIDATES[key][number])]
        gains.setdefault(collection_of(name), {}).update(of_this)
    return gains


def chosen(
    raw: dict[str, Any], key: tuple[str, str], without: str | None, by: Any = utility
) -> int:
    """The candidate that the collections but ``without`` choose."""
    key = AS_WITH.get(key, key)
    all_of_them = range(len(CANDIDATES[key]))
    return choose([gains_of(raw, key, n, REDUCTIONS[0]) for n in all_of_them], without, by)


def settings_of(
    raw: dict[str, Any], key: tuple[str, str], without: str | None, by: Any = utility
) -> tuple[dict[str, float], Gains]:
    """What the collections but ``without`` choose, and the reduction; their gains there.

    Where the choice ``by`` what it gains is bearable at no reduction, it is the one that loses
    least anywhere; and where that is not bearable either, nothing is dropped and the index ranks as
    it is.
    """
    for way in (by, worst):
        number = chosen(raw, key, without, way)
        reduction = recommend(partial(gains_of, raw, key, number), without)
        if reduction is not None:
            settings = {**CANDIDATES[key][number], "reduction": reduction}
            return settings, gains_of(raw, key, number, reduction)
    measured = gains_of(raw, key, number, REDUCTIONS[0])
    unchanged = {c: {name: [0.0, 0.0] for name in sets} for c, sets in measured.items()}
    return {**AS_IT_IS[key[0]], "reduction": 0.0}, unchanged


def prior_without(name: str, folder: Path = PRIOR_RUN) -> Prior:
    """The prior made without the collection ``name``, from ``prior.py``'s output ``folder``."""
    run = json.loads((folder / "raw.json").read_text(encoding="utf-8"))
    row = next(of_set for each, of_set in run["table"].items() if each.startswith(name))
    settings: dict[str, Any] = {}
    for model, positions in CANDIDATES:
        found = row[f"{model}/{positions}"]["settings"]
        settings.setdefault(model, {})[positions] = found
    content = {
        "name": "leave-one-out",
        "network": run["networks"][collection_of(name)], "ranges": {}, "settings": settings,
    }  # fmt: skip
    return Prior(content, "")
