#!/usr/bin/env python3
"""Makes the prior that comes with the package, and says what it is worth where it saw nothing.

    scripts/bench/prior.py --collections DIR --work DIR --output DIR [--prior FILE]

Networks are trained and settings chosen on all collections, and again with each left out: the table
holds only figures of collections that took no part. The output is ``raw.json`` and ``loco.md``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from prior_collections import Judged, collection_of, read_collections
from prior_network import network_task, train_together
from prior_settings import (
    CANDIDATES,
    REDUCTIONS,
    chosen,
    gains_by_set,
    gains_key,
    measure,
    settings_of,
    utility,
    worst,
)  # fmt: skip
from prior_table import fill_table, markdown

from tdv_lucene.prior.prior import collection_statistics

SEED = 0
MARGIN = 0.25
"""Of the ranges of collection statistics: what a collection may lie outside, as a share of them."""


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
    fill_table(raw, judged, raw_file)
    (args.output / "loco.md").write_text(markdown(raw), encoding="utf-8")
    print(markdown(raw))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="for indexes and matrices")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--prior", type=Path, help="where to write the prior")
    parser.add_argument("--name", default="2026-11-24")
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
        taken = {chosen(raw, key, without, by) for without in left_out for by in (utility, worst)}
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
    label, done = "/".join(key), raw.setdefault(gains_key(reduction), {})
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


def _prior(raw: dict[str, Any], judged: Sequence[Judged], name: str) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    unlike: dict[str, Any] = {}
    for key in CANDIDATES:
        model, positions = key
        settings.setdefault(model, {})[positions] = settings_of(raw, key, None)[0]
        unlike.setdefault(model, {})[positions] = settings_of(raw, key, None, worst)[0]
    return {
        "format": 2,
        "name": name,
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


if __name__ == "__main__":
    main()
