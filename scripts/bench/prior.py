#!/usr/bin/env python3
"""Makes the prior that comes with the package, and says what it is worth where it saw nothing.

    scripts/bench/prior.py --collections DIR --work DIR --output DIR [--prior FILE]

Networks are trained and settings chosen on all collections, and again with each left out: the table
holds only figures of collections that took no part. The output is ``raw.json`` and ``loco.md``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from prior_collections import TRAINED_ONLY, Judged, collection_of, read_collections
from prior_network import network_task, train_together
from prior_settings import (
    AS_WITH,
    CANDIDATES,
    ORDER,
    REDUCTIONS,
    choose,
    gains_by_set,
    measure,
    recommend,
    utility,
    worst,
)  # fmt: skip

from tdv_lucene.learning.prior import collection_statistics
from tdv_lucene.learning.recipes import Parameters
from tdv_lucene.ranking import GRIDS

SEED = 0
HALVINGS, TUNED_ON = 20, 120
"""Random halvings for the tuned full index, and the queries of a set that are halved, at most."""
MARGIN = 0.25
"""Of the ranges of collection statistics: what a collection may lie outside, as a share of them."""
_BM25 = ("bm25", "positions")


def main() -> None:
    args = _arguments()
    args.output.mkdir(parents=True, exist_ok=True)
    judged = list(read_collections(args.collections, args.work, args.most, SEED))
    raw_file = args.output / "raw.json"
    raw = json.loads(raw_file.read_text()) if raw_file.exists() else {}
    _networks(raw, judged)
    raw_file.write_text(json.dumps(raw, indent=1))
    _gains(raw, judged, raw_file)
    if args.prior is not None:
        content = _prior(raw, judged, args.name)
        args.prior.write_text(_compact(content) + "\n", encoding="utf-8")
    _table(raw, judged, raw_file)
    (args.output / "loco.md").write_text(_markdown(raw), encoding="utf-8")
    print(_markdown(raw))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="for indexes and matrices")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--prior", type=Path, help="where to write the prior")
    parser.add_argument("--name", default="2026-11-23.5")
    parser.add_argument("--most", type=int, default=300, help="queries of a set at most")
    return parser.parse_args()


def _networks(raw: dict[str, Any], judged: Sequence[Judged]) -> None:
    """The network of all collections, under "", and without each."""
    if "networks" in raw:
        return
    tasks = {each.name: network_task(each) for each in judged if each.name != "wikir"}
    raw["networks"] = {
        without: train_together([t for name, t in tasks.items() if name != without], SEED)
        for without in ("", *tasks)
    }
    print(json.dumps(raw["networks"]), flush=True)


def _gains(raw: dict[str, Any], judged: Sequence[Judged], raw_file: Path) -> None:
    """Of all candidates where settings are chosen; of those that any choice takes, at all
    reductions."""
    left_out = (None, *dict.fromkeys(collection_of(each.name) for each in judged))
    for key, candidates in CANDIDATES.items():
        _gains_at(REDUCTIONS[0], key, candidates, raw, judged, raw_file)
        taken = {_chosen(raw, key, without) for without in left_out}
        taken.add(_chosen(raw, key, None, worst))
        for reduction in REDUCTIONS:
            some = [candidates[number] for number in sorted(taken)]
            _gains_at(reduction, key, some, raw, judged, raw_file)


def _gains_at(
    reduction: float,
    key: tuple[str, str],
    candidates: Sequence[dict[str, float]],
    raw: dict[str, Any],
    judged: Sequence[Judged],
    raw_file: Path,
) -> None:
    """Of each of the candidates on each collection, with the network that never saw it."""
    label, done = "/".join(key), raw.setdefault(_name(reduction), {})
    for each in judged:
        found = done.setdefault(label, {}).setdefault(each.name, {})
        missing = [c for c in candidates if json.dumps(c) not in found]
        if not missing:
            continue
        network = raw["networks"][collection_of(each.name)]
        problem = each.of_model(key[0])
        full = problem.measure(problem.plain)
        for candidate in missing:
            measured = measure(each, key, candidate, network, reduction)
            found[json.dumps(candidate)] = gains_by_set(each, measured, full)
            raw_file.write_text(json.dumps(raw, indent=1))
        print(label, each.name, reduction, flush=True)


def _name(reduction: float) -> str:
    return f"gains at {reduction:.0%}"


def _gains_of(
    raw: dict[str, Any], key: tuple[str, str], reduction: float, number: int
) -> dict[str, dict[str, list[float]]]:
    """Of a candidate: collection -> query set -> gains."""
    gains: dict[str, dict[str, list[float]]] = {}
    for name, of_candidates in raw[_name(reduction)]["/".join(key)].items():
        of_this = of_candidates[json.dumps(CANDIDATES[key][number])]
        gains.setdefault(collection_of(name), {}).update(of_this)
    return gains


def _chosen(
    raw: dict[str, Any], key: tuple[str, str], without: str | None, by: Any = utility
) -> int:
    """The candidate that the collections but ``without`` choose."""
    key = AS_WITH.get(key, key)
    all_of_them = range(len(CANDIDATES[key]))
    return choose([_gains_of(raw, key, REDUCTIONS[0], n) for n in all_of_them], without, by)


def _settings(
    raw: dict[str, Any], key: tuple[str, str], without: str | None, by: Any = utility
) -> tuple[dict[str, float], dict[str, dict[str, list[float]]]]:
    """What the collections but ``without`` choose, and the reduction; their gains there."""
    number = _chosen(raw, key, without, by)
    by_reduction = {reduction: _gains_of(raw, key, reduction, number) for reduction in REDUCTIONS}
    reduction = recommend(by_reduction, without)
    return {**CANDIDATES[key][number], "reduction": reduction}, by_reduction[reduction]


def _table(raw: dict[str, Any], judged: Sequence[Judged], raw_file: Path) -> None:
    """What the choice without a collection is worth on it, beside the full index, also tuned."""
    rows = raw.setdefault("table", {})
    for each in judged:
        if all("pruned" in rows.get(name, {}) for name in each.sets):
            continue
        without = collection_of(each.name)
        for key in CANDIDATES:
            settings, gains = _settings(raw, key, without)
            for name in each.sets:
                row = rows.setdefault(name, {})
                row["/".join(key)] = {"settings": settings, "gains": gains[without][name]}
        settings, _ = _settings(raw, _BM25, without)
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
    problem, grid = each.problem, list(itertools.product(*GRIDS["bm25"].values()))
    grid = [(0.9, 0.4), *grid]
    sets = {name: some[:TUNED_ON] for name, some in each.sets.items()}
    drawn = np.sort(np.concatenate(list(sets.values())))
    measured = np.array(
        [
            problem.with_parameters(Parameters(k1=k1, b=b)).measure(problem.plain, drawn)[:, 0]
            for k1, b in grid
        ]
    )
    found = {}
    for name, some in sets.items():
        rng, tuned, ours = np.random.default_rng(SEED), [], []
        for _ in range(HALVINGS):
            train, test = np.array_split(rng.permutation(some), 2)
            at = np.searchsorted(drawn, train), np.searchsorted(drawn, test)
            best = int(np.argmax(measured[:, at[0]].mean(axis=1)))
            tuned.append(measured[best, at[1]].mean())
            ours.append(pruned[test, 0].mean())
        found[name] = {"full tuned": float(np.mean(tuned)), "same halves": float(np.mean(ours))}
    return found


def _prior(raw: dict[str, Any], judged: Sequence[Judged], name: str) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    unlike: dict[str, Any] = {}
    for key in CANDIDATES:
        model, positions = key
        settings.setdefault(model, {})[positions] = _settings(raw, key, None)[0]
        unlike.setdefault(model, {})[positions] = _settings(raw, key, None, worst)[0]
    return {
        "format": 2,
        "name": name,
        "order": ORDER,
        "settings": settings,
        "unlike": unlike,
        "network": raw["networks"][""],
        "ranges": _ranges(judged),
        "collections": [
            {"name": each.name, "documents": each.problem.matrix.shape[1],
             "queries": {s: len(some) for s, some in each.sets.items()},
             "statistics": {name: round(value, 4) for name, value
                            in collection_statistics(each.problem.matrix).items()}}
            for each in judged
        ],
        "made_by": {
            "script": "scripts/bench/prior.py", "seed": SEED,
            "commit": subprocess.run(
                ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                cwd=Path(__file__).parent, check=True,
            ).stdout.strip(),
        },
    }  # fmt: skip


def _ranges(judged: Sequence[Judged]) -> dict[str, list[float]]:
    """What the collections' statistics range over, and a margin, in logarithms where above 0."""
    found = [collection_statistics(each.problem.matrix) for each in judged]
    ranges = {}
    for name in found[0]:
        values = np.array([statistics[name] for statistics in found])
        if values.min() > 0:
            logs = np.log(values)
            margin = max(MARGIN * np.ptp(logs), np.log(1.1))
            low, high = np.exp(logs.min() - margin), np.exp(logs.max() + margin)
        else:
            low, high = 0.0, values.max() + max(MARGIN * values.max(), 0.01)
        ranges[name] = [float(f"{low:.4g}"), float(f"{high:.4g}")]
    return ranges


def _compact(content: dict[str, Any]) -> str:
    """JSON with a line for each innermost mapping: to be read by people."""
    marked: dict[str, str] = {}

    def flat(value: Any) -> Any:
        if isinstance(value, dict) and any(isinstance(v, dict) for v in value.values()):
            return {key: flat(part) for key, part in value.items()}
        if isinstance(value, list) and any(isinstance(v, dict) for v in value):
            return [flat(part) for part in value]
        if isinstance(value, (dict, list)):
            marked[mark := f"@{len(marked)}@"] = json.dumps(value)
            return mark
        return value

    text = json.dumps(flat(content), indent=1)
    for mark, line in marked.items():
        text = text.replace(f'"{mark}"', line)
    return text


def _markdown(raw: dict[str, Any]) -> str:
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


if __name__ == "__main__":
    main()
