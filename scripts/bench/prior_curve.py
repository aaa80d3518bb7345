#!/usr/bin/env python3
"""What judgements add to the prior: nDCG@5 at 45 % against the number of judged queries.

    scripts/bench/prior_curve.py --collections DIR --work DIR --prior-run DIR --output FILE
        [--only cranfield ...] [--draws 20]

``--prior-run`` is the output of ``prior.py``: each collection has the prior made without it. A draw
takes so many queries at random, learns on them, and measures on all others.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from prior_collections import Judged, collection_of, read_collections
from prior_settings import CANDIDATES, ORDER, REDUCTION, SCALE

from tdv_lucene import learn_term_values
from tdv_lucene.learning.prior import Prior
from tdv_lucene.learning.prior_alone import prior_values
from tdv_lucene.learning.recipes import DefaultRecipe, Parameters
from tdv_lucene.ranking import GRIDS
from tdv_lucene.values.term_values import TermValues
from tdv_lucene.values.weighted_collection import apply_values

SIZES = (1, 5, 10, 20, 40)
TODAY = DefaultRecipe(prior=False, reductions=(REDUCTION,))
WITH_PRIOR = DefaultRecipe(reductions=(REDUCTION,))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("collections", "work", "prior-run", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--without-today", action="store_true", help="leave out what is slow")
    args = parser.parse_args()
    run = json.loads((args.prior_run / "raw.json").read_text())
    found = json.loads(args.output.read_text()) if args.output.exists() else {}
    for judged in read_collections(args.collections, args.work, 10**6, 0, args.only):
        prior = _prior_without(run, judged)
        for name, size, draw in itertools.product(judged.sets, args.sizes, range(args.draws)):
            of_set = found.setdefault(name, {}).setdefault(str(size), [])
            if draw < len(of_set) or size > len(judged.sets[name]) * 2 // 3:
                continue
            of_set.append(_draw(judged, judged.sets[name], prior, size, draw, args.without_today))
            args.output.write_text(json.dumps(found, indent=1))
        for size, draws in found.get(next(iter(judged.sets)), {}).items():
            means = {k: float(np.mean([d[k] for d in draws])) for k in draws[0]} if draws else {}
            print(judged.name, size, {k: round(v, 4) for k, v in means.items()}, flush=True)


def _prior_without(run: dict[str, Any], judged: Judged) -> Prior:
    """The prior made without this collection."""
    row = run["table"][next(iter(judged.sets))]
    settings: dict[str, Any] = {}
    for model, positions in CANDIDATES:
        found = row[f"{model}/{positions}"]["settings"]
        settings.setdefault(model, {})[positions] = found
    content = {
        "name": "leave-one-out", "order": ORDER, "scale": SCALE, "reduction": REDUCTION,
        "network": run["networks"][collection_of(judged.name)], "ranges": {}, "settings": settings,
    }  # fmt: skip
    return Prior(content, "")


def _draw(
    judged: Judged, some: np.ndarray, prior: Prior, size: int, draw: int, without_today: bool
) -> dict[str, float]:
    order = np.random.default_rng([size, draw]).permutation(some)
    train, test = order[:size], order[size:]
    problem = judged.problem
    topics, qrels = _queries(judged, train)
    started = time.perf_counter()
    learned = learn_term_values(
        problem.matrix, topics, qrels, recipe=WITH_PRIOR, prior=prior, seed=draw
    )
    seconds = time.perf_counter() - started
    found = {
        "full": _mean(problem.measure(problem.plain, test)),
        "full tuned": _tuned(judged, train, test),
        "no judgements": _measure(
            judged, prior_values(problem.matrix, prior=prior, reductions=(REDUCTION,)), test
        ),
        "with the prior": _measure(judged, learned, test),
        "moved": learned.manifest["prior"]["values"],
        "seconds": seconds,
    }
    if not without_today and size > 1:
        learned = learn_term_values(problem.matrix, topics, qrels, recipe=TODAY, seed=draw)
        found["without a prior"] = _measure(judged, learned, test)
    return found


def _queries(judged: Judged, some: np.ndarray) -> tuple[dict[str, list], dict[str, dict]]:
    """Topics and qrels again, from their numbers."""
    queries, matrix = judged.problem.queries, judged.problem.matrix
    terms, ids = matrix.vocabulary.terms, matrix.doc_ids
    topics, qrels = {}, {}
    for query in some.tolist():
        numbers, times = queries.terms_of(query)
        words = [[terms[int(t)].decode()] * int(n) for t, n in zip(numbers, times)]
        topics[queries.ids[query]] = list(itertools.chain(*words))
        docs, grades = queries.judged_of(query)
        qrels[queries.ids[query]] = {
            ids[int(doc)].decode(): int(grade) for doc, grade in zip(docs, grades)
        }
    return topics, qrels


def _measure(judged: Judged, values: TermValues, test: np.ndarray) -> float:
    point = values.at_reduction(REDUCTION)
    problem = judged.problem.with_position_boost(point.position_boost)
    problem = problem.with_parameters(Parameters(**values.parameters))
    collection = apply_values(problem.matrix, point.tdv, point.scale, point.cut)
    return _mean(problem.measure(collection, test))


def _tuned(judged: Judged, train: np.ndarray, test: np.ndarray) -> float:
    """The full index with the k1 and b that serve the drawn queries best."""
    problem = judged.problem
    choices = [(0.9, 0.4), *itertools.product(*GRIDS["bm25"].values())]
    at = [problem.with_parameters(Parameters(k1=k1, b=b)) for k1, b in choices]
    best = max(at, key=lambda each: _mean(each.measure(problem.plain, train)))
    return _mean(best.measure(problem.plain, test))


def _mean(measured: np.ndarray) -> float:
    return float(measured[:, 0].mean())


if __name__ == "__main__":
    main()
