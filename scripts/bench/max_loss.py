#!/usr/bin/env python3
"""Whether `prune --max-loss` keeps its word on queries that learning did not see, and whether the
interval that `learn` prints of the point it recommends does.

Half of a collection's queries, drawn at random, are learned from, from the prior made without the
collection; `--max-loss` takes the operating point; the other half measures what it loses of nDCG@5
against the full index with the k1 and b that serve the first half best. The same is measured of the
recommended point, and held against the lower end of its interval.

    scripts/bench/max_loss.py --collections DIR --work DIR --output RUN
        [--prior-run DIR] [--only cranfield ...] [--splits 10]

``--prior-run`` is the output of ``prior.py``. Where no point is sure enough, `prune` refuses:
nothing is lost then.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from judged_draws import Draws
from prior_collections import read_collections
from prior_settings import left_out_parser, prior_without
from results import machine, markdown_table, write_run

from tdv_lucene import TdvError
from tdv_lucene.evaluation.tuning import OBJECTIVE
from tdv_lucene.learning.recipes import DefaultRecipe
from tdv_lucene.values.losses import point_within_loss
from tdv_lucene.values.term_values import TermValues

COLLECTIONS = ("vaswani", "cranfield", "cisi", "scifact")
MAX_LOSS = 0.01
_HEAD = ("collection", "splits", "pruned", "mean reduction", "lost more than 1 %", "mean loss",
         "recommended, mean reduction", "mean change", "below the interval",
         "below that for fresh queries")  # fmt: skip


def measure_split(draws: Draws, seed: int) -> dict[str, Any]:
    """One split: the reduction taken (None: refused) and the loss as a share."""
    name, sets = draws.judged.name, draws.judged.sets
    some = sets[f"{name}-train"] if f"{name}-train" in sets else sets[name]
    order = np.random.default_rng([40, seed]).permutation(some)
    train, test = np.array_split(order, 2)
    values = draws.learn(train, DefaultRecipe(), seed)
    full = draws.full_tuned(train, test)
    found = {
        "full": draws.full(test),
        "full, tuned": full,
        **_recommended(draws, values, full, test),
    }
    try:
        reduction = point_within_loss(values.points, MAX_LOSS)["reduction"]
    except TdvError:
        return {**found, "reduction": None, "loss": 0.0}
    pruned = draws.pruned(values, reduction, test)
    return {**found, "reduction": reduction, "pruned": pruned, "loss": 1 - pruned / full}


def _recommended(
    draws: Draws, values: TermValues, full: float, test: np.ndarray
) -> dict[str, float]:
    """The recommended point: what the test half says of it, and where intervals end: the one that
    is printed, of a mean, and the one of the difference from the mean of as many fresh queries."""
    reduction = values.recommended_reduction
    point = next(p for p in values.points if p["reduction"] == reduction)
    printed = point["difference"][OBJECTIVE]
    low, mean = printed["ci95"][0], printed["mean"]
    return {
        "recommended": reduction,
        "change": draws.pruned(values, reduction, test) - full,
        "printed": low,
        "for fresh queries": mean + (low - mean) * 2**0.5,
    }


def row_of(name: str, splits: list[dict[str, Any]]) -> list[str]:
    reductions = [s["reduction"] for s in splits if s["reduction"] is not None]
    losses = np.array([split["loss"] for split in splits])
    mean = f"{np.mean(reductions):.0%}" if reductions else "-"
    return [name, str(len(splits)), str(len(reductions)), mean,
            str(int((losses > MAX_LOSS).sum())), f"{losses.mean():+.1%}",
            f"{np.mean([s['recommended'] for s in splits]):.0%}",
            f"{np.mean([s['change'] for s in splits]):+.3f}",
            *(str(sum(s["change"] < s[end] for s in splits))
              for end in ("printed", "for fresh queries"))]  # fmt: skip


def main() -> None:
    parser = left_out_parser(__doc__, COLLECTIONS)
    parser.add_argument("--splits", type=int, default=10, help="of each collection")
    args = parser.parse_args()
    raw: dict[str, list[dict[str, Any]]] = {}
    for judged in read_collections(args.collections, args.work, 10**6, 0, args.only):
        draws = Draws(judged, prior_without(judged.name, args.prior_run))
        raw[judged.name] = [measure_split(draws, seed) for seed in range(args.splits)]
        print(row_of(judged.name, raw[judged.name]), flush=True)
    every = [split for splits in raw.values() for split in splits]
    rows = [row_of(name, splits) for name, splits in {**raw, "all": every}.items()]
    text = f"{machine()}\n\n{markdown_table(_HEAD, rows)}\n"
    write_run(args.output, text, raw, ("max-loss.md", "max-loss.json"))


if __name__ == "__main__":
    main()
