"""The index before pruning, searched with its best parameters: what points are compared with.

Against default parameters a pruned index wins too easily: part of its gain comes from the k1 and b
that were chosen for it.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..core.scoring import Statistics
from ..matrix.blocks import row_sums
from ..progress import Progress
from ..ranking import GRIDS
from .problem import Problem
from .recipes import Parameters
from .stopping import deciding

_QUERIES = 400
"""Enough to choose two numbers."""


class FullIndex(NamedTuple):
    """The full index with its best parameters.

    Attributes
    ----------
    measured : float64[Q, 3]
        Each query's measures, with the parameters that are best for the *other* folds' queries.
    parameters : Parameters
        Those that are best for all queries.
    visited : float
        Postings in the lists of a query's terms, mean over the queries.
    """

    measured: np.ndarray
    parameters: Parameters
    visited: float


def measure_full(problem: Problem, folds: list[np.ndarray], progress: Progress) -> FullIndex:
    """Tune the full index on the training queries and measure every query.

    The grid is ``ranking.GRIDS``, and the problem's own parameters. Here the best is taken however
    small its gain, while a pruned index needs a clear gain to change its parameters: the full index
    is the rival, and gets every advantage.
    """
    full = problem.full
    grid = GRIDS[problem.model]
    choices = [dict(zip(grid, values)) for values in itertools.product(*grid.values())]
    tried = [problem.parameters, *(replace(problem.parameters, **choice) for choice in choices)]
    some = np.random.default_rng(0).permutation(len(problem.queries))[:_QUERIES]
    served = np.zeros((len(tried), len(some)))
    for number, parameters in enumerate(tried):
        progress("tune the full index", number, len(tried))
        served[number] = deciding(full.with_parameters(parameters).measure(full.plain, some))
    measured = np.zeros((len(problem.queries), 3))
    for fold in folds:
        others = ~np.isin(some, fold)
        best = tried[int(served[:, others].sum(axis=1).argmax())]
        measured[fold] = full.with_parameters(best).measure(full.plain, fold)
    best = tried[int(served.sum(axis=1).argmax())]
    return FullIndex(measured, best, mean_visited(problem, full.plain.statistics))


def visited(problem: Problem, statistics: Statistics) -> np.ndarray:
    """Return float64[Q]: the postings in the lists of each query's terms.

    An exhaustive search visits all of them, one that skips visits some of them.
    """
    doc_freq = np.where(statistics.total_term_freq > 0, statistics.doc_freq, 0)  # 1 where dropped
    queries = problem.queries
    return row_sums(doc_freq[queries.terms], np.diff(queries.indptr))


def mean_visited(problem: Problem, statistics: Statistics) -> float:
    """Return the mean over the queries of :func:`visited`."""
    return float(visited(problem, statistics).sum() / max(1, len(problem.queries)))
