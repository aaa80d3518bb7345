#!/usr/bin/env python3
"""Makes the prior that comes with the package, and says what it is worth where it saw nothing.

    scripts/bench/prior.py --collections DIR --work DIR --output DIR [--prior FILE]

Networks are trained, settings chosen and reductions found on all collections, and again with each
left out: the tables hold only figures of collections that took no part. The output is ``raw.json``
and ``tables.md``; what stands in ``raw.json`` is not made again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from prior_collections import ROWS, Judged, collection_of, read_collections
from prior_network import network_part, train_together
from prior_reduction import LIMITS, REDUCTIONS, curves_of, rule_of
from prior_settings import (
    CANDIDATES,
    CHOSEN_AT,
    Key,
    chosen,
    gains_by_set,
    kinds_of,
    label,
    measure,
    measure_pruned,
    prior_of,
)  # fmt: skip
from prior_table import fill_tables, markdown

from tdv_lucene.learning.prior import mean_length
from tdv_lucene.matrix.term_statistics import collection_statistics

SEED = 0
MARGIN = 0.25
"""Of the ranges of collection statistics: what a collection may lie outside, as a share of them."""


class Run:
    """What is made, kept in a file after every step."""

    def __init__(self, folder: Path, judged: Sequence[Judged]) -> None:
        self.file, self.judged = folder / "raw.json", judged
        self.raw: dict[str, Any] = json.loads(self.file.read_text()) if self.file.exists() else {}
        self._full: dict[tuple[str, ...], np.ndarray] = {}

    def keep(self) -> None:
        self.file.write_text(json.dumps(self.raw), encoding="utf-8")

    @property
    def left_out(self) -> tuple[str, ...]:
        made = (each for each in self.judged if kinds_of(each))
        return ("", *dict.fromkeys(collection_of(each.name) for each in made))

    def networks(self) -> None:
        """The network of all collections, under "", and without each."""
        if "networks" in self.raw:
            return
        parts = {each.name: network_part(each) for each in self.judged if kinds_of(each)}
        self.raw["networks"] = {
            without: train_together(
                [p for name, p in parts.items() if collection_of(name) != without], SEED
            )
            for without in self.left_out
        }
        self.keep()
        print(json.dumps(self.raw["networks"]), flush=True)

    def gains(self, key: Key) -> None:
        """Of every candidate, where settings are chosen."""
        for judged in self.judged:
            for candidate in CANDIDATES[key]:
                for kind, some in kinds_of(judged).items():
                    self._measure("gains", some, key, candidate, (CHOSEN_AT[kind],))
            print("gains", *key, judged.name, flush=True)

    def curves(self, key: Key) -> None:
        """Of the candidates that any choice takes, at all reductions."""
        for settings in self._taken(key):
            for judged in self.judged:
                for some in kinds_of(judged).values():
                    self._measure("curves", some, key, settings, REDUCTIONS)
                print("curve", *key, judged.name, flush=True)

    def _taken(self, key: Key) -> list[dict[str, float]]:
        taken = {json.dumps(chosen(self.raw, key, without)) for without in self.left_out}
        return [json.loads(settings) for settings in sorted(taken)]

    def _measure(
        self, what: str, judged: Judged, key: Key, settings: dict[str, float],
        reductions: Sequence[float],
    ) -> None:  # fmt: skip
        """With the network that never saw the collection."""
        found = self.raw.setdefault(what, {}).setdefault(label(key), {})
        of_settings = found.setdefault(json.dumps(settings), {})
        if all(name in of_settings for name in judged.sets):
            return
        network = self.raw["networks"][collection_of(judged.name)]
        full = self._full_of(judged, key[0])
        pruned = measure_pruned(judged, key, prior_of(network, key, settings), reductions)
        for at in (gains_by_set(judged, measured, full) for measured in pruned):
            for name, gains in at.items():
                of_settings.setdefault(name, []).append(gains)
        if what == "gains":
            of_settings.update({name: of_settings[name][0] for name in judged.sets})
        self.keep()

    def _full_of(self, judged: Judged, model: str) -> np.ndarray:
        place = (*judged.sets, model)
        if place not in self._full:
            problem = judged.of_model(model)
            self._full[place] = measure(problem, problem.plain, judged.in_sets)
        return self._full[place]

    def priors(self, name: str) -> None:
        """Of all collections, under "", and without each: what a prior's file holds."""
        self.raw["priors"] = {
            without: self._content(f"{name}, without {without}" if without else name, without)
            for without in self.left_out
        }
        self.keep()

    def _content(self, name: str, without: str) -> dict[str, Any]:
        lengths = {
            some: mean_length(each.problem.matrix) for each in self.judged for some in each.sets
        }
        settings: dict[str, Any] = {}
        for key in CANDIDATES:
            model, positions = key
            curves = curves_of(self.raw, key, without or None)
            rule = rule_of(curves, lengths)
            found = {**chosen(self.raw, key, without or None), "reduction": rule}
            settings.setdefault(model, {})[positions] = found
        return {
            "format": 3, "name": name, "settings": settings,
            "network": self.raw["networks"][without], "limits": LIMITS,
        }  # fmt: skip


def main() -> None:
    args = _arguments()
    args.output.mkdir(parents=True, exist_ok=True)
    judged = list(read_collections(args.collections, args.work, args.most, SEED, args.only))
    run = Run(args.output, judged)
    run.networks()
    for key in CANDIDATES:
        run.gains(key)
        run.curves(key)
    run.priors(args.name)
    if args.prior is not None:
        content = {**run.raw["priors"][""], **_origin(judged)}
        args.prior.write_text(_compact(content) + "\n", encoding="utf-8")
    fill_tables(run.raw, judged, args.collections, args.work, run.keep)
    text = markdown(run.raw)
    (args.output / "tables.md").write_text(text, encoding="utf-8")
    print(text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="for indexes and matrices")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--prior", type=Path, help="where to write the prior")
    parser.add_argument("--name", default="2026-11-24")
    parser.add_argument("--most", type=int, default=300, help="queries of a set at most")
    parser.add_argument("--only", nargs="*", default=list(ROWS), help="collections")
    return parser.parse_args()


def _origin(judged: Sequence[Judged]) -> dict[str, Any]:
    """Where a prior is from, and what it knows of."""
    made = [each for each in judged if kinds_of(each)]
    return {
        "ranges": _ranges(made),
        "collections": [
            {"name": each.name, "documents": each.problem.matrix.shape[1],
             "queries": {kind: {s: len(n) for s, n in some.sets.items()}
                         for kind, some in kinds_of(each).items()},
             "statistics": {name: round(value, 4) for name, value
                            in collection_statistics(each.problem.matrix).items()}}
            for each in made
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
    """What the collections' statistics range over, and a margin, in logarithms."""
    found = [collection_statistics(each.problem.matrix) for each in judged]
    ranges = {}
    for name in found[0]:
        logs = np.log([statistics[name] for statistics in found])
        margin = max(MARGIN * np.ptp(logs), np.log(1.1))
        ends = np.exp(logs.min() - margin), np.exp(logs.max() + margin)
        ranges[name] = [float(f"{end:.4g}") for end in ends]
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
