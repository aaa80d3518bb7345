"""Which integer scale keeps the ranking."""

from __future__ import annotations

from typing import Any

import numpy as np

from .measures import mean_measures
from .problem import Problem
from .scored import Scored
from .weighted import WeightedCollection, apply_values

SCALES = (1, 2, 4, 8, 16)
KEPT_OVERLAP = 0.95
_QUERIES = 300
"""Queries that the overlap is measured on, at most."""


def scale_table(
    problem: Problem, scored: Scored, reduction: float, unit: str
) -> list[dict[str, Any]]:
    """Return one entry a scale: what rounding does to the ranking at ``reduction``.

    ``overlap_at_10`` is the mean share of the real-valued model's ten best documents that the
    integer index (with its recounted statistics and length bytes) also has among its ten best;
    ``nDCG@5`` and ``R@1000`` are those of the integer index on the same training queries.
    """
    some = np.unique(np.linspace(0, len(problem.queries) - 1, _QUERIES).astype(int))
    real: tuple[np.ndarray, np.ndarray] | None = None
    table = []
    for scale in SCALES:
        tdv, collection = scored.prune(problem, reduction, scale, unit)
        if real is None or not np.array_equal(tdv, real[0]):
            real = tdv, problem.postings.top(_real_impacts(problem, collection), 10, some)
        removed = 1 - collection.postings / max(1, problem.matrix.postings)
        stored = problem.postings.top(problem.impacts(collection), 10, some)
        measured = mean_measures(problem.measure(collection, some))
        overlap = _overlap(real[1], stored)
        table.append({"scale": scale, "overlap_at_10": overlap, "removed": removed, **measured})
    return table


def _real_impacts(problem: Problem, stored: WeightedCollection) -> np.ndarray:
    """Return the impacts of the same index without rounding."""
    if stored.cut is None:
        return problem.impacts(problem.rows.weighted(stored.term_values))
    return problem.impacts(apply_values(problem.matrix, stored.term_values, None, stored.cut))


def smallest_faithful(table: list[dict[str, Any]]) -> int:
    """Return the smallest scale whose overlap reaches ``KEPT_OVERLAP``, else the largest."""
    faithful = [entry["scale"] for entry in table if entry["overlap_at_10"] >= KEPT_OVERLAP]
    return min(faithful, default=max(entry["scale"] for entry in table))


def _overlap(left: np.ndarray, right: np.ndarray) -> float:
    """Return the mean share of each row of ``left`` int32[n, 10] found in ``right``'s."""
    shares = [
        len(np.intersect1d(a[a >= 0], b[b >= 0])) / np.count_nonzero(a >= 0)
        for a, b in zip(left, right)
        if (a >= 0).any()
    ]
    return float(np.mean(shares)) if shares else 1.0
