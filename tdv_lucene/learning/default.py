"""The default recipe: a training a fold, their mean, an order of terms, validated points."""

from __future__ import annotations

import jax
import numpy as np

from ..core import tdv
from ..progress import Progress
from .candidates import make_candidates
from .features import residual_idf, term_features
from .listwise import Collection, Trained, train
from .points import Learned, validate_points
from .problem import Problem
from .recipes import DefaultRecipe
from .scored import Scored


def learn_default(
    problem: Problem, recipe: DefaultRecipe, seed: int, progress: Progress
) -> Learned:
    """Train on each fold's complement, average the parameters, and validate every point.

    The final values use the mean of the folds' parameters: all queries take part, and each
    training stopped on queries its gradients had not seen.
    """
    rng = np.random.default_rng(seed)
    folds = problem.folds(recipe.folds, rng)
    features = term_features(problem.matrix, problem.vectors)
    trainings = _train_folds(problem, recipe, features, folds, rng, progress)
    mean = jax.tree.map(lambda *parts: np.mean(parts, axis=0), *[t.linear for t in trainings])
    priority = residual_idf(problem.matrix).astype(np.float32)
    final, *of_folds = [
        Scored(np.asarray(tdv.term_values(linear, features)), priority)
        for linear in [mean, *(t.linear for t in trainings)]
    ]
    points, reports = validate_points(
        problem, final, of_folds, folds, recipe.reductions, progress
    )
    for report, trained in zip(reports, trainings):
        report["stopped_at_step"] = trained.step
    return Learned(final, points, reports, recipe.recommended_reduction)


def _train_folds(
    problem: Problem,
    recipe: DefaultRecipe,
    features: tdv.Features,
    folds: list[np.ndarray],
    rng: np.random.Generator,
    progress: Progress,
) -> list[Trained]:
    """Train once a fold; the next fold in the circle says when to stop."""
    collection = Collection.of(problem, features)
    candidates = make_candidates(problem.postings, problem.impacts(problem.plain), recipe.depth)
    total, done = len(folds) * recipe.max_steps, 0

    def step_done() -> None:
        nonlocal done
        done += 1
        progress("train", done, total)

    trainings = []
    for place in range(len(folds)):
        stop_on = (place + 1) % len(folds)
        rest = [fold for i, fold in enumerate(folds) if i not in (place, stop_on)]
        # With two queries there is no third fold to learn from.
        queries = np.concatenate(rest) if rest else folds[stop_on]
        trainings.append(
            train(problem, collection, candidates, recipe, queries, folds[stop_on], rng, step_done)
        )
    return trainings
