"""Operating points: the scale of each, its cost, and its measures on held-out queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..evaluation.significance import t_test
from ..progress import Progress
from ..ranking.boosts import describe_boost
from ..simulation.choice_of_scale import ScaleChoice
from ..simulation.estimated_bytes import (
    estimate_dictionary_bytes,
    estimate_posting_bytes,
    posting_format,
)
from ..simulation.full_index import FullIndex, mean_visited
from ..simulation.measures import MEASURES, mean_measures
from ..simulation.problem import Problem
from ..simulation.reduced import Reduced, TermScores
from ..values.dropped_terms import nearest
from ..values.losses import MEASURE, Recommended, recommend
from .choice_of_order import Way

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
    recommended : Recommended
        What the points recommend; the prior's reduction, where there are too few queries.
    choice : dict or None
        See :func:`held_out_choice`.
    moved : dict or None
        How far learning left the prior, and what that gained; None if it began without.
    way : Way or None
        The order of postings that the queries chose, and the finest scale; None where there was
        no choice.
    """

    problem: Problem
    final: TermScores
    points: list[dict[str, Any]]
    folds: list[dict[str, Any]]
    full: dict[str, Any]
    recommended: Recommended
    choice: dict[str, Any] | None
    moved: dict[str, Any] | None = None
    way: Way | None = None


def validate_points(
    learned: Reduced,
    full: FullIndex,
    reductions: tuple[float, ...],
    choose_scale: ScaleChoice,
    progress: Progress,
    measure: str = MEASURE,
    prior_reduction: float = 0.0,
) -> Learned:
    """Return what was ``learned`` with the measures of every reduction, together and by fold.

    Every query is measured with the training of the fold it is held out of, on the integer index
    that pruning would write at the point's scale, and searched with parameters that it had no part
    in choosing. ``full`` is what points are compared with. For ``measure`` and
    ``prior_reduction`` see :func:`..values.losses.recommend`.
    """
    problem, folds = learned.problem, learned.folds
    plain = problem.full.plain
    points, every = [], []
    by_fold: list[dict[str, Any]] = [
        {
            "queries": len(fold),
            "parameters": of_fold.parameters.values(),
            "lead": describe_boost(of_fold.matrix.position_boost),
            "full": mean_measures(full.measured[fold]),
            "held_out": {},
        }
        for of_fold, fold in zip(learned.tuned.of_folds, folds)
    ]
    for done, reduction in enumerate(reductions):
        progress("validate operating points", done, len(reductions))
        at = learned.at(reduction)
        chosen = choose_scale(at)
        measured = at.held_out(chosen.of_folds)
        every.append(measured - full.measured)
        scale, pruned = chosen.entry["scale"], at.prune(chosen.entry["scale"])[1]
        points.append(
            {
                "reduction": reduction,
                "unit": learned.unit,
                "removed": chosen.entry["removed"],
                "posting_bytes": chosen.entry["posting_bytes"],
                "dictionary_bytes": chosen.entry["dictionary_bytes"],
                "visited": mean_visited(problem, pruned.statistics),
                "measures": mean_measures(measured),
                "full": mean_measures(full.measured),
                "difference": _differences(every[-1]),
                "scale": scale,
                "scales": chosen.table,
            }
        )
        for report, fold in zip(by_fold, folds):
            report["held_out"][f"{reduction:g}"] = mean_measures(measured[fold])
    terms, matrix = problem.matrix.vocabulary.terms, problem.full.matrix
    with_positions = posting_format(matrix).with_positions()
    about_full = {
        "parameters": full.parameters.describe(),
        "visited": full.visited,
        "posting_bytes": estimate_posting_bytes(matrix, plain),
        "dictionary_bytes": estimate_dictionary_bytes(terms, plain.statistics),
        "with_positions": {
            "posting_bytes": estimate_posting_bytes(matrix, plain, with_positions),
            "dictionary_bytes": estimate_dictionary_bytes(terms, plain.statistics, positions=True),
        },
    }
    recommended = recommend(points, measure, prior_reduction)
    choice = held_out_choice(points, every, folds, measure, prior_reduction)
    return Learned(problem, learned.final, points, by_fold, about_full, recommended, choice)


def held_out_choice(
    points: Sequence[Mapping[str, Any]],
    differences: Sequence[np.ndarray],
    folds: Sequence[np.ndarray],
    measure: str = MEASURE,
    prior_reduction: float = 0.0,
) -> dict[str, Any] | None:
    """Return the difference from the full index to expect of the recommended point on as many other
    queries, by the ``measure`` that recommends: its ``mean`` and ``ci95``; None of a single fold.

    Of several points the recommended one is among those that luck has favoured, so the mean of its
    own queries is too high. Here each fold is measured at what the other folds recommend. Both this
    mean and that of other queries vary, so the interval is wider than that of a mean by the square
    root of two.

    Parameters
    ----------
    differences
        Of each point float64[Q, measures], of held-out queries from the full index.
    """
    if len(folds) < 2:  # of a log, or of a single query: nobody else could choose
        return None
    reductions = [point["reduction"] for point in points]
    gains, column = np.zeros(len(differences[0])), MEASURES.index(measure)
    for fold in folds:
        by_others = [
            {**point, "difference": _differences(np.delete(of_point, fold, axis=0))}
            for point, of_point in zip(points, differences)
        ]
        at = nearest(reductions, recommend(by_others, measure, prior_reduction).reduction)
        gains[fold] = differences[at][fold, column]
    low, high = t_test(gains)[1] or _ANYTHING
    mean, half = float(gains.mean()), (high - low) / 2**0.5
    return {"mean": mean, "ci95": [mean - half, mean + half]}


def _differences(differences: np.ndarray) -> dict[str, dict[str, Any]]:
    """Return the mean difference of each measure with its interval, over paired queries."""
    return {
        name: {"mean": float(per_query.mean()), "ci95": list(t_test(per_query)[1] or _ANYTHING)}
        for name, per_query in zip(MEASURES, differences.T)
    }
