#!/usr/bin/env python3
"""Where the gain comes from: parameters, first positions, learned TDVs, one after the other.

    scripts/bench/gains.py --collections DIR --work DIR --output RUN [--only cranfield ...]

nDCG@5 with 0 and 45 % of the postings dropped, BM25, on queries that learning did not see, from the
prior that was made without the collection. A collection with one query set is learned in five
folds; of the others the queries are learned from that no table shows.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from judged_draws import Draws
from prior_collections import QUERY_SETS, Judged, read_collections
from prior_settings import PRIOR_RUN, prior_without
from results import machine, markdown_table

from tdv_lucene.learning.recipes import DefaultRecipe

REDUCTIONS = (0.0, 0.45)
STEPS = {
    "parameters": DefaultRecipe(lead=False, values=False, reductions=REDUCTIONS),
    "+ first positions": DefaultRecipe(values=False, reductions=REDUCTIONS),
    "+ learned TDVs": DefaultRecipe(reductions=REDUCTIONS),
}
COLLECTIONS = ("adi", "cranfield", "cisi", "lisa", "time", "vaswani", "scifact", "wiki165k",
               "sw-tydi", "ru-tydi", "ar-arcd-tydi", "de-klexikon")  # fmt: skip
FOLDS = 5
FULL = "full, tuned"


def splits(judged: Judged) -> Iterator[tuple[np.ndarray, dict[str, np.ndarray]]]:
    """Yield what is learned from, and what is measured by set, as numbers of queries."""
    shown = {s: q for s, q in judged.sets.items() if QUERY_SETS[s].shown}
    if len(shown) < len(judged.sets):
        yield np.setdiff1d(judged.all_queries, np.concatenate([*shown.values()])), shown
        return
    ((name, queries),) = judged.sets.items()
    for fold in np.array_split(np.random.default_rng(0).permutation(queries), FOLDS):
        yield np.setdiff1d(queries, fold), {name: np.sort(fold)}


def measure(draws: Draws) -> dict[str, dict[str, list[float]]]:
    """Set -> step and reduction -> nDCG@5 of each query."""
    found: dict[str, dict[str, list[float]]] = {}

    def add(name: str, what: str, values: np.ndarray) -> None:
        found.setdefault(name, {}).setdefault(what, []).extend(np.round(values, 5).tolist())

    for train, measured in splits(draws.judged):
        for name, test in measured.items():
            add(name, FULL, draws.full_tuned_by_query(train, test))
        for step, recipe in STEPS.items():
            values = draws.learn(train, recipe, 0)
            for name, test in measured.items():
                for reduction in REDUCTIONS:
                    label = f"{step} {reduction:.0%}"
                    add(name, label, draws.pruned_by_query(values, reduction, test))
            print(draws.judged.name, step, values.parameters, values.manifest["lead"], flush=True)
    return found


def table(raw: dict[str, dict[str, list[float]]]) -> str:
    """A line a query set."""
    labels = [FULL, *(f"{step} {r:.0%}" for r in REDUCTIONS for step in STEPS)]
    rows = [
        [name, str(len(of_set[FULL])), *(f"{np.mean(of_set[label]):.3f}" for label in labels)]
        for name, of_set in raw.items()
    ]
    return markdown_table(("measured on", "queries", *labels), rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("collections", "work", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=COLLECTIONS)
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    kept = args.output / "gains.json"
    raw = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    for judged in read_collections(args.collections, args.work, 10**6, 0, args.only):
        if not any(name in raw for name in judged.sets):
            raw |= measure(Draws(judged, prior_without(judged.name, PRIOR_RUN)))
            kept.write_text(json.dumps(raw), encoding="utf-8")
    text = f"{machine()}\n\n{table(raw)}\n"
    (args.output / "gains.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
