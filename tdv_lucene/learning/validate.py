"""Validate operating points on held-out queries, against the tuned full index.

Against default parameters a pruned index wins too easily: part of its gain comes from the k1 and b
that were chosen for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..evaluation.measures import condenses
from ..evaluation.significance import Interval, t_test
from ..evaluation.tuning import OBJECTIVE, Choice, tune
from ..matrix.term_document_matrix import row_sums
from ..progress import Progress
from ..ranking import SearchParameters, Statistics
from ..simulation.bytes import (
    estimate_dictionary_bytes,
    estimate_posting_bytes,
    lists_left,
    posting_format,
)
from ..simulation.problem import Problem, PrunedByFold
from ..simulation.retrieval import JUDGED, MEASURES, mean_measures
from ..values.posting_rule import nearest
from ..values.term_values import MEASURE
from .scale import ScaleChoice
from .selection import FIRST_TEN, recommend, smallest_level

_ANYTHING = (-1.0, 1.0)
"""The interval of a difference if the queries have no spread to estimate one."""
_ALL_LOST = -1.0
"""The difference of a query that loses everything."""


class FullIndex(NamedTuple):
    """The full index with its best parameters."""

    # float64[Q, measures]: each query's measures, with the parameters that are best for the *other*
    # folds' queries. A log's are ``MEASURES``; those of judged queries have ``JUDGED`` at the end.
    measured: np.ndarray
    parameters: SearchParameters  # The best for all queries
    visited: float  # Postings in the lists of a query's terms, mean over the queries


def measure_full(
    problem: Problem, folds: Sequence[np.ndarray], queries: np.ndarray, progress: Progress
) -> FullIndex:
    """Tune the full index on the ``queries`` that tune the pruned one, and measure every query.

    Here the best parameters are taken, however small their gain (see :mod:`..evaluation.tuning`).
    """
    full = problem.full

    def at(choice: Choice) -> Problem:
        return full.with_parameters(problem.parameters.with_values(choice))

    def measure(choice: Choice) -> np.ndarray:
        return at(choice).measure(full.plain, queries)[:, MEASURES.index(OBJECTIVE)]

    given = problem.parameters.values()
    tuning = tune(problem.model, given, measure, progress, "tune the full index")
    measured = np.zeros((len(problem.queries), len(MEASURES) + len(JUDGED)))
    for fold in folds:
        others = ~np.isin(queries, fold)
        best = at(tuning.best(others) if others.any() else tuning.choices[0])
        measured[fold] = best.measure(full.plain, fold, judged=True)
    chosen = at(tuning.best()).parameters
    return FullIndex(measured, chosen, mean_visited(problem, full.plain.statistics))


def mean_visited(problem: Problem, statistics: Statistics) -> float:
    """Return the mean over the queries of the postings in the lists of their terms."""
    queries = problem.queries
    visited = row_sums(lists_left(statistics)[queries.terms], np.diff(queries.indptr))
    return float(visited.sum() / max(1, len(queries)))


def validate_points(
    learned: PrunedByFold,
    full: FullIndex,
    reductions: tuple[float, ...],
    choose_scale: ScaleChoice,
    progress: Progress,
    measure: str = MEASURE,
    prior_reduction: float = 0.0,
) -> dict[str, Any]:
    """Measure the ``learned`` index at every reduction; return facts of the manifest.

    Every query is measured with the training of the fold it is held out of, on the integer index
    that pruning would write at the point's scale. Differences are from ``full``. ``measure`` and
    ``prior_reduction`` are for :func:`.selection.recommend`.

    The facts are ``points``, ``full`` (the index before pruning, tuned), ``recommended_reduction``
    and why, ``choice`` (:func:`held_out_choice`), and ``first_ten``: the reduction for those who
    show the first answers and no more, and what to expect of it; None if that drops no more than is
    recommended.
    """
    problem, folds = learned.problem, learned.folds
    plain, judged = problem.full.plain, full.measured.shape[1] > len(MEASURES)
    interval = interval_of if judged else interval_of_log
    points, every = [], []
    for done, reduction in enumerate(reductions):
        progress("validate operating points", done, len(reductions))
        at = learned.at(reduction)
        chosen = choose_scale(at)
        measured = at.held_out(chosen.of_folds, judged=judged)
        every.append(measured - full.measured)
        scale, pruned = chosen.entry["scale"], at.prune(chosen.entry["scale"])[1]
        points.append(
            {
                "reduction": reduction,
                "unit": "posting",
                "removed": chosen.entry["removed"],
                "posting_bytes": chosen.entry["posting_bytes"],
                "dictionary_bytes": chosen.entry["dictionary_bytes"],
                "visited": mean_visited(problem, pruned.statistics),
                "measures": mean_measures(measured),
                "full": mean_measures(full.measured),
                "difference": _differences(every[-1], interval),
                **({"judged": _of_judged(measured)} if judged else {}),
                "scale": scale,
                "scales": chosen.table,
            }
        )
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
    if judged:
        about_full["judged"] = _of_judged(full.measured)
        shares = [each["judged"][JUDGED[0]] for each in (about_full, *points)]
        if not condenses(shares, problem.queries.grades):
            for each in (about_full, *points):
                del each["judged"][JUDGED[1]]
    recommended = recommend(points, measure, prior_reduction)
    by_others = partial(held_out_choice, points, every, folds, measure)
    choice = by_others(lambda some: recommend(some, measure, prior_reduction).reduction)
    first_ten, level = None, smallest_level(points, measure)
    if measure in FIRST_TEN and level is not None and level > recommended.reduction:
        expected = by_others(lambda some: smallest_level(some, measure) or 0.0)
        first_ten = {"reduction": level, **(expected or {})}
    return {
        "points": points,
        "full": about_full,
        "recommended_reduction": recommended.reduction,
        "recommended_because": recommended.because,
        "choice": choice,
        "first_ten": first_ten,
    }


def held_out_choice(
    points: Sequence[Mapping[str, Any]],
    differences: Sequence[np.ndarray],
    folds: Sequence[np.ndarray],
    measure: str,
    choose: Callable[[Sequence[Mapping[str, Any]]], float],
) -> dict[str, Any] | None:
    """Return the difference from the full index to expect of as many other queries.

    Luck favours the point that the queries ``choose``, so their mean is too high. Here each fold is
    measured at the point that the other folds choose. None for a single fold. ``differences`` has
    float64[Q, measures] for each point, of held-out queries from the full index.
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
        at = nearest(reductions, choose(by_others))
        gains[fold] = differences[at][fold, column]
    return {"mean": float(gains.mean()), "ci95": list(_interval_of_others(gains))}


