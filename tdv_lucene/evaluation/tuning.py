"""Tuning of parameters: one objective, one grid, one choice, wherever anything is tuned.

``learn`` tunes the full index it compares its points with, ``compare`` the baseline, the benches
their rivals. What learning chooses for the pruned index has the same objective
and grid (see :mod:`..learning.tune`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..progress import Progress, silent
from ..ranking import GRIDS

OBJECTIVE = "nDCG@5"
"""Parameters are chosen for the mean of this measure over all judged queries; no answer is 0."""

Choice = dict[str, float]  # parameters of a model, by name


@dataclass(frozen=True, eq=False)
class Tuning:
    """Choices tried on Q queries."""

    choices: Sequence[Choice]  # C of them, the given one first
    served: np.ndarray  # float64[C, Q]: the objective of each query

    def best(self, some: np.ndarray | slice = slice(None)) -> Choice:
        """Return the choice with the best mean over ``some`` queries, the first of equals.

        However small the gain: what is tuned is a rival, and gets every advantage.
        """
        return self.choices[int(np.argmax(self.served[:, some].mean(axis=1)))]

    def table(self) -> list[dict[str, float]]:
        """Return the parameters tried, each with the mean of the objective."""
        means = self.served.mean(axis=1).tolist()
        return [{**choice, OBJECTIVE: mean} for choice, mean in zip(self.choices, means)]


def parameters_to_try(
    model: str, given: Mapping[str, float], fixed: Collection[str] = ()
) -> list[Choice]:
    """Return the ``given`` parameters of ``model``, then its grid without ``fixed`` ones."""
    grid = {name: tried for name, tried in GRIDS[model].items() if name not in fixed}
    points = (dict(zip(grid, values)) for values in itertools.product(*grid.values()))
    first = {name: given[name] for name in grid}
    return [first, *(point for point in points if point != first)]


def tune(
    model: str,
    given: Mapping[str, float],
    measure: Callable[[Choice], np.ndarray],
    progress: Progress = silent,
    label: str = "tuning",
) -> Tuning:
    """Try all parameters, those ``given`` first, to stay with unless others are better.

    ``measure`` returns float64[Q], the objective of every query with some parameters.
    """
    choices = parameters_to_try(model, given)
    served = []
    for number, choice in enumerate(choices):
        served.append(measure(choice))
        progress(label, number + 1, len(choices))
    return Tuning(choices, np.array(served))
