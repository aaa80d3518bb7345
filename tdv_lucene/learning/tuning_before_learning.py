"""What is tuned on the training queries before any TDV is learned: k1 and b (or mu) of the search,
and the first-position boost; of an impact index the powers of its weights.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..evaluation.tuning import OBJECTIVE, parameters_to_try
from ..matrix.first_positions import Boost, FirstPositionBoost
from ..matrix.weight_powers import WeightPower
from ..progress import Progress
from ..ranking import SearchParameters, ranking_function
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
    served = _Served(problem, some, progress)
    choice: _Choice = (
        _MostLikely(problem) if from_prior else lambda points, served: first_of_the_best(served)
    )
    voters = [~np.isin(some, fold) for fold in (some[:0], *folds)]
    chosen = [_Chooser(served, choice, of, fixed).choose_all() for of in voters]
    made = {_point(problem): problem}
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


class _MostLikely:
    """Chooses the largest gain over the queries, less what the distance from a prior costs.

    That is the largest posterior density, up to a factor, under a Gaussian prior over the
    parameters with their widths, whose weight beside the queries is ``_PRICE``.
    """

    def __init__(self, prior: Problem) -> None:
        self._model, self._prior = prior.model, _coordinates(_point(prior), prior.model)

    def __call__(self, points: Sequence[_Point], served: Sequence[np.ndarray]) -> int:
        gains = [measured.sum() - _PRICE * self._distance(p) for p, measured in zip(points, served)]
        return int(np.argmax(gains))

    def _distance(self, point: _Point) -> float:
        return float(np.nansum((_coordinates(point, self._model) - self._prior) ** 2))


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


class _Chooser:
    """Chooses a point by some of the queries, one thing after another.

    Parameters
    ----------
    voters : bool[n]
        Which of the queries that were measured decide.
    fixed
        Names of parameters that stay.
    """

    def __init__(
        self, served: _Served, choice: _Choice, voters: np.ndarray, fixed: Collection[str]
    ) -> None:
        self._served, self._choice, self._voters, self._fixed = served, choice, voters, fixed

    def choose_all(self) -> _Point:
        """Return the choice of all: parameters, boost, span, and parameters once more."""
        given = _point(self._served.problem)
        found = self._choose(given, self._other_parameters(given))
        if isinstance(found.boost, WeightPower):
            return self._choose_powers(found, found.boost)
        if not isinstance(given.boost, FirstPositionBoost):
            return found
        span = given.boost.span
        boosts = (FirstPositionBoost(boost, span) for boost in _BOOSTS)
        found = self._choose(found, (found._replace(boost=boost) for boost in boosts))
        found = self._choose(found, [found._replace(boost=None)])
        if isinstance(found.boost, FirstPositionBoost):
            spans = (FirstPositionBoost(found.boost.boost, span) for span in _SPANS)
            found = self._choose(found, [found._replace(boost=boost) for boost in spans])
        if found.boost == given.boost:
            return found
        return self._choose(found, self._other_parameters(found))

    def _choose_powers(self, given: _Point, one: WeightPower) -> _Point:
        """Return the choice of powers within terms, or of all weights; then of those across."""
        both = [(p, across) for p in _POWERS for across in (one.across, p)]
        powers = [one._replace(power=power, across=across) for power, across in both]
        found = self._choose(given, [given._replace(boost=power) for power in powers])
        assert isinstance(found.boost, WeightPower)
        powers = [found.boost._replace(across=power) for power in (1.0, *_POWERS)]
        return self._choose(found, [found._replace(boost=power) for power in powers])

    def _choose(self, given: _Point, others: Iterable[_Point]) -> _Point:
        """Return the choice of ``given`` and ``others``."""
        points = [given, *others]
        if not self._voters.any():  # a single fold: nobody else could choose
            return given
        return points[self._choice(points, [self._served(p)[self._voters] for p in points])]

    def _other_parameters(self, given: _Point) -> list[_Point]:
        """Return all points of the grid, nearest to the given one first (in logarithms)."""
        own = given.parameters.values()

        def distance(choice: dict[str, float]) -> float:
            return float(sum(abs(np.log(value / own[name])) for name, value in choice.items()))

        choices = parameters_to_try(self._served.problem.model, own, self._fixed)[1:]
        return [
            given._replace(parameters=given.parameters.with_values(choice))
            for choice in sorted(choices, key=distance)
        ]


class _Served:
    """How points serve the queries ``some``: each is measured once, whoever asks for it."""

    def __init__(self, problem: Problem, some: np.ndarray, progress: Progress) -> None:
        self.problem, self._some, self._progress = problem, some, progress
        self._known: dict[_Point, np.ndarray] = {}
        self._at, self._start = problem, problem.start
        boosts = 0 if problem.matrix.position_boost is None else len((*_BOOSTS, None, *_SPANS))
        self._foreseen = len(parameters_to_try(problem.model, problem.parameters.values())) + boosts

    def __call__(self, point: _Point) -> np.ndarray:
        """Return float64[n]: the objective, for each query."""
        if point not in self._known:
            done = min(len(self._known), self._foreseen)  # more where the boost changes
            self._progress("choose search parameters", done, self._foreseen)
            self._known[point] = self._measure(point)
        return self._known[point]

    def _measure(self, point: _Point) -> np.ndarray:
        if self._at.matrix.position_boost != point.boost:  # one at a time: each has its postings
            self._at = _at(point, [self.problem])
            self._start = self._at.start
        measured = self._at.with_parameters(point.parameters).measure(self._start, self._some)
        return measured[:, MEASURES.index(OBJECTIVE)]
