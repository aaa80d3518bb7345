"""TDVs by the paper's recipe: a training a fold for the held-out measures, and one on all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import jax
import numpy as np

from ..arguments import LARGEST_SEED, within
from ..core import tdv
from ..embedding.lsa import latent_semantic_vectors
from ..embedding.term_vectors import TermVectors
from ..interruption import deferred
from ..learning.learned_values import values_of
from ..learning.points import Learned, validate_points
from ..learning.tuning_before_learning import tuning_queries
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..progress import Progress, silent
from ..ranking import SearchParameters, check_model
from ..simulation.choice_of_scale import faithful_scale
from ..simulation.full_index import measure_full
from ..simulation.problem import Problem, Tuned
from ..simulation.reduced import Reduced
from ..simulation.term_scores import TermScores
from ..values.term_values import TermValues
from .pairwise import PaperRecipe, train


def learn_by_paper(
    matrix: TermDocumentMatrix,
    topics: Mapping[str, Sequence[str]],
    qrels: Mapping[str, Mapping[str, int]],
    *,
    model: str = "bm25",
    recipe: PaperRecipe | None = None,
    vectors: TermVectors | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> TermValues:
    """Learn TDVs as the paper does, from all documents, with Anserini's k1, b and mu.

    A term with a TDV of 0 is dropped, and that is the reduction recommended. The parameters are
    those of :func:`tdv_lucene.learn_term_values`.

    Raises :class:`TdvError` as there.
    """
    within("seed", seed, 0, LARGEST_SEED)
    check_model(model)
    matrix.require_postings("learning")
    if vectors is None:
        vectors = latent_semantic_vectors(matrix, seed=seed, progress=progress)
    recipe = recipe or PaperRecipe()
    with deferred():  # JAX's callbacks bear no exception
        counted = matrix.with_position_boost(None)
        problem = Problem.of(counted, topics, qrels, vectors, model, SearchParameters())
        problem.require_queries()
        learned = _learn(problem, recipe, seed, progress)
    return values_of(learned, recipe, seed, recommended=0.0)


def _learn(problem: Problem, recipe: PaperRecipe, seed: int, progress: Progress) -> Learned:
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
    full = measure_full(problem, folds, tuning_queries(problem, seed), progress)
    learned = validate_points(
        Reduced(Tuned.untuned(problem, folds), final, scored, folds, 0.0, "term"),
        full, recipe.reductions, faithful_scale, progress,
    )  # fmt: skip
    for report, (_, epoch, linear) in zip(learned.folds, of_folds):
        report["network"] = {
            "epoch": epoch,
            "w_vector": linear.of_vector.tolist(),
            "b": float(linear.bias),
        }
    return learned


def _raw_vectors(vectors: TermVectors, terms: int) -> tdv.Features:
    """Return the vectors as they are, neither centred nor scaled, and nothing else."""
    none = np.zeros((terms, 0), np.float32)
    features = tdv.Features(none, vectors.terms, np.asarray(vectors.vectors))
    return tdv.Features(*jax.tree.map(jax.numpy.asarray, features))
