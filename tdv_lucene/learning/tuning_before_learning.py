"""What is tuned on the training queries before any TDV is learned: k1 and b (or mu) of the search,
and the first-position boost.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Sequence
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

_WIDTHS = {"k1": 0.5, "b": 0.2, "mu": 0.5, "boost": 0.5, "span": 0.7}
"""How much parameters differ between collections, about: b as it is, the boost as log(1 + boost),
the others as logarithms."""
_PRICE = 0.8
"""What moving by one width from a prior must gain, summed over the queries, in what decides."""

_Choice = Callable[[Sequence[Problem], Sequence[np.ndarray]], int]
"""Which of some problems, by float64[n] for each: how it serves the queries."""


def choose_parameters(
    problem: Problem,
    seed: int,
    progress: Progress,
    *,
    from_prior: bool = False,
    fixed: Collection[str] = (),
) -> Problem:
    """Return the problem with parameters that serve its queries well while nothing is dropped.

    With parameters that do not suit the collection, TDVs would first learn to compensate for them,
    and in a way that helps the training's kind of query only. The grid is ``ranking.GRIDS``. If the
    problem has a first-position boost, other boosts, none, and other spans are tried next, and
    after a change the grid once more. Queries decide as they do on stopping (see
    :func:`.stopping.deciding`). Of all choices that they cannot tell from the best (paired t-test,
    p < .05) the one nearest to what was given is taken: the best for one kind of query goes too far
    for others, and few queries would choose it by chance.

    With ``from_prior`` the problem has a prior's parameters, which suit other collections well.
    Then the most likely parameters are taken: those of the largest gain, less a price that grows
    with the square of the distance from the prior's. Few queries move them little, many far.

    Parameters that are ``fixed``, by name, stay as they are; the others suit them.
    """
    grid = _other_parameters(problem, fixed)
    choice = _MostLikely(problem) if from_prior else _nearest_of_the_best
    search = _Search(problem, seed, progress, choice)
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
    return search.choose(found, _other_parameters(found, fixed))


def _other_parameters(problem: Problem, fixed: Collection[str]) -> list[Problem]:
    """Return the problem at all points of the grid, nearest to its own first (in logarithms)."""
    grid = {name: tried for name, tried in GRIDS[problem.model].items() if name not in fixed}
    if not grid:
        return []
    choices = [dict(zip(grid, values)) for values in itertools.product(*grid.values())]

    def distance(choice: dict[str, float]) -> float:
        given = vars(problem.parameters)
        return sum(abs(np.log(value / given[name])) for name, value in choice.items())

    ordered = sorted(choices, key=distance)
    return [problem.with_parameters(replace(problem.parameters, **choice)) for choice in ordered]


def _nearest_of_the_best(problems: Sequence[Problem], served: Sequence[np.ndarray]) -> int:
    """Return the first that the best is not clearly better than."""
    best = max(served, key=np.mean)
    return next(k for k, measured in enumerate(served) if not clearly_better(best, measured))


class _MostLikely:
    """Chooses the largest gain over the queries, less what the distance from a prior costs.

    That is the largest posterior density, up to a factor, under a Gaussian prior over the
    parameters with ``_WIDTHS``, whose weight beside the queries is ``_PRICE``.
    """

    def __init__(self, prior: Problem) -> None:
        self._prior = _coordinates(prior)

    def __call__(self, problems: Sequence[Problem], served: Sequence[np.ndarray]) -> int:
        gains = [
            measured.sum() - _PRICE * np.nansum((_coordinates(problem) - self._prior) ** 2)
            for problem, measured in zip(problems, served)
        ]
        return int(np.argmax(gains))


def _coordinates(problem: Problem) -> np.ndarray:
    """Return float64[parameters]: where a problem's parameters lie, in widths; NaN for the span
    where there is no boost."""
    at = {
        name: value if name == "b" else np.log(value)
        for name, value in vars(problem.parameters).items()
        if name in GRIDS[problem.model]
    }
    boost, span = problem.matrix.position_boost or (0.0, np.nan)
    at |= {"boost": np.log1p(boost), "span": np.log(span)}
    return np.array([value / _WIDTHS[name] for name, value in at.items()])


class _Search:
    """Chooses between problems by a sample of the queries."""

    def __init__(self, problem: Problem, seed: int, progress: Progress, choice: _Choice) -> None:
        self._choice = choice
        self._some = np.random.default_rng(seed).permutation(len(problem.queries))[:_QUERIES]
        self._progress = progress
        self._tried = self._foreseen = 0
        self._kept: tuple[Problem, np.ndarray] | None = None

    def foresee(self, number: int) -> None:
        """Tell the progress that so many more will be tried, about."""
        self._foreseen += number

    def choose(self, given: Problem, others: Iterable[Problem]) -> Problem:
        """Return the choice of ``given`` and ``others``."""
        problems = [given, *others]
        served = [self._measure(problem) for problem in problems]
        chosen = self._choice(problems, served)
        self._kept = problems[chosen], served[chosen]
        return problems[chosen]

    def _measure(self, problem: Problem) -> np.ndarray:
        """Return float64[n]: what decides, for each query of the sample."""
        if self._kept is not None and self._kept[0] is problem:
            return self._kept[1]
        self._tried += 1
        self._progress("choose search parameters", min(self._tried, self._foreseen), self._foreseen)
        return deciding(problem.measure(problem.start, self._some))
