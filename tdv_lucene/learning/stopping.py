"""When to stop, and how far to trust what was learned: chosen on held-out queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core import tdv
from ..simulation.measures import deciding, first_of_the_best
from .training_task import Task

SLOPES = (0.0, 0.25, 0.5, 0.75)
"""How far TDVs may differ from their mean (1: as learned, 0: all the same)."""
CAUTION = 1.0
"""With a prior: by how many standard errors the result must serve held-out queries better than the
prior does."""


class Network(NamedTuple):
    """One shallow network, shrunk: tdv = (1 - slope) base + factor ReLU(w . x + b).

    Attributes
    ----------
    linear : tdv.Linear of NumPy arrays
    factor : float
        The slope over the mean ReLU of a kept token. Only the differences between the learned TDVs
        are used, and they are shrunk: a training on few queries pushes some terms to 0, and then
        nothing finds what only they retrieve. The mean TDV is always 1. Moving all TDVs together
        would choose another k1 (or mu), which was done before, and with care: it suits the
        training's kind of query and harms others.
    slope : float
        Within [0, 1]; 0 leaves every term at the base.
    step : int
    base : float32[V] or 1.0
        What TDVs are shrunk towards: the problem's base, which has a mean of 1 too.
    """

    linear: tdv.Linear
    factor: float
    slope: float
    step: int
    base: np.ndarray | float = 1.0

    def values(self, features: tdv.Features) -> np.ndarray:
        """Return float32[V] TDVs."""
        unit = np.asarray(tdv.term_values(self.linear, features))
        return ((1 - self.slope) * self.base + self.factor * unit).astype(np.float32)

    def describe(self) -> dict[str, Any]:
        """Return the network as JSON."""
        return {
            "step": self.step,
            "slope": self.slope,
            "floor": 1 - self.slope,
            "factor": self.factor,
            "w_statistics": np.asarray(self.linear.of_statistics).tolist(),
            "w_vector": np.asarray(self.linear.of_vector).tolist(),
            "b": float(self.linear.bias),
        }


class Trained(NamedTuple):
    """One fold's training, at all choices of a step and a slope; the first is the base.

    Attributes
    ----------
    networks : list of Network
    gains : float64[choices, n]
        Over the base, of the queries that the training did not see.
    """

    networks: list[Network]
    gains: np.ndarray


def measure_checkpoints(
    task: Task, checkpoints: dict[int, tdv.Linear], fold: np.ndarray
) -> Trained:
    """Measure a training at every checkpoint and slope on the queries it did not see."""
    start = jax.tree.map(np.asarray, task.collection.start)
    networks = [
        _network(task, start, 0, 0.0),
        *(_network(task, at, step, slope) for step, at in checkpoints.items() for slope in SLOPES),
    ]
    measured = np.array([_measure(task, network, fold) for network in networks])
    return Trained(networks, measured - measured[0])


def choose(gains: Sequence[np.ndarray], caution: float) -> tuple[list[int], int]:
    """Return the best choice for each fold by all *other* folds, and the best by all.

    ``gains`` float64[choices, n] of each fold are over choice 0. Network k was trained without fold
    k, whose queries measured it. Pooled over the folds, every query is measured by a network whose
    gradients never saw it. A single fold of a small collection would be too noisy. ``caution``
    standard errors are taken off each sum of gains, and with few queries choice 0 stays.
    """
    sums = np.array([of_fold.sum(axis=1) for of_fold in gains])
    squares = np.array([(of_fold**2).sum(axis=1) for of_fold in gains])
    sizes = np.array([of_fold.shape[1] for of_fold in gains])
    total, all_squares, number = sums.sum(axis=0), squares.sum(axis=0), sizes.sum()
    others = _at_least(total - sums, all_squares - squares, (number - sizes)[:, None], caution)
    everyone = _at_least(total, all_squares, number, caution)
    return np.argmax(others, axis=1).tolist(), int(np.argmax(everyone))


def choose_mildly(trained: Sequence[Trained]) -> tuple[list[int], int]:
    """Choose as :func:`choose`, but the mildest that the best is not clearly better than.

    That is the smallest slope, and the fewest steps. It is for TDVs that start at 1: what the
    training's kind of query gains by larger differences, others pay for.
    """
    networks = trained[0].networks
    mildest = sorted(
        range(len(networks)), key=lambda choice: (networks[choice].slope, networks[choice].step)
    )
    gains = [of_fold.gains[mildest] for of_fold in trained]

    def chosen(folds: Sequence[np.ndarray]) -> int:
        return mildest[first_of_the_best([*np.concatenate(folds, axis=1)])]

    return [chosen(gains[:k] + gains[k + 1 :]) for k in range(len(gains))], chosen(gains)


def _at_least(
    sums: np.ndarray, squares: np.ndarray, number: np.ndarray | int, caution: float
) -> np.ndarray:
    """Return ``sums`` of so many gains less ``caution`` standard errors of a sum."""
    spread = np.maximum(squares - sums**2 / np.maximum(number, 1), 0)
    return sums - caution * np.sqrt(spread * number / np.maximum(number - 1, 1))


def _network(task: Task, linear: tdv.Linear, step: int, slope: float) -> Network:
    collection = task.collection
    unit = np.asarray(tdv.term_values(linear, collection.features))
    tokens = np.asarray(collection.total_term_freq * collection.kept, np.float64)
    mean = max(float((tokens * unit).sum() / tokens.sum()), 1e-9)
    base = 1.0 if task.problem.base is None else task.problem.base
    return Network(linear, slope / mean, slope, step, base)


def _measure(task: Task, network: Network, queries: np.ndarray) -> np.ndarray:
    """Rank the whole collection for the ``queries``; return float64[n], what decides."""
    values = network.values(task.collection.features) * np.asarray(task.collection.kept)
    problem = task.problem
    return deciding(problem.measure(problem.rows.weighted(values), queries))
