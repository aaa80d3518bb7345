"""What is tuned on the training queries before any TDV is learned: k1 and b (or mu) of the search,
and the first-position boost; of an impact index the powers of its weights.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..evaluation.tuning import OBJECTIVE, parameters_to_try
from ..progress import Progress
from ..ranking import SearchParameters, ranking_function
from ..ranking.boosts import Boost, FirstPositionBoost, WeightPower
from ..simulation.measures import MEASURES, first_of_the_best
from ..simulation.problem import Problem, Tuned

_QUERIES = 400
"""Enough to choose a few numbers."""

_BOOSTS = (1.0, 2.0, 4.0, 8.0)
_SPANS = (1.0, 2.0, 4.0, 8.0, 16.0)
_POWERS = (1.25, 0.8, 1.5, 0.65, 1.75, 2.0, 0.5, 2.25, 2.5, 3.0)
"""From the nearest to 1, as logarithms."""

_BOOST_WIDTH, _SPAN_WIDTH = 0.5, 0.7
"""How much log(1 + boost) and log(span) differ between collections, about."""
_PRICE = 0.8
"""What moving by one width from a prior must gain, summed over the queries, in the objective."""


class _Point(NamedTuple):
    """What is chosen."""

    parameters: SearchParameters
    boost: Boost | None


_Served = Callable[[_Point], np.ndarray]
"""How a point serves the queries that are measured: float64[n]."""
_Choice = Callable[[Sequence[_Point], Sequence[np.ndarray]], int]
"""Which of some points, by float64[n] for each: how it serves the queries."""


def tuning_queries(problem: Problem, seed: int) -> np.ndarray:
    """Return int64[n], the queries that parameters are tuned on: those of learning and, as they are
    rivals, those of the full index."""
    return np.random.default_rng(seed).permutation(len(problem.queries))[:_QUERIES]


def choose_parameters(
    problem: Problem,
    folds: Sequence[np.ndarray],
    some: np.ndarray,
    progress: Progress,
    *,
    from_prior: bool = False,
    fixed: Collection[str] = (),
) -> Tuned:
    """Return the problem with parameters that serve its queries well while nothing is dropped.

    With parameters that do not suit the collection, TDVs would first learn to compensate for them,
    and in a way that helps the training's kind of query only. The grid is ``ranking.GRIDS``. If the
    problem has a first-position boost, other boosts, none, and other spans are tried next, and
    after a change the grid once more. The queries ``some`` decide, by the objective of
    :mod:`..evaluation.tuning`: all of them, and for each fold those of the other folds. Of all
    choices that they cannot tell from the best (paired t-test,
    p < .05) the one nearest to what was given is taken: the best for one kind of query goes too far
    for others, and few queries would choose it by chance.

    With ``from_prior`` the problem has a prior's parameters, which suit other collections well.
    Then the most likely parameters are taken: those of the largest gain, less a price that grows
    with the square of the distance from the prior's. Few queries move them little, many far.

    Parameters that are ``fixed``, by name, stay as they are; the others suit them.
    """
    served, given = _measured_once(problem, some, progress), _point(problem)
    choice: _Choice = (
        _most_likely(given, problem.model)
        if from_prior
        else lambda points, served: first_of_the_best(served)
    )
    voters = [~np.isin(some, fold) for fold in (some[:0], *folds)]
    chosen = [_choose_all(given, problem.model, served, choice, of, fixed) for of in voters]
    made = {given: problem}
    for point in chosen:
        made.setdefault(point, _at(point, list(made.values())))
    of_all, *of_folds = (made[point] for point in chosen)
    return Tuned(of_all, of_folds)


def _point(problem: Problem) -> _Point:
    return _Point(problem.parameters, problem.matrix.position_boost)


def _at(point: _Point, made: Sequence[Problem]) -> Problem:
    """Return the problem at ``point``, which shares what one of the others with its boost has."""
    alike = (each for each in made if each.matrix.position_boost == point.boost)
    found = next(alike, None) or made[0].with_position_boost(point.boost)
    return found.with_parameters(point.parameters)


def _most_likely(prior: _Point, model: str) -> _Choice:
    """Choose the largest gain over the queries, less what the distance from a prior costs.

    That is the largest posterior density, up to a factor, under a Gaussian prior over the
    parameters with their widths, whose weight beside the queries is ``_PRICE``.
    """
    origin = _coordinates(prior, model)

    def choose(points: Sequence[_Point], served: Sequence[np.ndarray]) -> int:
        away = [float(np.nansum((_coordinates(point, model) - origin) ** 2)) for point in points]
        gains = [measured.sum() - _PRICE * far for far, measured in zip(away, served)]
        return int(np.argmax(gains))

    return choose


def _coordinates(point: _Point, model: str) -> np.ndarray:
    """Return float64[parameters]: where a point lies, in widths; NaN for the span where there is no
    boost."""
    values = point.parameters.values()
    own = [
        (values[each.name] if each.linear else np.log(values[each.name])) / each.width
        for each in ranking_function(model).takes
        if each.is_tuned
    ]
    assert not isinstance(point.boost, WeightPower)  # impact indexes have no prior
    boost, span = point.boost or (0.0, np.nan)
    return np.array([*own, np.log1p(boost) / _BOOST_WIDTH, np.log(span) / _SPAN_WIDTH])


def _choose_all(
    given: _Point,
    model: str,
    served: _Served,
    choice: _Choice,
    voters: np.ndarray,
    fixed: Collection[str],
) -> _Point:
    """Return the choice of all, one thing after another: parameters, boost, span, and parameters
    once more.

    ``voters`` bool[n]: which of the queries that were measured decide. Parameters that are
    ``fixed``, by name, stay.
    """

    def choose(given: _Point, others: Iterable[_Point]) -> _Point:
        points = [given, *others]
        return points[choice(points, [served(point)[voters] for point in points])]

    def choose_boost(given: _Point, boosts: Iterable[Boost | None]) -> _Point:
        return choose(given, [given._replace(boost=boost) for boost in boosts])

    def choose_of_grid(given: _Point) -> _Point:
        """All points of the grid are tried, nearest to the given one first (in logarithms)."""
        own = given.parameters.values()

        def distance(tried: Mapping[str, float]) -> float:
            return float(sum(abs(np.log(value / own[name])) for name, value in tried.items()))

        grid = sorted(parameters_to_try(model, own, fixed)[1:], key=distance)
        parameters = (given.parameters.with_values(tried) for tried in grid)
        return choose(given, [given._replace(parameters=each) for each in parameters])

    found = choose_of_grid(given)
    if isinstance(found.boost, WeightPower):  # within terms, or of all weights; then across terms
        one = found.boost
        both = [(power, across) for power in _POWERS for across in (one.across, power)]
        found = choose_boost(found, [one._replace(power=p, across=across) for p, across in both])
        assert isinstance(found.boost, WeightPower)
        return choose_boost(found, [found.boost._replace(across=p) for p in (1.0, *_POWERS)])
    if not isinstance(given.boost, FirstPositionBoost):
        return found
    span = given.boost.span
    found = choose_boost(found, [FirstPositionBoost(boost, span) for boost in _BOOSTS])
    found = choose_boost(found, [None])
    if isinstance(found.boost, FirstPositionBoost):
        boost = found.boost.boost
        found = choose_boost(found, [FirstPositionBoost(boost, span) for span in _SPANS])
    return found if found.boost == given.boost else choose_of_grid(found)


def _measured_once(problem: Problem, some: np.ndarray, progress: Progress) -> _Served:
    """Return how points serve the queries ``some``, by the objective: each is measured once,
    whoever asks for it."""
    known: dict[_Point, np.ndarray] = {}
    at, start = problem, problem.start
    boosts = 0 if problem.matrix.position_boost is None else len((*_BOOSTS, None, *_SPANS))
    foreseen = len(parameters_to_try(problem.model, problem.parameters.values())) + boosts

    def served(point: _Point) -> np.ndarray:
        nonlocal at, start
        if point not in known:
            done = min(len(known), foreseen)  # more where the boost changes
            progress("choose search parameters", done, foreseen)
            if at.matrix.position_boost != point.boost:  # one at a time: each has its postings
                at = problem.with_position_boost(point.boost)
                start = at.start
            measured = at.with_parameters(point.parameters).measure(start, some)
            known[point] = measured[:, MEASURES.index(OBJECTIVE)]
        return known[point]

    return served
