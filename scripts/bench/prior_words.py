#!/usr/bin/env python3
"""Whether a prior that knows words, beside statistics of terms, serves collections it has not seen.

Words have vectors of wiki165k (gensim's skip-gram), the same for all English collections. Networks
of statistics, of vectors and of both are trained over all English query sets at once, with each
collection left out. On that collection only the TDVs differ: parameters, boost, scale and dropped
postings are those of the prior made without it.

    scripts/bench/prior_words.py --collections DIR --work DIR --output RUN [--only adi ...]

WORK is that of ``prior.py``. How far vectors' weights are held back (l2) is chosen for a collection
by the mean gain of the others, whose networks have seen it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from prior_collections import Judged, read_collections
from prior_settings import SHOWN, left_out_parser, measure, prior_without
from results import machine, markdown_table, write_run
from word_networks import (
    DESIGNS,
    SEED,
    Network,
    Training,
    part_of,
    train_all,
    values_of,
    word_vectors,
)  # fmt: skip

from tdv_lucene.core.tdv import Features
from tdv_lucene.prior.alone import prior_values
from tdv_lucene.prior.prior import Prior, settings_for
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.simulation.weighted_collection import apply_values

ENGLISH = ("adi", "cranfield", "cisi", "lisa", "time", "vaswani", "scifact", "xquad-en", "wiki165k")
REDUCTIONS = (0.6, 0.45, 0.0)
TODAY, ALONE = "today", "statistics"
_ALL = 10**6


def drawn_of(judged: Judged, most: int) -> dict[str, np.ndarray]:
    """The numbers of at most so many queries of each of its sets."""
    rng = np.random.default_rng(SEED)
    return {label: np.sort(rng.permutation(held)[:most]) for label, held in judged.sets.items()}


def measure_all(
    judged: Judged,
    prior: Prior,
    drawn: dict[str, np.ndarray],
    networks: dict[str, Network],
    features: Features,
) -> dict[str, np.ndarray]:
    """Return label -> float64[reductions, Q, 3]: what is ``SHOWN`` of ``drawn`` queries, of indexes
    with the TDVs of ``prior``, made without the collection, and with those of ``networks``."""
    matrix = judged.problem.matrix
    values = prior_values(matrix, model="bm25", prior=prior, reductions=REDUCTIONS, quiet=True)
    slope = settings_for(prior, matrix, "bm25", positions=True)[0].slope
    weights = {TODAY: np.asarray(values.weights, np.float64)}
    tokens = np.asarray(matrix.total_term_freq, np.float64)
    for label, network in networks.items():
        unit = np.asarray(values_of(network, features), np.float64)
        weights[label] = 1 - slope + slope * unit / (tokens @ unit / tokens.sum())
    problem = judged.problem.with_parameters(Parameters(**values.parameters))
    found: dict[str, list[np.ndarray]] = {label: [] for label in weights}
    some = np.sort(np.concatenate([*drawn.values()]))
    for reduction in REDUCTIONS:
        point = values.at_reduction(reduction)
        left, _ = problem.pruned(point)  # no TDV is 0: of every network the same postings stay
        held, factors = left.held(point.scale), point.tdv / weights[TODAY]
        for label, of_terms in weights.items():
            tdv = (factors * of_terms).astype(np.float32)
            collection = apply_values(left.matrix, tdv, point.scale, held=held)
            found[label].append(measure(left, collection, some))
    return {label: np.stack(of_label) for label, of_label in found.items()}


class Measured(NamedTuple):
    """What was measured of a collection: the queries of its sets, and :func:`measure_all`."""

    sets: dict[str, np.ndarray]
    found: dict[str, np.ndarray]

    def mean(self, label: str, place: int = 0, measure: int = 0) -> float:
        """Of the means of its query sets."""
        of_label = self.found[label][place, :, measure]
        return float(np.mean([of_label[some].mean() for some in self.sets.values()]))

    def gain(self, label: str, place: int = 0, measure: int = 0) -> tuple[float, float]:
        """Over statistics alone, and its standard error."""
        gains = (self.found[label] - self.found[ALONE])[place, :, measure]
        errors = [gains[some].std(ddof=1) / len(some) ** 0.5 for some in self.sets.values()]
        error = float(np.linalg.norm(errors) / len(errors))
        return self.mean(label, place, measure) - self.mean(ALONE, place, measure), error


def chosen(name: str, measured: dict[str, Measured], without: str) -> str:
    """The label of the designs ``name`` that gains most at the first reduction on all collections
    but one."""
    labels = [design.label for design in DESIGNS if design.name == name]
    others = [of for collection, of in measured.items() if collection != without]
    return max(labels, key=lambda label: sum(of.gain(label)[0] for of in others))


def report(measured: dict[str, Measured]) -> tuple[str, dict[str, Any]]:
    """The tables, and what they are of."""
    names = list(dict.fromkeys(design.name for design in DESIGNS if design.vectors))
    picked = {c: {name: chosen(name, measured, c) for name in names} for c in measured}
    head = ("left out", "queries", TODAY, ALONE, *names)
    rows = [
        [collection, str(sum(map(len, of.sets.values()))), f"{of.mean(TODAY):.3f}",
         f"{of.mean(ALONE):.3f}",
         *(f"{_cell(*of.gain(label))}, l2 {label.split()[-1]}"
           for label in picked[collection].values())]
        for collection, of in measured.items()
    ]  # fmt: skip
    parts = {name: [(of, picked[c][name]) for c, of in measured.items()] for name in names}
    rows.append(["mean", "", *(f"{_mean(measured, label):.3f}" for label in (TODAY, ALONE)),
                 *(_cell(*_gain(parts[name])) for name in names)])  # fmt: skip
    lines = [
        [
            f"{reduction:.0%}",
            SHOWN[column],
            *(_cell(*_gain(parts[n], place, column)) for n in names),
        ]
        for place, reduction in enumerate(REDUCTIONS)
        for column in (0, 2)
    ]
    every = {
        design.label: [_gain([(of, design.label) for of in measured.values()], place)
                       for place in range(len(REDUCTIONS))]
        for design in DESIGNS if design.vectors
    }  # fmt: skip
    grid = [[label, *(_cell(*gain) for gain in gains)] for label, gains in every.items()]
    shown = [f"{reduction:.0%}" for reduction in REDUCTIONS]
    tables = (
        markdown_table(head, rows),
        markdown_table(("dropped", "measure", *names), lines),
        markdown_table(("design, l2", *shown), grid),
    )
    return "\n\n".join(tables) + "\n", {"chosen": picked, "measured": _means(measured)}


def _means(measured: dict[str, Measured]) -> dict[str, Any]:
    """Collection -> label -> query set -> a row for each reduction."""
    return {
        collection: {
            label: {
                name: np.round(found[:, some].mean(axis=1), 5).tolist()
                for name, some in of.sets.items()
            }
            for label, found in of.found.items()
        }
        for collection, of in measured.items()
    }


def _mean(measured: dict[str, Measured], label: str) -> float:
    return float(np.mean([of.mean(label) for of in measured.values()]))


def _gain(
    parts: Sequence[tuple[Measured, str]], place: int = 0, measure: int = 0
) -> tuple[float, float]:
    """The mean gain of collections, each with its label, and its standard error over queries."""
    gains = np.array([of.gain(label, place, measure) for of, label in parts])
    return float(gains[:, 0].mean()), float(np.linalg.norm(gains[:, 1]) / len(gains))


def _cell(gain: float, error: float) -> str:
    return f"{gain:+.4f} ± {1.96 * error:.4f}"


def main() -> None:
    parser = left_out_parser(__doc__, ENGLISH)
    parser.add_argument("--most", type=int, default=300, help="queries of a set to measure at most")
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    words = word_vectors(args.work, args.output / "words.npz")
    every = list(read_collections(args.collections, args.work, _ALL, SEED, args.only))
    parts = {judged.name: part_of(judged, words) for judged in every}
    trainings = [Training(design, name, len(parts) - 1) for name in parts for design in DESIGNS]
    train_all(parts, trainings)
    features = {name: part.task.collection.features for name, part in parts.items()}
    parts.clear()
    measured = {}
    for judged in every:
        networks = {
            each.design.label: each.network for each in trainings if each.without == judged.name
        }
        prior, drawn = prior_without(judged.name, args.prior_run), drawn_of(judged, args.most)
        found = measure_all(judged, prior, drawn, networks, features[judged.name])
        measured[judged.name] = Measured(drawn, found)
        print("measured", judged.name, flush=True)
    text, raw = report(measured)
    write_run(args.output, text, {"machine": machine(), **raw}, ("tables.md", "raw.json"))
    print(text)


if __name__ == "__main__":
    main()
