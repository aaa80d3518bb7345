"""The default recipe: a training a fold at each stage, their mean, validated points."""

from __future__ import annotations

import jax
import numpy as np

from .._dropping import drop_terms
from ..core import tdv
from ..progress import Progress
from .features import prior_importance, term_features
from .listwise import make_task, train
from .points import Learned, validate_points
from .problem import Problem
from .recipes import DefaultRecipe
from .scored import Scored
from .stopping import Stopped, stop


def learn_default(
    problem: Problem, recipe: DefaultRecipe, seed: int, progress: Progress
) -> Learned:
    """Train on each fold's complement under each stage's mask, and average the folds' values.

    All queries take part in the mean. What is given up is decided before the weights, which are
    then learned for what is left: sparsity is not bought by rescaling.
    """
    rng = np.random.default_rng(seed)
    folds = problem.folds(recipe.folds, rng)
    features = jax.tree.map(jax.numpy.asarray, term_features(problem.matrix, problem.vectors))
    priority = prior_importance(problem.matrix).astype(np.float32)
    stages = _train_stages(problem, recipe, features, priority, folds, rng, progress)
    held_out = [[net.values(features) for net in stage.honest] for stage in stages]
    mean = [np.mean([net.values(features) for net in stage.final], axis=0) for stage in stages]
    final, *of_folds = [
        Scored(recipe.trained_at, np.array(weights), priority, problem.parameters)
        for weights in [mean, *zip(*held_out)]
    ]
    unit = _unit(final, problem, recipe.recommended_reduction)
    final, of_folds = final.in_unit(unit), [scored.in_unit(unit) for scored in of_folds]
    points, reports = validate_points(
        problem, final, of_folds, folds, recipe.reductions, progress
    )
    for report, networks in zip(reports, zip(*[stage.final for stage in stages])):
        report["networks"] = [network.describe() for network in networks]
    return Learned(final, points, reports, recipe.recommended_reduction)


def _unit(final: Scored, problem: Problem, reduction: float) -> float:
    """Return the mean value of a kept token.

    Training moves all values together, which acts like another k1. With a mean of 1 and k1 (or
    mu) divided by the same number the ranking is the same, and a scale of 4 means a quarter of
    a usual frequency whatever was learned.
    """
    counts = problem.matrix.doc_freq, problem.postings_by_tf
    pruned, _ = drop_terms(final.near(reduction), final.priority, *counts, reduction, None)
    tokens = np.asarray(problem.matrix.total_term_freq) * (pruned > 0)
    return float((tokens * pruned).sum() / tokens.sum())


def _train_stages(
    problem: Problem,
    recipe: DefaultRecipe,
    features: tdv.Features,
    priority: np.ndarray,
    folds: list[np.ndarray],
    rng: np.random.Generator,
    progress: Progress,
) -> list[Stopped]:
    """Return the networks of every stage, one a fold."""
    total, done = len(recipe.trained_at) * len(folds) * recipe.max_steps, 0

    def step_done() -> None:
        nonlocal done
        done += 1
        progress("train", done, total)

    stages = []
    everything = np.concatenate(folds)
    for reduction in recipe.trained_at:
        ones = np.ones(len(priority), np.float32)
        counts = problem.matrix.doc_freq, problem.postings_by_tf
        kept, _ = drop_terms(ones, priority, *counts, reduction, None)
        task = make_task(problem, recipe, features, kept)
        checkpoints = [
            train(task, np.setdiff1d(everything, fold), rng, step_done) for fold in folds
        ]
        stages.append(stop(task, checkpoints, folds))
    return stages
