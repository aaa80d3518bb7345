"""The paper's recipe: a training a fold for the held-out measures, and one on all queries."""

from __future__ import annotations

import jax
import numpy as np

from ..core import tdv
from ..embedding.embed import TermVectors
from ..progress import Progress
from .pairwise import train
from .points import Learned, validate_points
from .problem import Problem
from .recipes import PaperRecipe
from .term_scores import TermScores
from .tuning_before_learning import Tuned, tuning_queries


def learn_paper(problem: Problem, recipe: PaperRecipe, seed: int, progress: Progress) -> Learned:
    """Learn w and b as the paper does; a term with a TDV of 0 is dropped.

    At a larger reduction the terms with the smallest TDVs are dropped as well.
    """
    rng = np.random.default_rng(seed)
    folds = problem.folds(recipe.folds, rng)
    everything = np.arange(len(problem.queries))
    features = _raw_vectors(problem.vectors, len(problem.matrix.vocabulary))
    done, total = 0, (len(folds) + 1) * recipe.max_epochs

    def epoch_done() -> None:
        nonlocal done
        done += 1
        progress("train, epochs", done, total)

    trained = []
    for number, held_out in enumerate([*folds, everything[:0]]):
        done = number * recipe.max_epochs  # a fold may have stopped early
        queries = np.setdiff1d(everything, held_out)
        linear, epoch = train(problem, features, recipe, queries, rng, epoch_done)
        values = np.asarray(tdv.term_values(linear, features))
        trained.append((TermScores(values, values), epoch, linear))
    *of_folds, (final, _, _) = trained
    scored = [scores for scores, *_ in of_folds]
    points, reports, full = validate_points(
        Tuned.untuned(problem, folds), final, scored, folds, tuning_queries(problem, seed),
        recipe.reductions, "term", progress,
    )  # fmt: skip
    for report, (_, epoch, linear) in zip(reports, of_folds):
        report["network"] = {
            "epoch": epoch,
            "w_vector": linear.of_vector.tolist(),
            "b": float(linear.bias),
        }
    return Learned(problem, final, points, reports, full)


def _raw_vectors(vectors: TermVectors, terms: int) -> tdv.Features:
    """Return the vectors as they are, neither centred nor scaled, and nothing else."""
    none = np.zeros((terms, 0), np.float32)
    return jax.tree.map(
        jax.numpy.asarray, tdv.Features(none, vectors.terms, np.asarray(vectors.vectors))
    )
