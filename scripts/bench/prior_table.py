"""The prior's table: what is chosen without a collection, measured on it, beside the full index."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from prior_collections import TRAINED_ONLY, Judged, collection_of
from prior_settings import CANDIDATES, measure, settings_of

from tdv_lucene.evaluation.tuning import OBJECTIVE, Choice, tune
from tdv_lucene.ranking import ANSERINI_DEFAULTS
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.simulation.measures import MEASURES

SEED = 0
HALVINGS, TUNED_ON = 20, 120
"""Random halvings for the tuned full index, and the queries of a set that are halved, at most."""
_BM25 = ("bm25", "positions")


def fill_table(raw: dict[str, Any], judged: Sequence[Judged], raw_file: Path) -> None:
    """What the choice without a collection is worth on it, beside the full index, also tuned."""
    rows = raw.setdefault("table", {})
    for each in judged:
        if all("pruned" in rows.get(name, {}) for name in each.sets):
            continue
        without = collection_of(each.name)
        for key in CANDIDATES:
            settings, gains = settings_of(raw, key, without)
            for name in each.sets:
                row = rows.setdefault(name, {})
                row["/".join(key)] = {"settings": settings, "gains": gains[without][name]}
        settings, _ = settings_of(raw, _BM25, without)
        network, reduction = raw["networks"][without], settings["reduction"]
        pruned = measure(each, _BM25, settings, network, reduction)
        full = each.problem.measure(each.problem.plain)
        tuned = _tuned_on_half(each, pruned)
        for name, some in each.sets.items():
            rows[name] |= {
                "queries": len(some),
                "full": full[some].mean(axis=0).tolist(),
                "pruned": pruned[some].mean(axis=0).tolist(),
                **tuned[name],
            }
        raw_file.write_text(json.dumps(raw, indent=1))
        print("table", each.name, flush=True)


def _tuned_on_half(each: Judged, pruned: np.ndarray) -> dict[str, dict[str, float]]:
    """The full index with k1 and b tuned on a random half of the queries, on the other half."""
    problem, sets = each.problem, {name: some[:TUNED_ON] for name, some in each.sets.items()}
    drawn = np.sort(np.concatenate(list(sets.values())))

    def measure(choice: Choice) -> np.ndarray:
        at = problem.with_parameters(Parameters(**choice))
        return at.measure(problem.plain, drawn)[:, MEASURES.index(OBJECTIVE)]

    tuning = tune("bm25", ANSERINI_DEFAULTS, measure)
    found = {}
    for name, some in sets.items():
        rng, tuned, ours = np.random.default_rng(SEED), [], []
        for _ in range(HALVINGS):
            train, test = np.array_split(rng.permutation(some), 2)
            best = tuning.choices.index(tuning.best(np.searchsorted(drawn, train)))
            tuned.append(tuning.served[best, np.searchsorted(drawn, test)].mean())
            ours.append(pruned[test, 0].mean())
        found[name] = {"full tuned": float(np.mean(tuned)), "same halves": float(np.mean(ours))}
    return found


def markdown(raw: dict[str, Any]) -> str:
    """The table as text, and that of the other models."""
    lines = [
        "| measured on | queries | full | pruned | full, tuned | same queries | R@1000 |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    labels = ["/".join(key) for key in CANDIDATES]
    others = [f"| measured on | {' | '.join(labels)} |", "| --- |" + " --- |" * len(labels)]
    for name, row in raw["table"].items():
        if name in TRAINED_ONLY:
            continue
        (full, full_recall, _), (pruned, recall, _) = row["full"], row["pruned"]
        lines.append(
            f"| {name} | {row['queries']} | {full:.3f} | {pruned:.3f} ({pruned / full - 1:+.1%}) | "
            f"{row['full tuned']:.3f} | {row['same halves']:.3f} | {full_recall:.3f} -> "
            f"{recall:.3f} ({recall / full_recall - 1:+.1%}) |"
        )
        cells = [
            f"{ndcg:+.1%}, {recall:+.1%} at {settings['reduction']:.0%}"
            for settings, (ndcg, recall) in (row[label].values() for label in labels)
        ]
        others.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", *others, ""])
