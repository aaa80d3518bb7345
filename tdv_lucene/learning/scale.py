"""The scale of frequencies that makes an index small and ranks as meant.

TF-IDF's scale is chosen by how it ranks, since TF-IDF counts every occurrence in full. A scale
below 1 leaves most frequencies at 1, and only those of words that a document repeats often above
it: that is the saturation that TF-IDF lacks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..evaluation.runs import overlap
from ..simulation.bytes import estimate_dictionary_bytes, estimate_posting_bytes
from ..simulation.problem import Problem, PrunedByFold
from ..values.posting_rule import constants_of
from .selection import clearly_best, deciding

RANKING_SCALES = (0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 3)
"""The scales that :func:`best_ranking_scale` tries."""
KEPT_OVERLAP = 0.9
"""The mean share of the ten best documents that the scale must keep."""
KEPT_WHERE_LITTLE_IS_DROPPED = 0.95
_LITTLE = 0.15
"""Up to this reduction the ranking matters first, and bytes second."""
_QUERIES = 300
"""Queries that the agreement is measured on, at most."""


class ChosenScale(NamedTuple):
    """A scale for one operating point."""

    table: list[dict[str, Any]]  # The scales tried, from the smallest, see :func:`describe_scale`
    entry: dict[str, Any]  # The table's entry of the scale chosen
    of_folds: list[float]  # The scale that each fold is measured at


ScaleChoice = Callable[[PrunedByFold], ChosenScale]
"""Chooses the scale at one reduction."""


def faithful_scale(at: PrunedByFold, *, least: float = 0.0) -> ChosenScale:
    """Return the scale that keeps the real-valued ranking in the fewest bytes.

    Bytes and agreement grow with the scale, so the smallest scale that agrees is found by binary
    search. None below ``least`` is tried, unless the index would be larger than the full one: then
    it is the largest scale at which it is not.
    """
    table: dict[float, dict[str, Any]] = {}
    best = best_documents(at)
    wanted = KEPT_WHERE_LITTLE_IS_DROPPED if at.reduction <= _LITTLE else KEPT_OVERLAP

    def tried(scale: float) -> dict[str, Any]:
        if scale not in table:
            table[scale] = describe_scale(at, scale, best)
        return table[scale]

    every = constants_of(at.problem.model).scales
    scales = [scale for scale in every if least <= scale]
    bisect_left(scales, True, key=lambda scale: tried(scale)["overlap_at_10"] >= wanted)
    if faithful := [entry for entry in table.values() if entry["overlap_at_10"] >= wanted]:
        chosen = min(faithful, key=lambda entry: (entry["posting_bytes"], entry["scale"]))
    else:
        chosen = max(table.values(), key=lambda entry: (entry["overlap_at_10"], -entry["scale"]))
    if _is_larger(at.problem, chosen):
        smaller = [scale for scale in every if scale < chosen["scale"]]
        fitting = bisect_left(smaller, True, key=lambda scale: _is_larger(at.problem, tried(scale)))
        chosen = tried(smaller[fitting - 1] if fitting else every[0])
    of_folds = [chosen["scale"]] * len(at.folds)
    return ChosenScale([table[scale] for scale in sorted(table)], chosen, of_folds)


def best_ranking_scale(
    at: PrunedByFold, *, first: float, others: Sequence[float] = RANKING_SCALES
) -> ChosenScale:
    """Return the scale that ranks best, in no more bytes than the full index.

    It is the ``first``, unless one of the ``others`` serves held-out queries clearly better. Each
    fold is measured at the one that the other folds choose.
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


def given_scale(at: PrunedByFold, *, scale: float) -> ChosenScale:
    """Return this scale, and its effect on the ranking."""
    entry = describe_scale(at, scale, best_documents(at))
    return ChosenScale([entry], entry, [scale] * len(at.folds))


def _is_larger(problem: Problem, entry: Mapping[str, Any]) -> bool:
    """Tell whether an index is larger than the full one, by their lists and dictionaries."""
    size: int = entry["posting_bytes"] + entry["dictionary_bytes"]
    return size > problem.full.judged.plain_bytes


def describe_scale(at: PrunedByFold, scale: float, best: np.ndarray) -> dict[str, Any]:
    """Return the effect of rounding at this scale on the ranking.

    ``overlap_at_10`` is the mean share of the real-valued model's ten ``best`` documents that the
    integer index (with its recounted statistics and length bytes) also has among its ten best;
    ``posting_bytes`` and ``dictionary_bytes`` are estimates.
    ``best`` is from :func:`best_documents`.
    """
    sample = _sample(at.problem)
    here, collection = at.prune(scale)
    terms = here.matrix.vocabulary.terms
    found = here.postings.top(here.impacts(collection, sample), 10, sample)
    pairs = [(a[a >= 0].tolist(), b[b >= 0].tolist()) for a, b in zip(best, found)]
    pairs = [(a, b) for a, b in pairs if a]
    return {
        "scale": scale,
        "overlap_at_10": float(np.mean([overlap(*pair) for pair in pairs] or 1.0)),
        "posting_bytes": estimate_posting_bytes(here.matrix, collection),
        "dictionary_bytes": estimate_dictionary_bytes(terms, collection.statistics),
        "removed": 1 - (collection.postings or 0) / max(1, at.problem.matrix.collection_postings),
    }


def best_documents(at: PrunedByFold) -> np.ndarray:
    """Return int64[sampled queries, 10], the best documents of the real-valued model."""
    sample = _sample(at.problem)
    here, real = at.prune(None)
    return here.postings.top(here.impacts(real, sample), 10, sample)


def _sample(problem: Problem) -> np.ndarray:
    return np.unique(np.linspace(0, len(problem.queries) - 1, _QUERIES).astype(int))