def _of_judged(measured: np.ndarray) -> dict[str, float]:
    return dict(zip(JUDGED, map(float, measured[:, len(MEASURES) :].mean(axis=0))))


def interval_of(differences: np.ndarray) -> Interval:
    """Return the 95 % interval of the mean of float64[Q] differences."""
    return t_test(differences)[1] or _ANYTHING


def interval_of_log(differences: np.ndarray) -> Interval:
    """Return the 95 % interval of the mean of as many queries that are still to come.

    One more query, which loses all, is counted: n without a loss cannot show that fewer than 1 in
    n + 1 lose.
    """
    return _interval_of_others(np.append(differences, _ALL_LOST))


def _interval_of_others(differences: np.ndarray) -> Interval:
    """Return the 95 % interval of the mean of as many other queries.

    These queries' mean and that of the others both vary, so it is the square root of two wider.
    """
    low, high = interval_of(differences)
    more = (2**0.5 - 1) * (high - low) / 2
    return max(low - more, -1.0), min(high + more, 1.0)


def _differences(
    differences: np.ndarray, interval: Callable[[np.ndarray], Interval] = interval_of
) -> dict[str, dict[str, Any]]:
    """Return the mean difference of each measure with its interval, over paired queries."""
    return {
        name: {"mean": float(per_query.mean()), "ci95": list(interval(per_query))}
        for name, per_query in zip(MEASURES, differences.T)
    }
