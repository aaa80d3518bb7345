"""Operating points: a scale for each, and measures on held-out queries."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..progress import Progress
from ..values.estimated_bytes import estimate_posting_bytes
from ..values.posting_rule import PostingRule
from .fidelity import fewest_bytes, scale_table
from .measures import MEASURES, mean_measures
from .problem import Left, Problem
from .term_scores import TermScores


class Learned(NamedTuple):
    """What a recipe found.

    Attributes
    ----------
    final : TermScores
    points : list of dicts, see :class:`tdv_lucene.values.term_values.TermValues`
    folds : list of dicts
        Each fold's stop, and its held-out measures at every reduction beside the full index's.
    recommended_reduction : float
    """

    final: TermScores
    points: list[dict[str, Any]]
    folds: list[dict[str, Any]]
    recommended_reduction: float


def validate_points(
    problem: Problem,
    final: TermScores,
    of_folds: list[TermScores],
    folds: list[np.ndarray],
    reductions: tuple[float, ...],
    unit: str,
    progress: Progress,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return (points, folds): the measures of every reduction, together and by fold.

    Held-out measures are those of each fold's own training on the queries that took no part in
    it, on the integer index that pruning would write at the point's scale.
    """
    full = problem.full.measure(problem.plain)
    full_bytes = estimate_posting_bytes(problem.full.matrix, problem.plain)
    points = []
    by_fold = [
        {"queries": len(fold), "full": mean_measures(full[fold]), "held_out": {}} for fold in folds
    ]
    for done, reduction in enumerate(reductions):
        progress("validate operating points", done, len(reductions))
        left = final.left(problem, reduction, unit)
        table = scale_table(problem, final, left, reduction, unit)
        scale = fewest_bytes(table)
        chosen = next(entry for entry in table if entry["scale"] == scale)
        made = {final.rule: left}
        measured = _held_out(problem, of_folds, folds, made, reduction, scale, unit)
        points.append(
            {
                "reduction": reduction,
                "unit": unit,
                "removed": chosen["removed"],
                "posting_bytes": chosen["posting_bytes"],
                "full_posting_bytes": full_bytes,
                "measures": mean_measures(measured),
                "full": mean_measures(full),
                "scale": scale,
                "scales": table,
            }
        )
        for report, fold in zip(by_fold, folds):
            report["held_out"][f"{reduction:g}"] = mean_measures(measured[fold])
    return points, by_fold


def _held_out(
    problem: Problem,
    of_folds: list[TermScores],
    folds: list[np.ndarray],
    made: dict[PostingRule | None, Left],
    reduction: float,
    scale: int,
    unit: str,
) -> np.ndarray:
    """Return float64[Q, 3]: each query measured with the training of the fold it is held out of.

    ``made`` has what a rule leaves at ``reduction``, where that is known; folds of one rule share
    it.
    """
    measured = np.zeros((len(problem.queries), len(MEASURES)))
    for scored, fold in zip(of_folds, folds):
        if scored.rule not in made:
            made[scored.rule] = scored.left(problem, reduction, unit)
        left = made[scored.rule]
        collection = scored.prune(left, reduction, scale, unit)
        measured[fold] = left.problem.measure(collection, fold)
    return measured
