"""Operating points: the scale of each, its cost, and its measures on held-out queries."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..evaluation.significance import t_test
from ..matrix.first_positions import describe_boost
from ..progress import Progress
from ..simulation.choice_of_scale import ScaleChoice, faithful_scale
from ..simulation.estimated_bytes import (
    estimate_dictionary_bytes,
    estimate_posting_bytes,
    posting_format,
)
from ..simulation.full_index import FullIndex, mean_visited
from ..simulation.measures import MEASURES, mean_measures
from ..simulation.problem import Problem, Tuned
from ..simulation.reduced import Reduced
from ..simulation.term_scores import TermScores
from ..simulation.weighted_collection import WeightedCollection

_ANYTHING = (-1.0, 1.0)
"""The interval of a difference between measures if the queries have no spread to estimate one."""


class Learned(NamedTuple):
    """What a recipe found.

    Attributes
    ----------
    problem : Problem
        With the parameters that were chosen.
    final : TermScores
    points : list of dicts, see :class:`tdv_lucene.values.term_values.TermValues`
    folds : list of dicts
        Each fold's stop, and its held-out measures at every reduction beside the full index's.
    full : dict
        The index before pruning: its tuned ``parameters``, its ``posting_bytes``,
        ``dictionary_bytes`` and the postings ``visited``, as the points have them.
    moved : dict or None
        How far learning left the prior, see :meth:`..prior.as_start.PriorStart.moved`.
    """

    problem: Problem
    final: TermScores
    points: list[dict[str, Any]]
    folds: list[dict[str, Any]]
    full: dict[str, Any]
    moved: dict[str, Any] | None = None


def validate_points(
    tuned: Tuned,
    final: TermScores,
    of_folds: list[TermScores],
    folds: list[np.ndarray],
    full: FullIndex,
    reductions: tuple[float, ...],
    unit: str,
    progress: Progress,
    choose_scale: ScaleChoice = faithful_scale,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, Any]]:
    """Return (points, folds, full): the measures of every reduction, together and by fold.

    Every query is measured with the training of the fold it is held out of, on the integer index
    that pruning would write at the point's scale, and searched with parameters that it had no part
    in choosing. ``full`` is what points are compared with.
    """
    problem = tuned.of_all
    plain = problem.full.plain
    full_bytes = estimate_posting_bytes(problem.full.matrix, plain)
    points = []
    by_fold: list[dict[str, Any]] = [
        {
            "queries": len(fold),
            "parameters": of_fold.parameters.values(),
            "lead": describe_boost(of_fold.matrix.position_boost),
            "full": mean_measures(full.measured[fold]),
            "held_out": {},
        }
        for of_fold, fold in zip(tuned.of_folds, folds)
    ]
    for done, reduction in enumerate(reductions):
        progress("validate operating points", done, len(reductions))
        at = Reduced(tuned, final, of_folds, folds, reduction, unit)
        chosen = choose_scale(at)
        measured = at.held_out(chosen.of_folds)
        scale, pruned = chosen.entry["scale"], at.prune(chosen.entry["scale"])[1]
        points.append(
            {
                "reduction": reduction,
                "unit": unit,
                **{name: chosen.entry[name] for name in ("removed", "posting_bytes")},
                **_cost(problem, pruned),
                "measures": mean_measures(measured),
                "full": mean_measures(full.measured),
                "difference": _differences(measured, full.measured),
                "scale": scale,
                "scales": chosen.table,
            }
        )
        for report, fold in zip(by_fold, folds):
            report["held_out"][f"{reduction:g}"] = mean_measures(measured[fold])
    terms, matrix = problem.matrix.vocabulary.terms, problem.full.matrix
    with_positions = posting_format(matrix).with_positions()
    about_full = {
        "parameters": vars(full.parameters),
        "visited": full.visited,
        "posting_bytes": full_bytes,
        "dictionary_bytes": estimate_dictionary_bytes(terms, plain.statistics),
        "with_positions": {
            "posting_bytes": estimate_posting_bytes(matrix, plain, with_positions),
            "dictionary_bytes": estimate_dictionary_bytes(terms, plain.statistics, positions=True),
        },
    }
    return points, by_fold, about_full


def _differences(measured: np.ndarray, full: np.ndarray) -> dict[str, dict[str, Any]]:
    """Return the mean difference of each measure with its interval, over paired queries."""
    differences = measured - full
    return {
        name: {"mean": float(per_query.mean()), "ci95": list(t_test(per_query)[1] or _ANYTHING)}
        for name, per_query in zip(MEASURES, differences.T)
    }


def _cost(problem: Problem, collection: WeightedCollection) -> dict[str, Any]:
    """Return the other costs: bytes of the dictionary, and postings to visit."""
    left = collection.statistics
    terms = problem.matrix.vocabulary.terms
    return {
        "dictionary_bytes": estimate_dictionary_bytes(terms, left),
        "visited": mean_visited(problem, left),
    }
