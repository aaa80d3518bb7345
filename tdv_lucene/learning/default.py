"""The default recipe: an order of terms, values for what is kept, validated points."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np

from ..core import tdv
from ..progress import Progress
from ..values.posting_rule import PostingRule
from ..values.thresholds import make_posting_rule, make_up_for
from .features import order_terms, term_features
from .listwise import train
from .points import Learned, validate_points
from .problem import Left, Problem
from .recipes import DefaultRecipe
from .stopping import Stopped, clearly_better, deciding, stop
from .term_scores import TermScores, kept_terms
from .training_task import Task, make_task

_ORDER_AT = 0.6
"""The reduction at which orders of terms are compared: at smaller ones they differ less."""


class _Way(NamedTuple):
    """A way of pruning: an order of terms, and the rule for single postings made of it.

    Attributes
    ----------
    kind : str
        One of the recipe's orders.
    order : float32[V]
        Above 0; the smallest are dropped first.
    rule : PostingRule
    """

    kind: str
    order: np.ndarray
    rule: PostingRule


def learn_default(
    problem: Problem, recipe: DefaultRecipe, seed: int, progress: Progress
) -> Learned:
    """Order the terms, learn what they are worth, and average over the folds.

    Everything is learned once a fold, from the other folds' queries, so that each query can
    measure what it had no part in. What is dropped is decided apart from what terms are worth, and
    before it: sparsity is not bought by rescaling.
    """
    rng = np.random.default_rng(seed)
    folds = problem.folds(recipe.folds, rng)
    made = term_features(problem.matrix, problem.vectors, recipe.features)
    features = jax.tree.map(jax.numpy.asarray, made)
    chosen, out_of_fold = _choose_ways(problem, recipe, folds)
    if recipe.values:
        steps = _Counter(recipe.max_steps * len(folds), progress)
        stopped = _train_values(problem, recipe, features, out_of_fold, folds, rng, steps)
        mean = np.mean([network.values(features) for network in stopped.final], axis=0)
        weights = [mean, *(network.values(features) for network in stopped.out_of_fold)]
        networks = [network.describe() for network in stopped.final]
    else:
        weights = [np.ones(problem.matrix.shape[0], np.float32)] * (1 + len(folds))
        networks = [None] * len(folds)
    ways = [chosen, *out_of_fold]
    final, *of_folds = [TermScores(w, way.order, way.rule) for w, way in zip(weights, ways)]
    points, reports, full = validate_points(
        problem, final, of_folds, folds, recipe.reductions, recipe.unit, progress
    )
    for report, network in zip(reports, networks):
        report["network"] = network
        report["order"] = chosen.kind
    return Learned(final, points, reports, full)


class _Counter:
    """Counts the steps of all trainings for the progress bar."""

    def __init__(self, total: int, progress: Progress) -> None:
        self._total = total
        self._done = 0
        self._progress = progress

    def __call__(self) -> None:
        self._done += 1
        self._progress("train", self._done, self._total)


def _way(problem: Problem, recipe: DefaultRecipe, kind: str) -> _Way:
    """A posting is dropped by its saturation and its term's place in the order."""
    matrix, k1, b = problem.matrix, problem.parameters.k1, problem.parameters.b
    order = order_terms(matrix, kind)
    rule = make_posting_rule(
        matrix,
        np.ones(len(order), np.float32),  # the network is shrunk: no value is 0
        order,
        order ** (1 / recipe.saturation_power),  # the same postings, for the rule's first power
        recipe.whole_terms_qld if problem.model == "qld" else recipe.whole_terms,
        k1=k1,
        b=b,
    )
    if recipe.make_up:
        reductions = sorted({*recipe.reductions, recipe.trained_at})
        rule = make_up_for(rule, matrix, order, reductions, problem.model, k1)
    return _Way(kind, order, rule)


def _choose_ways(
    problem: Problem, recipe: DefaultRecipe, folds: list[np.ndarray]
) -> tuple[_Way, list[_Way]]:
    """Return the way chosen by all queries, and for each fold that chosen by the other folds'.

    It is that of the first order unless another serves these queries clearly better.
    """
    ways = [_way(problem, recipe, kind) for kind in recipe.orders]
    if len(ways) == 1:
        return ways[0], ways * len(folds)
    served_by = np.array([_served_by(problem, recipe, way, folds) for way in ways])
    choices = [_clearly_best(served_by[:, _without(folds, k)]) for k in range(len(folds))]
    return ways[_clearly_best(served_by)], [ways[choice] for choice in choices]


def _clearly_best(served_by: np.ndarray) -> int:
    """Return the best row of float64[orders, queries] where it is clearly better than the first.

    The first serves all kinds of query tolerably; few queries of one kind would leave it at random.
    """
    best = int(np.argmax(served_by.mean(axis=1)))
    return best if best and clearly_better(served_by[best], served_by[0]) else 0


def _served_by(
    problem: Problem, recipe: DefaultRecipe, way: _Way, folds: list[np.ndarray]
) -> np.ndarray:
    """Return float64[n]: how this way of pruning serves each query, all terms worth the same."""
    found = np.zeros(len(problem.queries))
    left = _left(problem, recipe, way, _ORDER_AT)
    for fold in folds:
        values = left.problem.rows.weighted(left.factors)
        found[fold] = deciding(left.problem.measure(values, fold))
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
    made: dict[str, Task] = {}
    for way in ways:
        if way.kind not in made:
            left = _left(problem, recipe, way, recipe.trained_at)
            made[way.kind] = make_task(left.problem, recipe, features, left.factors)
    tasks = [made[way.kind] for way in ways]
    checkpoints = [train(task, _without(folds, k), rng, step_done) for k, task in enumerate(tasks)]
    return stop(tasks, checkpoints, folds)


def _left(problem: Problem, recipe: DefaultRecipe, way: _Way, reduction: float) -> Left:
    """Return what is left at ``reduction``; whole terms that are dropped have a factor of 0."""
    if recipe.unit == "term":
        return Left(problem, kept_terms(problem, way.order, reduction))
    return problem.left(way.rule, way.order, reduction)


def _without(folds: list[np.ndarray], held_out: int) -> np.ndarray:
    """Return the queries of all other folds."""
    return np.sort(np.concatenate([fold for k, fold in enumerate(folds) if k != held_out]))
