"""Tuning before any TDV is learned: the search's parameters, and the boost.

The first-position boost, or the powers of an impact index's weights.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..evaluation.tuning import OBJECTIVE, parameters_to_try
from ..progress import Progress
from ..ranking import SearchParameters, ranking_function
from ..ranking.postings import Boost
from ..simulation.collection import apply_values
from ..simulation.problem import FoldProblems, Problem
from ..simulation.retrieval import MEASURES
from .selection import first_of_the_best

_QUERIES = 400
"""Enough to choose a few numbers."""
PRICE = 0.8
"""The least gain, summed over the queries, that moving by one width from a prior must bring."""


class _Point(NamedTuple):
    """Parameters and a boost to try."""

    parameters: SearchParameters
    boost: Boost | None


_Served = Callable[[_Point], np.ndarray]
"""The objective of the measured queries at a point: float64[n]."""
_Choice = Callable[[Sequence[_Point], Sequence[np.ndarray]], int]
"""Chooses one of some points, by float64[n] for each: the objective of the queries."""


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
) -> FoldProblems:
    """Return the problem with parameters that serve its queries well while nothing is dropped.

    With parameters that do not suit the collection, TDVs would first learn to compensate for them,
    and in a way that helps the training's kind of query only. The grid is ``ranking.GRIDS``; then
    come the boost's ``searches``, and after a change the grid once more. The objective of
    :mod:`..evaluation.tuning` decides: of all ``queries``, and for each fold those of the others.

    With a ``price`` the problem has a prior's parameters, which suit other collections well.
    Then the most likely parameters are taken: those of the largest gain, less the price times the
    square of the distance from the prior's. Few queries move them little, many far. At a price of 0
    it is the best that norms can hold, as of the full index, however small its gain. Without one it
    is the point nearest to the given one that the best does not significantly beat.

    Parameters that are ``fixed``, by name, stay as they are; the others suit them.
    """
    served = _measured_once(problem, queries, progress, price == 0)
    given = _Point(problem.parameters, problem.matrix.position_boost)
    choice: _Choice = (
        (lambda points, served: first_of_the_best(served))
        if price is None
        else _most_likely(given, problem.model, price)
    )
    voters = [~np.isin(queries, fold) for fold in (queries[:0], *folds)]
    chosen = [_choose_all(given, problem.model, served, choice, of, fixed) for of in voters]
    made = {given: problem}
    for point in chosen:
        made.setdefault(point, _at(point, list(made.values())))
    of_all, *of_folds = (made[point] for point in chosen)
    return FoldProblems(of_all, of_folds)


def _at(point: _Point, made: Sequence[Problem]) -> Problem:
    """Return the problem at ``point``, which shares the data of another with its boost."""
    alike = (each for each in made if each.matrix.position_boost == point.boost)
    found = next(alike, None) or made[0].with_position_boost(point.boost)
    return found.with_parameters(point.parameters)


def _most_likely(prior: _Point, model: str, price: float) -> _Choice:
    """Choose the largest gain over the queries, less the price of the distance from a prior.

    That is the largest posterior density, up to a factor, under a Gaussian prior over the
    parameters with their widths, whose weight against the queries is ``price``.
    """
    origin = _coordinates(prior, model)

    def choose(points: Sequence[_Point], served: Sequence[np.ndarray]) -> int:
        away = [float(np.nansum((_coordinates(point, model) - origin) ** 2)) for point in points]
        gains = [measured.sum() - price * far for far, measured in zip(away, served)]
        return int(np.argmax(gains))

    return choose


def _coordinates(point: _Point, model: str) -> np.ndarray:
    """Return float64[parameters]: a point in widths; NaN for the span where there is no boost."""
    values = point.parameters.values()
    own = [
        (values[each.name] if each.linear else np.log(values[each.name])) / each.width
        for each in ranking_function(model).takes
        if each.is_tuned
    ]
    return np.array([*own, *((0.0, np.nan) if point.boost is None else point.boost.coordinates)])


def _choose_all(
    given: _Point,
    model: str,
    served: _Served,
    choice: _Choice,
    voters: np.ndarray,
    fixed: Collection[str],
) -> _Point:
    """Return the choice of ``voters`` bool[n], one thing after another.

    Parameters, the boost in its steps, and parameters once more if the boost changed.
    """

    def choose(given: _Point, others: Iterable[_Point]) -> _Point:
        points = [given, *others]
        return points[choice(points, [served(point)[voters] for point in points])]

    def choose_of_grid(given: _Point) -> _Point:
        """Try all points of the grid, nearest to the given one first (in logarithms)."""
        own = given.parameters.values()

        def distance(tried: Mapping[str, float]) -> float:
            return float(sum(abs(np.log(value / own[name])) for name, value in tried.items()))

        grid = sorted(parameters_to_try(model, own, fixed)[1:], key=distance)
        parameters = (given.parameters.with_values(tried) for tried in grid)
        return choose(given, [given._replace(parameters=each) for each in parameters])

    found = choose_of_grid(given)
    if given.boost is None:
        return found
    for boosts_after in given.boost.searches:
        found = choose(found, [found._replace(boost=boost) for boost in boosts_after(found.boost)])
    return found if found.boost == given.boost else choose_of_grid(found)


def _measured_once(
    problem: Problem, queries: np.ndarray, progress: Progress, written: bool
) -> _Served:
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
