#!/usr/bin/env python3
"""Makes the prior that comes with the package, and says what it is worth where it saw nothing.

    scripts/bench/prior.py --collections DIR --work DIR --output DIR [--prior FILE]

Networks are trained, settings chosen and reductions found on all collections, and again with each
left out, and each kind of text: the tables hold only figures of collections that took no part. The
output is ``raw.json`` and ``tables.md``; what stands in ``raw.json`` is not made again.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from prior_collections import (
    QUERY_SETS,
    ROWS,
    Judged,
    collection_of,
    is_left_out,
    read_collections,
    sources_of,
    text_of,
)
from prior_settings import (
    CANDIDATES,
    CHOSEN_AT,
    LIMITS,
    REDUCTIONS,
    SHOWN,
    Key,
    chosen,
    curves_of,
    gains_by_set,
    kinds_of,
    label,
    measure,
    measure_pruned,
    prior_of,
    rule_of,
)  # fmt: skip
from results import markdown_table

from tdv_lucene import prune_index
from tdv_lucene.evaluation.tuning import OBJECTIVE, Choice, tune
from tdv_lucene.index.index import Index
from tdv_lucene.learning.config import Recipe
from tdv_lucene.learning.prior import ASKED, DETAILS, KINDS, Prior, mean_length, prior_values
from tdv_lucene.learning.train import (
    Task,
    Weights,
    batches,
    compiled_update,
    make_task,
    parameters_of,
    plain_start,
)
from tdv_lucene.matrix.term_statistics import collection_statistics, standard_statistic
from tdv_lucene.ranking import ANSERINI_DEFAULTS
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.ranking.postings import FirstPositionBoost
from tdv_lucene.simulation.retrieval import MEASURES
from tdv_lucene.simulation.scoring import Features

STATISTICS = ("log df", "RIDF", "log cf/df", "characters", "digits")
"""Those that need no posting, so that a prior is applied in O(V)."""

RECIPE = Recipe(l2=1e-2, prior=False)
ROUNDS = 60
UNDER = (Parameters(k1=2.0, b=0.5), FirstPositionBoost(3.0, 12.0))
"""What training searches with: about the middle of what suits the collections."""


class Part(NamedTuple):
    """What a collection adds to the training."""

    task: Task
    queries: np.ndarray


def network_part(judged: Judged) -> Part:
    """Of the query sets that the prior is made of."""
    parameters, boost = UNDER
    problem = judged.problem.with_position_boost(boost)
    problem = replace(problem, parameters=parameters)
    columns = [standard_statistic(problem.matrix, name) for name in STATISTICS]
    features = Features(
        np.column_stack(columns).astype(np.float32),
        np.zeros(0, np.int32),
        np.zeros((0, 0), np.float32),
    )
    task = make_task(problem, RECIPE, features)
    return Part(task, judged.only(lambda each: each.made).in_sets)


def train_together(parts: Sequence[Part], seed: int) -> dict[str, Any]:
    """Return the network as the prior's file has it: a step on each collection in turn.

    Each has a temperature of its own, for scores differ in scale between collections.
    """
    rng, tasks = np.random.default_rng(seed), [part.task for part in parts]
    recipe = replace(RECIPE, max_steps=ROUNDS * len(tasks))
    similarity = tasks[0].problem.similarity
    lists = [batches(task, queries, rng) for task, queries in parts]
    starts = [
        plain_start(similarity, task.collection, next(each)) for task, each in zip(tasks, lists)
    ]
    linear, temperatures = starts[0].linear, [start.log_temperature for start in starts]
    numbers = recipe.l2, recipe.learning_rate, recipe.max_steps
    optimizer, update = compiled_update(type(similarity), *numbers)
    numbers = parameters_of(similarity)
    state = optimizer.init(starts[0])
    for _ in range(ROUNDS):
        for k, (task, each) in enumerate(zip(tasks, lists)):
            now = Weights(linear, temperatures[k])
            now, state = update(now, state, task.collection, next(each), numbers)
            linear, temperatures[k] = now
    linear = jax.tree.map(lambda part: np.asarray(jnp.asarray(part), np.float64), linear)
    return {
        "statistics": list(STATISTICS),
        "w": [round(float(weight), 4) for weight in linear.of_statistics],
        "b": round(float(linear.bias), 4),
    }


SEED = 0
HALVINGS, TUNED_ON = 20, 120
"""Random halvings for the tuned full index, and the queries of a set that are halved, at most."""
_BM25 = ("bm25", "positions")
_COLUMNS = ("dropped, bytes", *SHOWN)


def fill_tables(
    raw: dict[str, Any], every: Sequence[Judged], folder: Path, work: Path, keep: Callable[[], None]
) -> None:
    """What a prior made without a collection is worth on it, beside the full index, also tuned."""
    rows = raw.setdefault("table", {})
    for each in (judged.only(lambda some: some.shown) for judged in every):
        if all("other models" in rows.get(name, {}) for name in each.sets):
            continue
        name = collection_of(each.name)
        prior = Prior({**raw["priors"].get(name, raw["priors"][""]), "ranges": {}}, "")
        full, tuned = _full(each), _tuned(each)
        found = {kind: _pruned(each, _BM25, prior, kind) for kind in KINDS}
        sizes = _bytes(each, prior, {k: r for k, (r, _) in found.items()}, folder, work)
        others = {"/".join(key): _others(each, key, prior) for key in CANDIDATES}
        for set_name, some in each.sets.items():
            row = {"queries": len(some), "full": _means(full, some), "bytes": sizes["full"],
                   "tuned": tuned[set_name]}  # fmt: skip
            for kind, (reduction, measured) in found.items():
                row[kind] = {"reduction": reduction, "bytes": sizes[kind],
                             "measures": _means(measured, some)}  # fmt: skip
            row["other models"] = {key: of_key[set_name] for key, of_key in others.items()}
            rows[set_name] = row
        keep()
        print("table", each.name, flush=True)


def _means(measured: np.ndarray, some: np.ndarray) -> list[float]:
    return np.round(measured[some].mean(axis=0), 5).tolist()


def _full(each: Judged, model: str = "bm25") -> np.ndarray:
    problem = each.of_model(model)
    return measure(problem, problem.plain, each.in_sets)


def _pruned(each: Judged, key: Key, prior: Prior, kind: str) -> tuple[float, np.ndarray]:
    length = mean_length(each.problem.matrix)
    reduction = prior.settings(key[0], key[1] == "positions", length, kind).reduction or 0.0
    return reduction, measure_pruned(each, key, prior, (reduction,))[0]


def _others(each: Judged, key: Key, prior: Prior) -> dict[str, Any]:
    """Set -> by kind the reduction, and what is gained over the full index."""
    full, found = _full(each, key[0]), {}
    for kind in KINDS:
        reduction, measured = _pruned(each, key, prior, kind)
        for name, gains in gains_by_set(each, measured, full).items():
            found.setdefault(name, {})[kind] = {"reduction": reduction, "gains": gains}
    return found


def _bytes(
    each: Judged, prior: Prior, reductions: dict[str, float], folder: Path, work: Path
) -> dict[str, int]:
    """The bytes of the full index without positions, and of what ``prune`` writes."""
    sources = sources_of(each.name, folder, work)
    values = prior_values(each.problem.matrix, prior=prior, reductions=[*reductions.values()])
    found, pruned = {"full": _bytes_of(sources.index)}, work / "pruned"
    for kind, reduction in reductions.items():
        shutil.rmtree(pruned, ignore_errors=True)
        prune_index(sources.index_with_positions, values, pruned, reduction=reduction)
        found[kind] = _bytes_of(pruned)
    return found


def _bytes_of(path: Path) -> int:
    with Index.open(path) as index:
        return index.bytes


def _tuned(each: Judged) -> dict[str, float]:
    """Of each set nDCG@5 of the full index with k1 and b tuned on a random half of the queries, on
    the other half."""
    problem, sets = each.problem, {name: some[:TUNED_ON] for name, some in each.sets.items()}
    drawn = np.sort(np.concatenate(list(sets.values())))

    def objective(choice: Choice) -> np.ndarray:
        at = problem.with_parameters(Parameters(**choice))
        return at.measure(problem.plain, drawn)[:, MEASURES.index(OBJECTIVE)]

    tuning = tune("bm25", ANSERINI_DEFAULTS, objective)
    found = {}
    for name, some in sets.items():
        rng, gains = np.random.default_rng(SEED), []
        for _ in range(HALVINGS):
            train, test = (
                np.searchsorted(drawn, h) for h in np.array_split(rng.permutation(some), 2)
            )
            best = tuning.choices.index(tuning.best(train))
            gains.append(tuning.served[best, test].mean() / tuning.served[0, test].mean() - 1)
        found[name] = float(np.mean(gains))
    return found


def markdown(raw: dict[str, Any]) -> str:
    """The tables as text."""
    return "\n\n".join([_sets(raw), _others_table(raw)]) + "\n"


def _sets(raw: dict[str, Any]) -> str:
    head = ["measured on", "kind", "queries", "full", "tuned",
            *(f"{kind}: {what}" for kind in KINDS for what in _COLUMNS)]  # fmt: skip
    rows = []
    for name, row in raw["table"].items():
        full = row["full"]
        cells = [name, QUERY_SETS[name].kind, str(row["queries"]),
                 ", ".join(f"{value:.3f}" for value in full), f"{row['tuned']:+.1%}"]  # fmt: skip
        for kind in KINDS:
            found = row[kind]
            cells.append(f"{found['reduction']:.0%}, {found['bytes'] / row['bytes'] - 1:+.0%}")
            for number, value in enumerate(found["measures"]):
                gain = value / full[number] - 1
                cells.append(f"{gain:+.1%}")
        rows.append(cells)
    return markdown_table(head, rows)


def _others_table(raw: dict[str, Any]) -> str:
    labels = ["/".join(key) for key in CANDIDATES]
    rows = []
    for name, row in raw["table"].items():
        kind = QUERY_SETS[name].kind
        kind = kind if kind in (ASKED, DETAILS) else ASKED
        cells = [name]
        for key in labels:
            found = row["other models"][key][kind]
            ndcg, recall, _ = found["gains"]
            cells.append(f"{ndcg:+.1%}, {recall:+.1%} at {found['reduction']:.0%}")
        rows.append(cells)
    return markdown_table(("measured on", *labels), rows)


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
        made = [each.name for each in self.judged if kinds_of(each)]
        of_kinds: dict[str, set[str]] = {}
        for name in made:
            of_kinds.setdefault(text_of(name), set()).add(collection_of(name))
        several = (kind for kind, names in of_kinds.items() if len(names) > 1)
        return ("", *dict.fromkeys(map(collection_of, made)), *several)

    def networks(self) -> None:
        """The network of all collections, under "", and without each and each kind of text."""
        networks = self.raw.setdefault("networks", {})
        missing = [without for without in self.left_out if without not in networks]
        made = [each for each in self.judged if missing and kinds_of(each)]
        parts = {each.name: network_part(each) for each in made}
        for without in missing:
            some = [part for name, part in parts.items() if not is_left_out(name, without)]
            networks[without] = train_together(some, SEED)
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
        """Of all collections, under "", and without each, and each kind: what a file holds."""
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
