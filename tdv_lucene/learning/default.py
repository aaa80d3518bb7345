"""The default recipe: an order of terms, values for what is kept, validated points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import jax
import numpy as np

from ..core import tdv
from ..progress import Progress
from ..values.posting_rule import PostingRule
from ..values.thresholds import make_posting_rule, make_up_for
from .features import order_terms, term_features
from .gating import kept_terms, train_priority
from .listwise import train
from .points import Learned, validate_points
from .problem import Left, Problem
from .recipes import DefaultRecipe
from .stopping import Stopped, clearly_better, deciding, stop
from .term_scores import TermScores
from .training_task import Task, make_task

_ORDER_AT = 0.6
"""The reduction at which orders of terms are compared: at smaller ones they differ less."""


def learn_default(
    problem: Problem, recipe: DefaultRecipe, seed: int, progress: Progress
) -> Learned:
    """Order the terms, learn what they are worth, and average over the folds.

    Everything is learned once a fold, from the other folds' queries, so that each query can
    measure what it had no part in. What is given up is decided apart from what terms are worth, and
    before it: sparsity is not bought by rescaling.
    """
    rng = np.random.default_rng(seed)
    folds = problem.folds(recipe.folds, rng)
    made = term_features(problem.matrix, problem.vectors, recipe.features)
    features = jax.tree.map(jax.numpy.asarray, made)
    count = _Counter(recipe, len(folds), progress)
    order = _order_terms(problem, recipe, features, folds, rng, count)
    if recipe.values:
        stopped = _train_values(problem, recipe, features, order.honest, folds, rng, count)
        mean = np.mean([network.values(features) for network in stopped.final], axis=0)
        weights = [mean, *(network.values(features) for network in stopped.honest)]
        networks = [network.describe() for network in stopped.final]
    else:
        weights = [np.ones(problem.matrix.shape[0], np.float32)] * (1 + len(folds))
        networks = [None] * len(folds)
    final, *of_folds = (
        TermScores(each, way.priority, way.rule)
        for each, way in zip(weights, [order.final, *order.honest])
    )
    points, reports = validate_points(
        problem, final, of_folds, folds, recipe.reductions, recipe.unit, progress
    )
    for report, network in zip(reports, networks):
        report["network"] = network
        report["order"] = order.kind
    return Learned(final, points, reports, recipe.recommended_reduction)


@dataclass(frozen=True, eq=False)
class _Way:
    """A way of giving up postings: made once, and passed on by those who go it.

    Attributes
    ----------
    priority : float32[V]
        Terms with the smallest go first; above 0.
    rule : PostingRule
        How single postings go in this order.
    """

    priority: np.ndarray
    rule: PostingRule


class _Order(NamedTuple):
    """In which order terms are given up.

    Attributes
    ----------
    honest : list, one a fold
        Neither learned from nor chosen by the fold's own queries.
    final : _Way
    kind : str
        What ``final`` is: one of the recipe's orders, or ``"learned"``.
    """

    honest: list[_Way]
    final: _Way
    kind: str


class _Counter:
    """Counts the steps of all trainings for the progress bar."""

    def __init__(self, recipe: DefaultRecipe, folds: int, progress: Progress) -> None:
        gate_steps = recipe.gate_steps if recipe.gate else 0
        of_values = recipe.max_steps if recipe.values else 0
        self._total = (gate_steps + of_values) * folds
        self._done = 0
        self._progress = progress

    def __call__(self) -> None:
        self._done += 1
        self._progress("train", self._done, self._total)


def _way(problem: Problem, recipe: DefaultRecipe, order: np.ndarray) -> _Way:
    """A posting goes by its saturation and its term's place in the order float32[V]."""
    matrix, k1, b = problem.matrix, problem.parameters.k1, problem.parameters.b
    rule = make_posting_rule(
        matrix,
        np.ones(len(order), np.float32),  # the network is shrunk: no value is 0
        order,
        order**recipe.posting_power,
        recipe.whole_terms_qld if problem.model == "qld" else recipe.whole_terms,
        k1=k1,
        b=b,
    )
    if recipe.make_up:
        reductions = sorted({*recipe.reductions, recipe.trained_at})
        rule = make_up_for(rule, matrix, order, reductions, problem.model, k1)
    return _Way(order, rule)


