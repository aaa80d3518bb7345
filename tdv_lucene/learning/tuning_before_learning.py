"""What is tuned on the training queries before any TDV is learned: k1 and b (or mu) of the search,
and the first-position boost.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..matrix.first_positions import FirstPositionBoost
from ..progress import Progress
from ..ranking import GRIDS
from .problem import Problem
from .stopping import clearly_better, deciding

_QUERIES = 400
"""Enough to choose a few numbers."""

_BOOSTS = (1.0, 2.0, 4.0, 8.0)
_SPANS = (1.0, 2.0, 4.0, 8.0, 16.0)


def choose_parameters(problem: Problem, seed: int, progress: Progress) -> Problem:
    """Return the problem with parameters that serve its queries well while nothing is dropped.

    With parameters that do not suit the collection, TDVs would first learn to compensate for them,
    and in a way that helps the training's kind of query only. The grid is ``ranking.GRIDS``. If the
    problem has a first-position boost, other boosts, none, and other spans are tried next, and
    after a change the grid once more. Queries decide as they do on stopping (see
    :func:`.stopping.deciding`). Of all choices that they cannot tell from the best (paired t-test,
    p < .05) the one nearest to what was given is taken: the best for one kind of query goes too far
    for others, and few queries would choose it by chance.
    """
    grid = _other_parameters(problem)
    search = _Search(problem, seed, progress)
    boosts = 0 if problem.matrix.position_boost is None else len((*_BOOSTS, None, *_SPANS))
    search.foresee(1 + len(grid) + boosts)
    found = search.choose(problem, grid)
    if problem.matrix.position_boost is None:
        return found
    boost, span = problem.matrix.position_boost
    found = search.choose(
        found, [found.with_position_boost(FirstPositionBoost(other, span)) for other in _BOOSTS]
    )
    found = search.choose(found, [found.full])
    if found.matrix.position_boost is not None:
        boost = found.matrix.position_boost.boost
        found = search.choose(
            found, [found.with_position_boost(FirstPositionBoost(boost, other)) for other in _SPANS]
        )
    if found.matrix.position_boost == problem.matrix.position_boost:
        return found
    search.foresee(len(grid))
    return search.choose(found, _other_parameters(found))


def _other_parameters(problem: Problem) -> list[Problem]:
    """Return the problem at all points of the grid, nearest to its own first (in logarithms)."""
    grid = GRIDS[problem.model]
    choices = [dict(zip(grid, values)) for values in itertools.product(*grid.values())]

    def distance(choice: dict[str, float]) -> float:
        given = vars(problem.parameters)
        return sum(abs(np.log(value / given[name])) for name, value in choice.items())

    ordered = sorted(choices, key=distance)
    return [problem.with_parameters(replace(problem.parameters, **choice)) for choice in ordered]


class _Search:
    """Chooses between problems by a sample of the queries."""

    def __init__(self, problem: Problem, seed: int, progress: Progress) -> None:
        self._some = np.random.default_rng(seed).permutation(len(problem.queries))[:_QUERIES]
        self._progress = progress
        self._tried = self._foreseen = 0
        self._kept: tuple[Problem, np.ndarray] | None = None

    def foresee(self, number: int) -> None:
        """Tell the progress that so many more will be tried, about."""
        self._foreseen += number

    def choose(self, given: Problem, others: Iterable[Problem]) -> Problem:
        """Return the first of ``given`` and ``others`` that the best is not clearly better than."""
        problems = [given, *others]
        served = [self._measure(problem) for problem in problems]
        best = max(served, key=np.mean)
        chosen = next(k for k, measured in enumerate(served) if not clearly_better(best, measured))
        self._kept = problems[chosen], served[chosen]
        return problems[chosen]

    def _measure(self, problem: Problem) -> np.ndarray:
        """Return float64[n]: what decides, for each query of the sample."""
        if self._kept is not None and self._kept[0] is problem:
            return self._kept[1]
        self._tried += 1
        self._progress("choose search parameters", min(self._tried, self._foreseen), self._foreseen)
        return deciding(problem.measure(problem.start, self._some))
