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
from .gating import kept_terms, train_priority
from .listwise import train
from .points import Learned, validate_points
from .problem import Problem
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
    rules = _rules(problem, recipe, [order.final, *order.honest])
    if recipe.values:
        ways = list(zip(order.honest, rules[1:]))
        stopped = _train_values(problem, recipe, features, ways, folds, rng, count)
        mean = np.mean([network.values(features) for network in stopped.final], axis=0)
        weights = [mean, *(network.values(features) for network in stopped.honest)]
        networks = [network.describe() for network in stopped.final]
    else:
        weights = [np.ones(problem.matrix.shape[0], np.float32)] * (1 + len(folds))
        networks = [None] * len(folds)
    final, *of_folds = map(TermScores, weights, [order.final, *order.honest], rules)
    points, reports = validate_points(
        problem, final, of_folds, folds, recipe.reductions, recipe.unit, progress
    )
    for report, network in zip(reports, networks):
        report["network"] = network
        report["order"] = order.kind
    return Learned(final, points, reports, recipe.recommended_reduction)


class _Order(NamedTuple):
    """In which order terms are given up: float32[V] each, above 0, smallest first.

    Attributes
    ----------
    honest : list, one a fold
        Neither learned from nor chosen by the fold's own queries.
    final : float32[V]
    kind : str
        What ``final`` is: one of the recipe's orders, or ``"learned"``.
    """

    honest: list[np.ndarray]
    final: np.ndarray
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


def _rules(problem: Problem, recipe: DefaultRecipe, orders: list[np.ndarray]) -> list[PostingRule]:
    """Return the rule by which single postings go, for each order of terms, each made once."""
    rules: dict[int, PostingRule] = {}
    for order in orders:
        if id(order) not in rules:
            rules[id(order)] = _rule(problem, recipe, order)
    return [rules[id(order)] for order in orders]


def _rule(problem: Problem, recipe: DefaultRecipe, order: np.ndarray) -> PostingRule:
    """A posting goes by its saturation and its term's place in the order."""
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
    if not recipe.make_up:
        return rule
    reductions = sorted({*recipe.reductions, recipe.trained_at})
    return make_up_for(rule, matrix, order, reductions, problem.model, k1)


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
    made = [order_terms(problem.matrix, kind) for kind in recipe.orders]
    kinds, orders = list(recipe.orders), [[order] * len(folds) for order in made]
    final = list(made)
    if recipe.gate and len(problem.queries) >= recipe.gate_min_queries:
        learned = [
            train_priority(problem, recipe, features, made[0], _without(folds, k), rng, step_done)
            for k in range(len(folds))
        ]
        kinds.append("learned")
        orders.append(learned)
        final.append(np.mean(learned, axis=0))
    if len(kinds) == 1:
        return _Order(orders[0], final[0], kinds[0])
    served_by = np.array([_served_by(problem, recipe, each, folds) for each in orders])
    choices = [_clearly_best(served_by[:, _without(folds, k)]) for k in range(len(folds))]
    honest = [orders[choice][k] for k, choice in enumerate(choices)]
    everyone = _clearly_best(served_by)
    return _Order(honest, final[everyone], kinds[everyone])


def _clearly_best(served_by: np.ndarray) -> int:
    """Return the best row of float64[orders, queries] where it is clearly better than the first.

    The first serves all kinds of query tolerably; few queries of one kind would leave it at random.
    """
    best = int(np.argmax(served_by.mean(axis=1)))
    return best if best and clearly_better(served_by[best], served_by[0]) else 0


def _served_by(
    problem: Problem, recipe: DefaultRecipe, orders: list[np.ndarray], folds: list[np.ndarray]
) -> np.ndarray:
    """Return float64[n]: how each fold's order serves its queries, all terms worth the same."""
    found = np.zeros(len(problem.queries))
    for order, rule, fold in zip(orders, _rules(problem, recipe, orders), folds):
        left, base = _pruned(problem, recipe, order, rule, _ORDER_AT)
        found[fold] = deciding(left.measure(left.rows.weighted(base), fold))
    return found


def _train_values(
    problem: Problem,
    recipe: DefaultRecipe,
    features: tdv.Features,
    ways: list[tuple[np.ndarray, PostingRule]],
    folds: list[np.ndarray],
    rng: np.random.Generator,
    step_done: Callable[[], None],
) -> Stopped:
    """Return the networks, one a fold, each trained on what its way of pruning leaves."""
    made: dict[int, Task] = {}
    for order, rule in ways:
        if id(order) not in made:
            left, base = _pruned(problem, recipe, order, rule, recipe.trained_at)
            made[id(order)] = make_task(left, recipe, features, base)
    tasks = [made[id(order)] for order, _ in ways]
    checkpoints = [train(task, _without(folds, k), rng, step_done) for k, task in enumerate(tasks)]
    return stop(tasks, checkpoints, folds)


def _pruned(
    problem: Problem,
    recipe: DefaultRecipe,
    order: np.ndarray,
    rule: PostingRule,
    reduction: float,
) -> tuple[Problem, np.ndarray]:
    """Return what is left at ``reduction``, and float32[V] what values are multiplied by."""
    if recipe.unit == "term":
        return problem, kept_terms(problem, order, reduction)
    return problem.left(rule, order, reduction)


def _without(folds: list[np.ndarray], held_out: int) -> np.ndarray:
    """Return the queries of all other folds."""
    return np.sort(np.concatenate([fold for k, fold in enumerate(folds) if k != held_out]))
