"""The index before pruning, searched with its best parameters: what points are compared with.

Against default parameters a pruned index wins too easily: part of its gain comes from the k1 and b
that were chosen for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..evaluation.tuning import OBJECTIVE, Choice, tune
from ..matrix.blocks import row_sums
from ..progress import Progress
from ..ranking import SearchParameters, Statistics
from .estimated_bytes import lists_left
from .measures import MEASURES
from .problem import Problem


class FullIndex(NamedTuple):
    """The full index with its best parameters.

    Attributes
    ----------
    measured : float64[Q, measures]
        Each query's measures, with the parameters that are best for the *other* folds' queries.
    parameters : SearchParameters
        Those that are best for all queries.
    visited : float
        Postings in the lists of a query's terms, mean over the queries.
    """

    measured: np.ndarray
    parameters: SearchParameters
    visited: float


def measure_full(
    problem: Problem, folds: Sequence[np.ndarray], some: np.ndarray, progress: Progress
) -> FullIndex:
    """Tune the full index on ``some`` of the training queries and measure every query.

    See :mod:`..evaluation.tuning`. The queries and the folds are those that the pruned index's own
    parameters are chosen by: rivals see the same. Here the best is taken however small its gain,
    while a pruned index needs more to change its parameters.
    """
    full = problem.full

    def at(choice: Choice) -> Problem:
        return full.with_parameters(problem.parameters.with_values(choice))

    def measure(choice: Choice) -> np.ndarray:
        return at(choice).measure(full.plain, some)[:, MEASURES.index(OBJECTIVE)]

    given = problem.parameters.values()
    tuning = tune(problem.model, given, measure, progress, "tune the full index")
    measured = np.zeros((len(problem.queries), len(MEASURES)))
    for fold in folds:
        others = ~np.isin(some, fold)
        best = at(tuning.best(others) if others.any() else tuning.choices[0])
        measured[fold] = best.measure(full.plain, fold)
    chosen = at(tuning.best()).parameters
    return FullIndex(measured, chosen, mean_visited(problem, full.plain.statistics))


def visited(problem: Problem, statistics: Statistics) -> np.ndarray:
    """Return float64[Q]: the postings in the lists of each query's terms.

    An exhaustive search visits all of them, one that skips visits some of them.
    """
    queries = problem.queries
    return row_sums(lists_left(statistics)[queries.terms], np.diff(queries.indptr))


def mean_visited(problem: Problem, statistics: Statistics) -> float:
    """Return the mean over the queries of :func:`visited`."""
    return float(visited(problem, statistics).sum() / max(1, len(problem.queries)))
