"""The scale of frequencies: which keeps the ranking in the fewest bytes, and which ranks best.

The second is for TF-IDF, which counts every occurrence in full. A scale below 1 leaves most
frequencies at 1, and only those of words that a document repeats often above it. That is the
saturation that TF-IDF lacks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..evaluation.rank_agreement import overlap, rank_biased_overlap
from ..ranking import ranking_function
from .estimated_bytes import estimate_posting_bytes
from .measures import clearly_best, deciding, evaluate, mean_measures
from .problem import Problem
from .reduced import Reduced

RANKING_SCALES = (0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 3)
"""Those that :func:`best_ranking_scale` tries."""
KEPT_OVERLAP = 0.9
"""What the scale must keep of the ten best documents, on the mean."""
KEPT_WHERE_LITTLE_IS_DROPPED = 0.95
_LITTLE = 0.15
"""Who drops no more postings than this wants the ranking first, and bytes second."""
_QUERIES = 300
"""Queries that the agreement is measured on, at most."""


class ChosenScale(NamedTuple):
    """A scale for one operating point.

    Attributes
    ----------
    table : list of dicts
        Of the scales tried, from the smallest, see :func:`describe_scale`.
    entry : dict
        That of the scale chosen.
    of_folds : list of float
        The scale that each fold is measured at.
    """

    table: list[dict[str, Any]]
    entry: dict[str, Any]
    of_folds: list[float]


ScaleChoice = Callable[[Reduced], ChosenScale]
"""Chooses the scale at one reduction."""


def faithful_scale(at: Reduced, *, least: float = 0.0, most: float = math.inf) -> ChosenScale:
    """Return the scale that keeps the real-valued model's ranking in the fewest bytes.

    Bytes and agreement grow with the scale, so the smallest scale that agrees is found by binary
    search. None below ``least`` or above ``most`` is tried.
    """
    table: dict[int, dict[str, Any]] = {}
    scales = [s for s in ranking_function(at.problem.model).scales if least <= s <= most]
    best = best_documents(at)
    wanted = kept_overlap(at.reduction)

    def try_scale(number: int) -> dict[str, Any]:
        if number not in table:
            table[number] = describe_scale(at, scales[number], best)
        return table[number]

    low, high = 0, len(scales)
    while low < high:
        middle = (low + high) // 2
        if try_scale(middle)["overlap_at_10"] >= wanted:
            high = middle
        else:
            low = middle + 1
    tried = [table[number] for number in sorted(table)]
    chosen = choose_scale(tried, wanted)
    return ChosenScale(tried, chosen, [chosen["scale"]] * len(at.folds))


def given_scale(at: Reduced, *, scale: float) -> ChosenScale:
    """Return this scale, and what it does to the ranking."""
    entry = describe_scale(at, scale, best_documents(at))
    return ChosenScale([entry], entry, [scale] * len(at.folds))


def kept_overlap(reduction: float) -> float:
    """Return what share of the ten best documents a scale must keep."""
    return KEPT_WHERE_LITTLE_IS_DROPPED if reduction <= _LITTLE else KEPT_OVERLAP


def describe_scale(at: Reduced, scale: float, best: np.ndarray) -> dict[str, Any]:
    """Return what rounding at this scale does to the ranking.

    ``overlap_at_10`` is the mean share of the real-valued model's ten ``best`` documents that the
    integer index (with its recounted statistics and length bytes) also has among its ten best,
    ``rbo_at_10`` their rank-biased overlap; ``nDCG@5`` and ``R@1000`` are those of the integer
    index on the same training queries; ``posting_bytes`` is an estimate of its posting lists.
    ``best`` is from :func:`best_documents`.
    """
    some = _sample(at.problem)
    here, collection = at.prune(scale)
    impacts = here.impacts(collection, some)
    found = here.postings.top(impacts, 10, some)
    pairs = [(a[a >= 0].tolist(), b[b >= 0].tolist()) for a, b in zip(best, found)]
    pairs = [(a, b) for a, b in pairs if a]
    return {
        "scale": scale,
        "overlap_at_10": float(np.mean([overlap(*pair) for pair in pairs] or 1.0)),
        "rbo_at_10": float(np.mean([rank_biased_overlap(*pair) for pair in pairs] or 1.0)),
        "posting_bytes": estimate_posting_bytes(here.matrix, collection),
        "removed": 1 - (collection.postings or 0) / max(1, at.problem.matrix.collection_postings),
        **mean_measures(evaluate(here.postings, impacts, some)),
    }


def best_documents(at: Reduced) -> np.ndarray:
    """Return int64[some queries, 10], the best documents of the real-valued model."""
    some = _sample(at.problem)
    here, real = at.prune(None)
    return here.postings.top(here.impacts(real, some), 10, some)


def _sample(problem: Problem) -> np.ndarray:
    return np.unique(np.linspace(0, len(problem.queries) - 1, _QUERIES).astype(int))


def choose_scale(table: list[dict[str, Any]], wanted: float) -> dict[str, Any]:
    """Return the entry with the fewest bytes among those whose overlap is ``wanted`` or more; if
    none is, the one that agrees best."""
    faithful = [entry for entry in table if entry["overlap_at_10"] >= wanted]
    if faithful:
        return min(faithful, key=lambda entry: entry["posting_bytes"])
    return max(table, key=lambda entry: entry["overlap_at_10"])


def best_ranking_scale(
    at: Reduced, *, first: float, others: Sequence[float] = RANKING_SCALES
) -> ChosenScale:
    """Return the scale that ranks best: the ``first``, unless one of the ``others`` serves held-out
    queries clearly better. Each fold is measured at the one that the other folds choose.

    See :func:`faithful_scale` for the table.
    """
    scales = [first, *(scale for scale in others if scale != first)]
    served_by = np.array([deciding(at.held_out([scale] * len(at.folds))) for scale in scales])
    if len(at.folds) > 1:
        of_folds = [clearly_best(np.delete(served_by, fold, axis=1)) for fold in at.folds]
    else:  # nobody else could choose
        of_folds = [0]
    best = best_documents(at)
    table = {scale: describe_scale(at, scale, best) for scale in sorted(scales)}
    return ChosenScale(
        table=list(table.values()),
        entry=table[scales[clearly_best(served_by)]],
        of_folds=[scales[number] for number in of_folds],
    )
