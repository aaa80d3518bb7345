"""When to stop, and how far to trust what was learned: chosen on held-out queries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core import tdv
from ..simulation.measures import deciding, first_of_the_best
from .training_task import Task


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

    @property
    def floor(self) -> float:
        """The TDV of a term whose ReLU is 0, as a share of the base."""
        return 1 - self.slope

    def values(self, features: tdv.Features) -> np.ndarray:
        """Return float32[V] TDVs."""
        unit = np.asarray(tdv.term_values(self.linear, features))
        return (self.floor * self.base + self.factor * unit).astype(np.float32)

    def describe(self) -> dict[str, Any]:
        """Return the network as JSON."""
        numbers = {name: getattr(self, name) for name in ("step", "slope", "floor", "factor")}
        return {
            **numbers,
            "w_statistics": np.asarray(self.linear.of_statistics).tolist(),
            "w_vector": np.asarray(self.linear.of_vector).tolist(),
            "b": float(self.linear.bias),
        }


class Stopped(NamedTuple):
    """One network a fold.

    Attributes
    ----------
    out_of_fold : list of Network
        For each fold, stopped where it was best for the *other* folds: its own queries chose
        nothing.
    final : list of Network
        For each fold, stopped where it was best for all folds.
    """

    out_of_fold: list[Network]
    final: list[Network]


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
    slopes = task.recipe.slopes
    choices = [(0, 0.0), *((step, slope) for step in checkpoints for slope in slopes)]
    networks = [_network(task, checkpoints, step, slope) for step, slope in choices]
    measured = np.array([_measure(task, network, fold) for network in networks])
    return Trained(networks, measured - measured[0])


def stop(trained: list[Trained], folds: list[np.ndarray], caution: float) -> Stopped:
    """Choose a step and a slope for all networks together.

    Network k was trained without fold k, whose queries measured it. Pooled over the folds, every
    query is measured by a network whose gradients never saw it. A single fold of a small collection
    would be too noisy. For ``caution`` see :func:`choose`.
    """
    others, everyone = choose(
        np.array([of_fold.gains.sum(axis=1) for of_fold in trained]),
        np.array([(of_fold.gains**2).sum(axis=1) for of_fold in trained]),
        np.array([len(fold) for fold in folds]),
        caution,
    )
    return _stopped(trained, others, everyone)


def stop_mildly(trained: list[Trained], folds: list[np.ndarray]) -> Stopped:
    """Choose as :func:`stop`, but the mildest that the best is not clearly better than.

    That is the smallest slope, and the fewest steps. It is for TDVs that start at 1: what the
    training's kind of query gains by larger differences, others pay for.
    """
    networks = trained[0].networks
    mildest = sorted(
        range(len(networks)), key=lambda choice: (networks[choice].slope, networks[choice].step)
    )
    gains = np.concatenate([of_fold.gains[mildest] for of_fold in trained], axis=1)
    fold_of = np.repeat(np.arange(len(folds)), [len(fold) for fold in folds])
    others = [mildest[first_of_the_best([*gains[:, fold_of != k]])] for k in range(len(folds))]
    return _stopped(trained, others, mildest[first_of_the_best([*gains])])


def _stopped(trained: list[Trained], others: Iterable[int], everyone: int) -> Stopped:
    """Return the networks at what the *other* folds chose for each, and at what all chose."""
    out_of_fold = [of_fold.networks[choice] for of_fold, choice in zip(trained, others)]
    return Stopped(out_of_fold, [of_fold.networks[everyone] for of_fold in trained])


def choose(
    sums: np.ndarray,
    squares: np.ndarray | None = None,
    sizes: np.ndarray | None = None,
    caution: float = 0.0,
) -> tuple[np.ndarray, int]:
    """Return the best choice for each fold by all *other* folds, and the best by all.

    ``sums`` float[folds, choices] holds each fold's sum over its queries. With ``caution`` these
    are sums of gains over choice 0, ``squares`` those of squared gains, and ``sizes`` int[folds]
    the numbers of queries. So many standard errors are taken off each gain, and with few queries
    choice 0 stays.
    """
    total = sums.sum(axis=0)
    if not caution or squares is None or sizes is None:
        return np.argmax(total - sums, axis=1), int(np.argmax(total))
    all_squares, number = squares.sum(axis=0), sizes.sum()
    others = _at_least(total - sums, all_squares - squares, (number - sizes)[:, None], caution)
    everyone = _at_least(total, all_squares, number, caution)
    return np.argmax(others, axis=1), int(np.argmax(everyone))


def _at_least(
    sums: np.ndarray, squares: np.ndarray, number: np.ndarray | int, caution: float
) -> np.ndarray:
    """Return ``sums`` of so many gains less ``caution`` standard errors of a sum."""
    spread = np.maximum(squares - sums**2 / np.maximum(number, 1), 0)
    return sums - caution * np.sqrt(spread * number / np.maximum(number - 1, 1))


def _network(task: Task, saved: dict[int, tdv.Linear], step: int, slope: float) -> Network:
    collection = task.collection
    linear = saved[step] if step else jax.tree.map(np.asarray, collection.start)
    unit = np.asarray(tdv.term_values(linear, collection.features))
    tokens = np.asarray(collection.tokens, np.float64)
    mean = max(float((tokens * unit).sum() / tokens.sum()), 1e-9)
    base = 1.0 if task.problem.base is None else task.problem.base
    return Network(linear, slope / mean, slope, step, base)


def _measure(task: Task, network: Network, queries: np.ndarray) -> np.ndarray:
    """Rank the whole collection for the ``queries``; return float64[n], what decides."""
    values = network.values(task.collection.features) * np.asarray(task.collection.kept)
    problem = task.problem
    return deciding(problem.measure(problem.rows.weighted(values), queries))
