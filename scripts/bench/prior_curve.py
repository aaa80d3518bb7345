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

import numpy as np
from judged_draws import Draws
from prior_collections import read_collections
from prior_settings import CHOSEN_AT, prior_without

from tdv_lucene.learning.recipes import DefaultRecipe
from tdv_lucene.prior.alone import prior_values
from tdv_lucene.values.term_values import TermValues

SIZES = (5, 10, 20, 40)
REDUCTION = CHOSEN_AT["asked"]
TODAY = DefaultRecipe(prior=False, reductions=(REDUCTION,))
WITH_PRIOR = DefaultRecipe(reductions=(REDUCTION,))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("collections", "work", "prior-run", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--without-prior", nargs="*", type=int, default=SIZES, metavar="SIZE",
                        help="sizes to learn at without a prior, too")  # fmt: skip
    args = parser.parse_args()
    found = json.loads(args.output.read_text()) if args.output.exists() else {}
    for judged in read_collections(args.collections, args.work, 10**6, 0, args.only):
        draws = Draws(judged, prior_without(judged.name, args.prior_run))
        matrix = judged.problem.matrix
        alone = prior_values(matrix, prior=draws.prior, reductions=(REDUCTION,))
        for name, size, draw in itertools.product(judged.sets, args.sizes, range(args.draws)):
            of_set = found.setdefault(name, {}).setdefault(str(size), [])
            if draw < len(of_set) or size > len(judged.sets[name]) * 2 // 3:
                continue
            some, today = judged.sets[name], size in args.without_prior
            of_set.append(_draw(draws, alone, some, size, draw, today))
            args.output.write_text(json.dumps(found, indent=1))
        for size, made in found.get(next(iter(judged.sets)), {}).items():
            names = [name for name in (made[0] if made else ()) if all(name in d for d in made)]
            means = {name: float(np.mean([d[name] for d in made])) for name in names}
            print(judged.name, size, {k: round(v, 4) for k, v in means.items()}, flush=True)


def _draw(
    draws: Draws, unlearned: TermValues, some: np.ndarray, size: int, draw: int, today: bool
) -> dict[str, float]:
    order = np.random.default_rng([size, draw]).permutation(some)
    train, test = order[:size], order[size:]
    started = time.perf_counter()
    learned = draws.learn(train, WITH_PRIOR, draw)
    seconds = time.perf_counter() - started
    found = {
        "full": draws.full(test),
        "full tuned": draws.full_tuned(train, test),
        "no judgements": draws.pruned(unlearned, REDUCTION, test),
        "with the prior": draws.pruned(learned, REDUCTION, test),
        "moved": learned.manifest["prior"]["values"],
        "seconds": seconds,
    }
    if today and size > 1:
        found["without a prior"] = draws.pruned(draws.learn(train, TODAY, draw), REDUCTION, test)
    return found


if __name__ == "__main__":
    main()
