"""The default recipe: five trainings, an order of terms, and validated operating points."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np

from .._dropping import drop_terms
from ..core import tdv
from ..progress import Progress
from .candidates import make_candidates
from .features import residual_idf, term_features
from .fidelity import scale_table, smallest_faithful
from .listwise import Collection, Trained, train
from .measures import mean_measures
from .problem import Problem
from .recipes import DefaultRecipe
from .weighted import apply_values


class Learned(NamedTuple):
    """What a recipe found.

    Attributes
    ----------
    weights : float32[P, V]
    priority : float32[V]
    points : list of P dicts, see :class:`tdv_lucene.values.TermValues`
    folds : list of dicts
        Each fold's stop and its held-out measures beside the full index's.
    recommended_reduction : float
    """

    weights: np.ndarray
    priority: np.ndarray
    points: list[dict[str, Any]]
    folds: list[dict[str, Any]]
    recommended_reduction: float


def learn_default(
    problem: Problem, recipe: DefaultRecipe, seed: int, progress: Progress
) -> Learned:
    """Train on each fold's complement, average the parameters, and validate every point.

    The final values use the mean of the folds' parameters: all queries take part, and each
    training stopped on queries its gradients had not seen. Held-out measures are those of each
    fold's own training on queries that took no part in it, on the integer index that pruning
    would write.
    """
    rng = np.random.default_rng(seed)
    folds = problem.folds(recipe.folds, rng)
    features = term_features(problem.matrix, problem.vectors)
    trainings = _train_folds(problem, recipe, features, folds, rng, progress)
    fold_weights = [_values(trained.linear, features) for trained in trainings]
    mean = jax.tree.map(lambda *parts: np.mean(parts, axis=0), *[t.linear for t in trainings])
    weights = _values(mean, features)
    priority = residual_idf(problem.matrix).astype(np.float32)
    full = problem.measure(problem.plain)
    points = []
    for done, reduction in enumerate(recipe.reductions):
        progress("validate operating points", done, len(recipe.reductions))
        points.append(
            _point(problem, weights, priority, fold_weights, folds, reduction)
            | {"full": mean_measures(full)}
        )
    reports = [
        {"queries": len(fold), "stopped_at_step": t.step, "full": mean_measures(full[fold])}
        for fold, t in zip(folds, trainings)
    ]
    for point in points:
        for report, held_out in zip(reports, point.pop("folds")):
            report.setdefault("held_out", {})[f"{point['reduction']:g}"] = held_out
    repeated = np.broadcast_to(weights, (len(points), len(weights)))
    return Learned(repeated, priority, points, reports, recipe.recommended_reduction)


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
        validation = folds[(place + 1) % len(folds)]
        kept_out = {place, (place + 1) % len(folds)}
        rest = [fold for i, fold in enumerate(folds) if i not in kept_out]
        queries = np.concatenate(rest) if rest else validation
        trainings.append(
            train(problem, collection, candidates, recipe, queries, validation, rng, step_done)
        )
    return trainings


def _point(
    problem: Problem,
    weights: np.ndarray,
    priority: np.ndarray,
    fold_weights: list[np.ndarray],
    folds: list[np.ndarray],
    reduction: float,
) -> dict[str, Any]:
    """Choose the scale of an operating point and measure it on every fold's held-out queries."""
    table = scale_table(problem, weights, priority, reduction)
    scale = smallest_faithful(table)
    held_out = np.zeros((len(problem.queries), 2))
    for values, fold in zip(fold_weights, folds):
        pruned, _ = drop_terms(
            values, priority, problem.matrix.doc_freq, problem.postings_by_tf, reduction, scale
        )
        held_out[fold] = problem.measure(apply_values(problem.matrix, pruned, scale), fold)
    return {
        "reduction": reduction,
        "measures": mean_measures(held_out),
        "scale": scale,
        "scales": table,
        "folds": [mean_measures(held_out[fold]) for fold in folds],
    }


def _values(linear: tdv.Linear, features: tdv.Features) -> np.ndarray:
    return np.asarray(tdv.term_values(linear, features), np.float32)