def _order_terms(
    problem: Problem,
    recipe: DefaultRecipe,
    features: tdv.Features,
    folds: list[np.ndarray],
    rng: np.random.Generator,
    step_done: Callable[[], None],
) -> _Order:
    """Take the first order unless another serves held-out queries clearly better.

    A gate may learn one besides.
    """
    made = [_way(problem, recipe, order_terms(problem.matrix, kind)) for kind in recipe.orders]
    kinds, ways = list(recipe.orders), [[way] * len(folds) for way in made]
    final = list(made)
    if recipe.gate and len(problem.queries) >= recipe.gate_min_queries:
        prior = made[0].priority
        learned = [
            train_priority(problem, recipe, features, prior, _without(folds, k), rng, step_done)
            for k in range(len(folds))
        ]
        kinds.append("learned")
        ways.append([_way(problem, recipe, order) for order in learned])
        final.append(_way(problem, recipe, np.mean(learned, axis=0)))
    if len(kinds) == 1:
        return _Order(ways[0], final[0], kinds[0])
    served_by = np.array([_served_by(problem, recipe, each, folds) for each in ways])
    choices = [_clearly_best(served_by[:, _without(folds, k)]) for k in range(len(folds))]
    honest = [ways[choice][k] for k, choice in enumerate(choices)]
    everyone = _clearly_best(served_by)
    return _Order(honest, final[everyone], kinds[everyone])


def _clearly_best(served_by: np.ndarray) -> int:
    """Return the best row of float64[orders, queries] where it is clearly better than the first.

    The first serves all kinds of query tolerably; few queries of one kind would leave it at random.
    """
    best = int(np.argmax(served_by.mean(axis=1)))
    return best if best and clearly_better(served_by[best], served_by[0]) else 0


def _served_by(
    problem: Problem, recipe: DefaultRecipe, ways: list[_Way], folds: list[np.ndarray]
) -> np.ndarray:
    """Return float64[n]: how each fold's way serves its queries, all terms worth the same."""
    found = np.zeros(len(problem.queries))
    made: dict[_Way, Left] = {}
    for way, fold in zip(ways, folds):
        if way not in made:
            made[way] = _left(problem, recipe, way, _ORDER_AT)
        left = made[way].problem
        found[fold] = deciding(left.measure(left.rows.weighted(made[way].factors), fold))
    return found


def _train_values(
    problem: Problem,
    recipe: DefaultRecipe,
    features: tdv.Features,
    ways: list[_Way],
    folds: list[np.ndarray],
    rng: np.random.Generator,
    step_done: Callable[[], None],
) -> Stopped:
    """Return the networks, one a fold, each trained on what its way of pruning leaves."""
    made: dict[_Way, Task] = {}
    for way in ways:
        if way not in made:
            left = _left(problem, recipe, way, recipe.trained_at)
            made[way] = make_task(left.problem, recipe, features, left.factors)
    tasks = [made[way] for way in ways]
    checkpoints = [train(task, _without(folds, k), rng, step_done) for k, task in enumerate(tasks)]
    return stop(tasks, checkpoints, folds)


def _left(problem: Problem, recipe: DefaultRecipe, way: _Way, reduction: float) -> Left:
    """Return what is left at ``reduction``; whole terms that go have a factor of 0."""
    if recipe.unit == "term":
        return Left(problem, kept_terms(problem, way.priority, reduction))
    return problem.left(way.rule, way.priority, reduction)


def _without(folds: list[np.ndarray], held_out: int) -> np.ndarray:
    """Return the queries of all other folds."""
    return np.sort(np.concatenate([fold for k, fold in enumerate(folds) if k != held_out]))
