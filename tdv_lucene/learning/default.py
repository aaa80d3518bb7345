"""The default recipe: an order of terms, values for what is kept, validated points."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np

from .._saturation import PostingRule
from ..core import tdv
from ..progress import Progress
from .features import prior_importance, term_features
from .gating import kept_terms, train_priority
from .listwise import train
from .points import Learned, validate_points
from .posting import make_posting_rule, make_up_for, mean_odds, rule_room
from .problem import Problem
from .recipes import DefaultRecipe
from .scored import Scored
from .stopping import Stopped, choose, served, stop
from .task import Task, make_task


def learn_default(
    problem: Problem, recipe: DefaultRecipe, seed: int, progress: Progress
) -> Learned:
    """Order the terms, train values under each stage's mask, and average over the folds.

    Everything is learned once a fold, from the other folds' queries, so that each query can
    measure what it had no part in. What is given up is decided before the values, which are then
    learned for what is left: sparsity is not bought by rescaling.
    """
    rng = np.random.default_rng(seed)
    folds = problem.folds(recipe.folds, rng)
    made = term_features(problem.matrix, problem.vectors, recipe.features)
    features = jax.tree.map(jax.numpy.asarray, made)
    count = _Counter(recipe, len(folds), progress)
    order = _order_terms(problem, recipe, features, folds, rng, count)
    rules = _rules(problem, recipe, [order.final, *order.honest])
    ways = list(zip(order.honest, rules[1:]))
    stages = [
        _train_stage(problem, recipe, features, ways, reduction, folds, rng, count)
        for reduction in recipe.trained_at
    ]
    held_out = [[net.values(features) for net in stage.honest] for stage in stages]
    mean = [np.mean([net.values(features) for net in stage.final], axis=0) for stage in stages]
    final, *of_folds = [
        Scored(recipe.trained_at, np.array(weights), priority, rule)
        for weights, priority, rule in zip(
            [mean, *zip(*held_out)], [order.final, *order.honest], rules
        )
    ]
    points, reports = validate_points(
        problem, final, of_folds, folds, recipe.reductions, recipe.unit, progress
    )
    for report, networks in zip(reports, zip(*[stage.final for stage in stages])):
        report["networks"] = [network.describe() for network in networks]
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
        ``"learned"`` or ``"prior"``: what ``final`` is.
    """

    honest: list[np.ndarray]
    final: np.ndarray
    kind: str


class _Counter:
    """Counts the steps of all trainings for the progress bar."""

    def __init__(self, recipe: DefaultRecipe, folds: int, progress: Progress) -> None:
        gate_steps = recipe.gate_steps if recipe.gate else 0
        self._total = (gate_steps + len(recipe.trained_at) * recipe.max_steps) * folds
        self._done = 0
        self._progress = progress

    def __call__(self) -> None:
        self._done += 1
        self._progress("train", self._done, self._total)


def _rules(
    problem: Problem, recipe: DefaultRecipe, orders: list[np.ndarray]
) -> list[PostingRule]:
    """Return the rule by which single postings go, for each order of terms."""
    rules: dict[int, PostingRule] = {}
    for order in orders:
        if id(order) not in rules:
            rules[id(order)] = _rule(problem, recipe, order)
    return [rules[id(order)] for order in orders]


def _rule(problem: Problem, recipe: DefaultRecipe, order: np.ndarray) -> PostingRule:
    """A posting goes by its saturation, its term's place in the order, and how much more often
    than in the term's other documents the term is in this one."""
    matrix, k1, b = problem.matrix, problem.parameters.k1, problem.parameters.b
    usual = mean_odds(matrix, rule_room(matrix, k1, b))
    priority = order**recipe.posting_power / usual**recipe.steepness
    rule = make_posting_rule(
        matrix,
        np.ones((1, len(order)), np.float32),  # the network is shrunk: no value is 0
        [0.0],
        order,
        priority.astype(np.float32),
        recipe.whole_terms_qld if problem.model == "qld" else recipe.whole_terms,
        k1=k1,
        b=b,
        steepness=recipe.steepness,
    )
    if not recipe.make_up:
        return rule
    reductions = sorted({*recipe.reductions, *recipe.trained_at})
    return make_up_for(rule, matrix, order, reductions, problem.model, k1)


def _order_terms(
    problem: Problem,
    recipe: DefaultRecipe,
    features: tdv.Features,
    folds: list[np.ndarray],
    rng: np.random.Generator,
    step_done: Callable[[], None],
) -> _Order:
    """Learn an order with a gate, and keep it where held-out queries prefer it to the prior."""
    prior = prior_importance(problem.matrix).astype(np.float32)
    if not recipe.gate or len(problem.queries) < recipe.gate_min_queries:
        return _Order([prior] * len(folds), prior, "prior")
    learned = [
        train_priority(problem, recipe, features, prior, _without(folds, k), rng, step_done)
        for k in range(len(folds))
    ]
    sums = [
        [
            served(problem, kept_terms(problem, order, recipe.recommended_reduction), fold)
            for order in (prior, of_fold)
        ]
        for of_fold, fold in zip(learned, folds)
    ]
    others, everyone = choose(np.array(sums))
    honest = [of_fold if choice else prior for of_fold, choice in zip(learned, others)]
    if everyone:
        return _Order(honest, np.mean(learned, axis=0), "learned")
    return _Order(honest, prior, "prior")


def _train_stage(
    problem: Problem,
    recipe: DefaultRecipe,
    features: tdv.Features,
    ways: list[tuple[np.ndarray, PostingRule]],
    reduction: float,
    folds: list[np.ndarray],
    rng: np.random.Generator,
    step_done: Callable[[], None],
) -> Stopped:
    """Return the networks of one stage, one a fold, each trained on what its way leaves."""
    made: dict[int, Task] = {}
    for order, rule in ways:
        if id(order) not in made:
            left, base = _pruned(problem, recipe, order, rule, reduction)
            made[id(order)] = make_task(left, recipe, features, base)
    tasks = [made[id(order)] for order, _ in ways]
    checkpoints = [
        train(task, _without(folds, k), rng, step_done) for k, task in enumerate(tasks)
    ]
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
