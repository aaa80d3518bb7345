"""The scale of frequencies: which keeps the ranking in the fewest bytes, and which ranks best.

The second is for TF-IDF, which counts every occurrence in full. A scale below 1 leaves most
frequencies at 1, and only those of words that a document repeats often above it. That is the
saturation that TF-IDF lacks.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..evaluation.runs import overlap, rank_biased_overlap
from ..ranking import ranking_function
from .estimated_bytes import estimate_dictionary_bytes, estimate_posting_bytes
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
    """Return the scale that keeps the real-valued model's ranking in the fewest bytes, and no more
    bytes than the full index.

    Bytes and agreement grow with the scale, so the smallest scale that agrees is found by binary
    search. None below ``least`` or above ``most`` is tried, unless the index would be larger than
    the full one: then it is the largest scale at which it is not.
    """
    table: dict[float, dict[str, Any]] = {}
    best = best_documents(at)
    wanted = KEPT_WHERE_LITTLE_IS_DROPPED if at.reduction <= _LITTLE else KEPT_OVERLAP

    def tried(scale: float) -> dict[str, Any]:
        if scale not in table:
            table[scale] = describe_scale(at, scale, best)
        return table[scale]

    every = ranking_function(at.problem.model).scales
    scales = [scale for scale in every if least <= scale <= most]
    bisect_left(scales, True, key=lambda scale: tried(scale)["overlap_at_10"] >= wanted)
    chosen = choose_scale([table[scale] for scale in sorted(table)], wanted)
    if _is_larger(at.problem, chosen):
        smaller = [scale for scale in every if scale < chosen["scale"]]
        fitting = bisect_left(smaller, True, key=lambda scale: _is_larger(at.problem, tried(scale)))
        chosen = tried(smaller[fitting - 1] if fitting else every[0])
    of_folds = [chosen["scale"]] * len(at.folds)
    return ChosenScale([table[scale] for scale in sorted(table)], chosen, of_folds)


def _is_larger(problem: Problem, entry: Mapping[str, Any]) -> bool:
    """Whether an index is larger than the full one, by their lists and dictionaries."""
    size: int = entry["posting_bytes"] + entry["dictionary_bytes"]
    return size > problem.full.judged.plain_bytes


def given_scale(at: Reduced, *, scale: float) -> ChosenScale:
    """Return this scale, and what it does to the ranking."""
    entry = describe_scale(at, scale, best_documents(at))
    return ChosenScale([entry], entry, [scale] * len(at.folds))


def describe_scale(at: Reduced, scale: float, best: np.ndarray) -> dict[str, Any]:
    """Return what rounding at this scale does to the ranking.

    ``overlap_at_10`` is the mean share of the real-valued model's ten ``best`` documents that the
    integer index (with its recounted statistics and length bytes) also has among its ten best,
    ``rbo_at_10`` their rank-biased overlap; ``nDCG@5`` and ``R@1000`` are those of the integer
    index on the same training queries; ``posting_bytes`` and ``dictionary_bytes`` are estimates.
    ``best`` is from :func:`best_documents`.
    """
    some = _sample(at.problem)
    here, collection = at.prune(scale)
    terms = here.matrix.vocabulary.terms
    impacts = here.impacts(collection, some)
    found = here.postings.top(impacts, 10, some)
    pairs = [(a[a >= 0].tolist(), b[b >= 0].tolist()) for a, b in zip(best, found)]
    pairs = [(a, b) for a, b in pairs if a]
    return {
        "scale": scale,
        "overlap_at_10": float(np.mean([overlap(*pair) for pair in pairs] or 1.0)),
        "rbo_at_10": float(np.mean([rank_biased_overlap(*pair) for pair in pairs] or 1.0)),
        "posting_bytes": estimate_posting_bytes(here.matrix, collection),
        "dictionary_bytes": estimate_dictionary_bytes(terms, collection.statistics),
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
    queries clearly better, in no more bytes than the full index. Each fold is measured at the one
    that the other folds choose.

    See :func:`faithful_scale` for the table.
    """
    best = best_documents(at)
    table = {scale: describe_scale(at, scale, best) for scale in sorted({first, *others})}
    fitting = (scale for scale in others if not _is_larger(at.problem, table[scale]))
    scales = [first, *(scale for scale in fitting if scale != first)]
    served_by = np.array([deciding(at.held_out([scale] * len(at.folds))) for scale in scales])
    if len(at.folds) > 1:
        of_folds = [clearly_best(np.delete(served_by, fold, axis=1)) for fold in at.folds]
    else:  # nobody else could choose
        of_folds = [0]
    return ChosenScale(
        table=list(table.values()),
        entry=table[scales[clearly_best(served_by)]],
        of_folds=[scales[number] for number in of_folds],
    )
