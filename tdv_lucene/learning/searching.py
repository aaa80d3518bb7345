"""What search will use, chosen before anything is learned: k1 and b of BM25, or mu."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
from scipy import stats

from ..progress import Progress
from ..tune import GRIDS
from .problem import Problem
from .recipes import Parameters
from .stopping import deciding

_SIGNIFICANCE = 0.05
_QUERIES = 400
"""Two numbers need no more queries than that."""


def choose_parameters(problem: Problem, seed: int, progress: Progress) -> Parameters:
    """Return the parameters that serve the training queries best on the full index.

    Values learned for parameters that do not suit the collection make up for them first, in ways
    that suit the training's kind of query only. The grid is that of :mod:`tdv_lucene.tune`, the
    choice is by what decides on stopping, and the given parameters stay unless the best ones are
    better by a paired t-test (p < .05): few queries would move them at random.
    """
    grid = GRIDS[problem.model]
    some = np.random.default_rng(seed).permutation(len(problem.queries))[:_QUERIES]
    choices = [dict(zip(grid, values)) for values in itertools.product(*grid.values())]
    start = best = _deciding(problem, problem.parameters, some)
    found = problem.parameters
    for done, choice in enumerate(choices):
        progress("choose search parameters", done, len(choices))
        parameters = replace(problem.parameters, **choice)
        values = _deciding(problem, parameters, some)
        if values.mean() > best.mean():
            best, found = values, parameters
    if found == problem.parameters:
        return found
    better = stats.ttest_rel(best, start).pvalue < _SIGNIFICANCE
    return found if better else problem.parameters


def _deciding(problem: Problem, parameters: Parameters, some: np.ndarray) -> np.ndarray:
    """Return float64[n]: what decides, of each of ``some`` queries on the full index."""
    return deciding(problem.with_parameters(parameters).measure(problem.plain, some))
