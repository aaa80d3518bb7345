"""The lines that say what a bound by first answers means, fitted to query sets with judgements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from prior_collections import collection_of
from scipy.optimize import linprog

from tdv_lucene.learning.log import loss_by

LOSS, AT_MOST = "loss", "loss_at_most"
LINES = {LOSS: 0.5, AT_MOST: 0.85}
"""Which share of the query sets seen lost no more than a line says."""
_LARGEST = 0.35
"""Nobody chooses a reduction with a larger bound: it is not fitted to."""


class Cell(NamedTuple):
    """A query set at a reduction: ``loss`` against the index with nothing dropped, and ``change``,
    the loss against the index as it is."""

    name: str
    same: float
    bound: float
    bound_at_most: float
    loss: float
    change: float


def cells_of(sets: Mapping[str, Any]) -> Iterator[Cell]:
    """Yield all cells at which something is dropped."""
    for name, of_set in sets.items():
        figures = of_set["all"]
        ndcg = [measures[0] for measures in figures["pruned"]]
        for at in range(1, len(ndcg)):
            yield Cell(
                name, figures["same"], figures["bound"][at], figures["bound_at_most"][at],
                1 - ndcg[at] / figures["finest"], 1 - ndcg[at] / figures["full"][0],
            )  # fmt: skip


def fit_lines(sets: Mapping[str, Any], without: str | None = None) -> dict[str, dict[str, float]]:
    """Return the lines of the collections but ``without``, each collection with the same weight."""
    cells = [c for c in cells_of(sets) if c.bound < _LARGEST and collection_of(c.name) != without]
    unsure = np.array([1 - c.same for c in cells])
    bound, change = (np.array([getattr(c, name) for c in cells]) for name in ("bound", "change"))
    columns = np.stack([bound, -bound * unsure, -unsure], axis=1)
    counted = Counter(collection_of(c.name) for c in cells)
    weights = np.array([1 / counted[collection_of(c.name)] for c in cells])
    names = ("certain", "unsure", "gain")
    return {
        line: dict(zip(names, np.round(_quantile(columns, change, weights, share), 3).tolist()))
        for line, share in LINES.items()
    }


def _quantile(x: np.ndarray, y: np.ndarray, weights: np.ndarray, share: float) -> np.ndarray:
    """Return float64[k], of the plane below which ``share`` of the points lie, by their weights."""
    n, k = x.shape
    cost = np.concatenate([np.zeros(k), share * weights, (1 - share) * weights])
    slack = np.concatenate([x, np.eye(n), -np.eye(n)], axis=1)
    limits = [(0.0, None)] * k + [(0.0, None)] * (2 * n)
    found: np.ndarray = linprog(cost, A_eq=slack, b_eq=y, bounds=limits, method="highs").x
    return found[:k]


def losses(
    lines: Mapping[str, Mapping[str, float]], log: Mapping[str, Any], at: int
) -> dict[str, float]:
    """What a log says of the loss at a reduction."""
    bounds = {LOSS: log["bound"][at], AT_MOST: log["bound_at_most"][at]}
    return {name: round(loss_by(lines[name], bounds[name], log["same"]), 5) for name in LINES}
