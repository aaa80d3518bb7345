"""Tuning before any TDV is learned: the search's parameters, and the boost.

The first-position boost, or the powers of an impact index's weights.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..evaluation.tuning import OBJECTIVE, parameters_to_try
from ..progress import Progress
from ..ranking import SearchParameters, ranking_function
from ..ranking.postings import Boost
from ..simulation.collection import apply_values
from ..simulation.problem import Problem
from ..simulation.retrieval import MEASURES
from .selection import first_of_the_best

_QUERIES = 400  # enough to choose a few numbers
PRICE = 0.8
"""The least gain, summed over the queries, that moving by one width from a prior must bring."""


class _Point(NamedTuple):
    parameters: SearchParameters
    boost: Boost | None


def tuning_queries(problem: Problem, seed: int) -> np.ndarray:
    """Return int64[n], the queries that tune parameters, of the full index as well."""
    return np.random.default_rng(seed).permutation(len(problem.queries))[:_QUERIES]


def choose_parameters(
    problem: Problem,
    folds: Sequence[np.ndarray],
    queries: np.ndarray,
    progress: Progress,
    *,
    price: float | None = None,
    fixed: Collection[str] = (),
) -> list[Problem]:
    """Return the problem with parameters that serve its queries well while nothing is dropped.

    The first has those that all ``queries`` choose, then come those of each fold, which the other
    folds choose. Folds that choose the same share one object.

    With parameters that do not suit the collection, TDVs would first learn to compensate for them,
    and in a way that helps the training's kind of query only. The grid is ``ranking.GRIDS``; then
    come the boost's ``searches``, and after a change the grid once more. The objective of
    :mod:`..evaluation.tuning` decides.

    With a ``price`` the problem has a prior's parameters, which suit other collections well.
    Then the most likely parameters are taken: those of the largest gain, less the price times the
    square of the distance from the prior's. Few queries move them little, many far. At a price of 0
    it is the best that norms can hold, as of the full index, however small its gain. Without one it
    is the point nearest to the given one that the best does not significantly beat.

    Parameters that are ``fixed``, by name, stay as they are; the others suit them.
    """
    served = _measured_once(problem, queries, progress, price == 0)
    model, given = problem.model, _Point(problem.parameters, problem.matrix.position_boost)
    origin = _coordinates(given, model)

    def best(points: Sequence[_Point], voters: np.ndarray) -> _Point:
        """Return the choice of ``voters`` bool[n]."""
        measured = [served(point)[voters] for point in points]
        if price is None:
            return points[first_of_the_best(measured)]
        # The largest posterior density, up to a factor, under a Gaussian prior over the parameters
        # with their widths, whose weight against the queries is the price.
        away = [float(np.nansum((_coordinates(point, model) - origin) ** 2)) for point in points]
        gains = [each.sum() - price * far for far, each in zip(away, measured)]
        return points[int(np.argmax(gains))]

    def best_of_grid(at: _Point, voters: np.ndarray) -> _Point:
        """Try all points of the grid, nearest to ``at`` first (in logarithms)."""
        own = at.parameters.values()

        def distance(tried: Mapping[str, float]) -> float:
            return float(sum(abs(np.log(value / own[name])) for name, value in tried.items()))

        grid = sorted(parameters_to_try(model, own, fixed)[1:], key=distance)
        others = [at._replace(parameters=at.parameters.with_values(tried)) for tried in grid]
        return best([at, *others], voters)

    def best_of_all(voters: np.ndarray) -> _Point:
        """Choose parameters, the boost in its steps, and parameters once more if it changed."""
        found = best_of_grid(given, voters)
        if given.boost is None:
            return found
        for boosts_after in given.boost.searches:
            boosts = boosts_after(found.boost)
            found = best([found, *(found._replace(boost=boost) for boost in boosts)], voters)
        return found if found.boost == given.boost else best_of_grid(found, voters)

    made = {given: problem}
    chosen = [best_of_all(~np.isin(queries, fold)) for fold in (queries[:0], *folds)]
    for point in chosen:
        if point not in made:  # those of one boost share its data
            alike = (each for each in made.values() if each.matrix.position_boost == point.boost)
            found = next(alike, None) or problem.with_position_boost(point.boost)
            made[point] = found.with_parameters(point.parameters)
    return [made[point] for point in chosen]


def _coordinates(point: _Point, model: str) -> np.ndarray:
    """Return float64[parameters]: a point in widths; NaN for the span where there is no boost."""
    values = point.parameters.values()
    own = [
        (values[each.name] if each.linear else np.log(values[each.name])) / each.width
        for each in ranking_function(model).takes
        if each.is_tuned
    ]
    return np.array([*own, *((0.0, np.nan) if point.boost is None else point.boost.coordinates)])


def _measured_once(
    problem: Problem, queries: np.ndarray, progress: Progress, written: bool
) -> Callable[[_Point], np.ndarray]:
    """Return a function that measures the objective of the ``queries``, each point once.

    As ``written``, with what norms can hold of the parameters: where nothing else changes, a k1
    that they cannot hold would be chosen for nothing.
    """
    known: dict[_Point, np.ndarray] = {}
    at, start, boost = problem, problem.start, problem.matrix.position_boost
    boosts = 0 if boost is None else sum(len(after(boost)) for after in boost.searches)
    foreseen = len(parameters_to_try(problem.model, problem.parameters.values())) + boosts

    def served(point: _Point) -> np.ndarray:
        nonlocal at, start
        if point not in known:
            done = min(len(known), foreseen)  # more where the boost changes
            progress("choose search parameters", done, foreseen)
            if at.matrix.position_boost != point.boost:  # one at a time: each has its postings
                at = problem.with_position_boost(point.boost)
                start = at.start
            tried, collection = at.with_parameters(point.parameters), start
            if written:
                same = np.ones(at.matrix.shape[0], np.float32)
                collection = apply_values(at.matrix, same, 1.0, held=tried.held(1.0))
            measured = tried.measure(collection, queries)
            known[point] = measured[:, MEASURES.index(OBJECTIVE)]
        return known[point]

    return served
