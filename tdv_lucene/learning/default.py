"""The default recipe: an order of terms, TDVs for what is kept, validated operating points."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import numpy as np

from ..core import tdv
from ..progress import Progress
from ..values.dropped_postings import PostingRule
from .damping import DAMPING_SCALES, best_ranking_scale
from .features import term_features
from .fidelity import ScaleChoice, faithful_scale
from .listwise import train
from .points import Learned, validate_points
from .prior_as_start import PriorStart
from .problem import Left, Problem
from .recipes import DefaultRecipe
from .stopping import Stopped, clearly_best, deciding, stop
from .term_scores import TermScores, kept_terms, rule_of_order
from .training_task import Task, make_task

_ORDER_AT = 0.6
"""The reduction at which orders of terms are compared: at smaller ones they differ less."""

_TELL_A_SCALE = 100
"""Fewer queries cannot show what a scale below the prior's would cost."""


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
    problem: Problem,
    recipe: DefaultRecipe,
    seed: int,
    progress: Progress,
    start: PriorStart | None = None,
) -> Learned:
    """Order the terms, learn their TDVs, and average over the folds.

    Everything is learned once for each fold, from the other folds' queries, so that each query
    measures a training it took no part in. What is dropped is decided first, apart from the TDVs:
    otherwise rescaling them would pass for sparsity. With a ``start`` the prior's order comes
    first, and training begins at its network; too few queries only measure what the prior gives.
    """
    rng = np.random.default_rng(seed)
    folds = problem.folds(recipe.folds, rng)
    made = term_features(problem.matrix, problem.vectors, recipe.features)
    features = jax.tree.map(jax.numpy.asarray, made)
    orders = recipe.orders_to_try(None if start is None else start.prior.order, problem.model)
    few = start is not None and len(problem.queries) < recipe.fewest_queries
    if few:
        chosen = _way(problem, recipe, orders[0])
        out_of_fold = [chosen] * len(folds)
    else:
        chosen, out_of_fold = _choose_ways(problem, recipe, orders, folds)
    if recipe.values and not few:
        linear = None if start is None else start.linear(problem.matrix, made)
        steps = _Counter(recipe.max_steps * len(folds), progress)
        stopped = _train_values(problem, recipe, features, linear, out_of_fold, folds, rng, steps)
        mean = np.mean([network.values(features) for network in stopped.final], axis=0)
        weights = [mean, *(network.values(features) for network in stopped.out_of_fold)]
        networks = [network.describe() for network in stopped.final]
    else:
        weights = [problem.base_values] * (1 + len(folds))
        networks = [None] * len(folds)
    ways = [chosen, *out_of_fold]
    final, *of_folds = [TermScores(w, way.order, way.rule) for w, way in zip(weights, ways)]
    choose_scale = _scale_choice(problem, start, few)
    points, reports, full = validate_points(
        problem, final, of_folds, folds, recipe.reductions, recipe.unit, progress, choose_scale
    )
    for report, network in zip(reports, networks):
        report["network"] = network
        report["order"] = chosen.kind
    moved = None
    if start is not None:
        moved = start.moved(problem, final, of_folds, folds, choose_scale)
    return Learned(final, points, reports, full, moved)


def _scale_choice(problem: Problem, start: PriorStart | None, few: bool) -> ScaleChoice:
    """Return how operating points get their scales; too ``few`` queries leave the prior's."""
    if problem.model == "tfidf":
        first = 1.0 if start is None else start.settings.scale
        others = () if few else DAMPING_SCALES
        return partial(best_ranking_scale, first=first, others=others)
    unsure = start is not None and len(problem.queries) < _TELL_A_SCALE
    return partial(faithful_scale, least=start.settings.scale if start and unsure else 0.0)


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
    """Return the way that drops postings by their saturation and their term's order."""
    reductions = {*recipe.reductions, recipe.trained_at}
    order, rule = rule_of_order(
        problem.matrix, kind, problem.model, problem.parameters, recipe, reductions
    )
    return _Way(kind, order, rule)


def _choose_ways(
    problem: Problem, recipe: DefaultRecipe, orders: tuple[str, ...], folds: list[np.ndarray]
) -> tuple[_Way, list[_Way]]:
    """Return the way that all queries choose, and for each fold the one the other folds choose.

    That is the way of the first order, unless another serves these queries clearly better.
    """
    ways = [_way(problem, recipe, kind) for kind in orders]
    if len(ways) == 1:
        return ways[0], ways * len(folds)
    served_by = np.array([_served_by(problem, recipe, way, folds) for way in ways])
    choices = [clearly_best(served_by[:, _without(folds, k)]) for k in range(len(folds))]
    return ways[clearly_best(served_by)], [ways[choice] for choice in choices]


def _served_by(
    problem: Problem, recipe: DefaultRecipe, way: _Way, folds: list[np.ndarray]
) -> np.ndarray:
    """Return float64[n]: how this way of pruning serves each query, with the TDVs of the base."""
    found = np.zeros(len(problem.queries))
    left = _left(problem, recipe, way, _ORDER_AT)
    for fold in folds:
        values = left.problem.rows.weighted(left.factors * problem.base_values)
        found[fold] = deciding(left.problem.measure(values, fold))
    return found


def _train_values(
    problem: Problem,
    recipe: DefaultRecipe,
    features: tdv.Features,
    start: tdv.Linear | None,
    ways: list[_Way],
    folds: list[np.ndarray],
    rng: np.random.Generator,
    step_done: Callable[[], None],
) -> Stopped:
    """Return one network for each fold, trained on what its way of pruning leaves."""
    made: dict[str, Task] = {}
    for way in ways:
        if way.kind not in made:
            left = _left(problem, recipe, way, recipe.trained_at)
            made[way.kind] = make_task(left.problem, recipe, features, left.factors, start)
    tasks = [made[way.kind] for way in ways]
    checkpoints = [train(task, _without(folds, k), rng, step_done) for k, task in enumerate(tasks)]
    return stop(tasks, checkpoints, folds)


def _left(problem: Problem, recipe: DefaultRecipe, way: _Way, reduction: float) -> Left:
    """Return what is left at ``reduction``; a whole term that is dropped has a factor of 0."""
    if recipe.unit == "term":
        return Left(problem, kept_terms(problem, way.order, reduction))
    return problem.left(way.rule, way.order, reduction)


def _without(folds: list[np.ndarray], held_out: int) -> np.ndarray:
    """Return the queries of all other folds."""
    return np.sort(np.concatenate([fold for k, fold in enumerate(folds) if k != held_out]))
