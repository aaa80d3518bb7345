"""The prior's tables: what is made without a collection, measured on it, beside the full index."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from prior_collections import QUERY_SETS, Judged, collection_of, sources_of
from prior_settings import CANDIDATES, SHOWN, Key, gains_by_set, measure, measure_pruned
from results import markdown_table

from tdv_lucene import prune_index
from tdv_lucene.evaluation.tuning import OBJECTIVE, Choice, tune
from tdv_lucene.index.index import Index
from tdv_lucene.learning.prior import ASKED, DETAILS, KINDS, Prior, mean_length, prior_values
from tdv_lucene.ranking import ANSERINI_DEFAULTS
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.simulation.retrieval import MEASURES

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
        for label, some in each.sets.items():
            row = {"queries": len(some), "full": _means(full, some), "bytes": sizes["full"],
                   "tuned": tuned[label]}  # fmt: skip
            for kind, (reduction, measured) in found.items():
                row[kind] = {"reduction": reduction, "bytes": sizes[kind],
                             "measures": _means(measured, some)}  # fmt: skip
            row["other models"] = {key: of_key[label] for key, of_key in others.items()}
            rows[label] = row
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
        for label, gains in gains_by_set(each, measured, full).items():
            found.setdefault(label, {})[kind] = {"reduction": reduction, "gains": gains}
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
        for label in labels:
            found = row["other models"][label][kind]
            ndcg, recall, _ = found["gains"]
            cells.append(f"{ndcg:+.1%}, {recall:+.1%} at {found['reduction']:.0%}")
        rows.append(cells)
    return markdown_table(("measured on", *labels), rows)
