"""TDVs by the paper's recipe: a training a fold for the held-out measures, and one on all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import jax.numpy as jnp
import numpy as np

from ..embedding.term_vectors import TermVectors
from ..interruption import deferred
from ..learning.learn import values_of
from ..learning.scale import faithful_scale
from ..learning.tune import tuning_queries
from ..learning.validate import measure_full, validate_points
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..progress import Progress, silent
from ..ranking import SearchParameters
from ..simulation.problem import FoldProblems, Problem, PrunedByFold, TermScores
from ..simulation.scoring import Features, term_values
from ..values.losses import Recommended
from ..values.term_values import TermValues
from .pairwise import PaperRecipe, train


def learn_by_paper(
    matrix: TermDocumentMatrix,
    topics: Mapping[str, Sequence[str]],
    qrels: Mapping[str, Mapping[str, int]],
    *,
    model: str,
    recipe: PaperRecipe,
    vectors: TermVectors,
    seed: int = 0,
    progress: Progress = silent,
) -> TermValues:
    """Learn TDVs as the paper does, from all documents, with Anserini's k1, b and mu.

    w sees the vectors as they are, neither centred nor scaled, and nothing else. A term with a TDV
    of 0 is dropped, and that is the reduction recommended. At a larger reduction the terms with the
    smallest TDVs are dropped as well. The parameters are those of
    :func:`tdv_lucene.learn_term_values`.

    Raises :class:`TdvError` as there.
    """
    matrix.require_postings("learning")
    rng = np.random.default_rng(seed)
    with deferred():  # JAX's callbacks bear no exception
        problem = Problem.of(matrix, topics, qrels, vectors, model, SearchParameters())
        problem.require_queries()
        folds = problem.folds(recipe.folds, rng)
        everything = np.arange(len(problem.queries))
        none = jnp.zeros((matrix.shape[0], 0))
        known = jnp.asarray(vectors.terms), jnp.asarray(vectors.vectors)
        features = Features(none, *known)
        trainings, most = [*folds, everything[:0]], recipe.max_epochs
        trained = []
        for number, held_out in enumerate(trainings):

            def epoch_done(epoch: int, before: int = number * most) -> None:
                # The training before may have stopped early.
                progress("train, epochs", before + epoch, len(trainings) * most)

            queries = np.setdiff1d(everything, held_out)
            linear, epoch = train(problem, features, recipe, queries, rng, epoch_done)
            values = np.asarray(term_values(linear, features))
            trained.append((TermScores(values, values), epoch, linear))
        *of_folds, (final, _, _) = trained
        scored = [scores for scores, *_ in of_folds]
        full = measure_full(problem, folds, tuning_queries(problem, seed), progress)
        learned = validate_points(
            PrunedByFold(FoldProblems.same(problem, folds), final, scored, folds, 0.0, "term"),
            full, recipe.reductions, faithful_scale, progress,
        )  # fmt: skip
    for report, (_, epoch, linear) in zip(learned.folds, of_folds):
        report["network"] = {
            "epoch": epoch,
            "w_vector": linear.of_vector.tolist(),
            "b": float(linear.bias),
        }
    return values_of(learned._replace(recommended=Recommended(0.0, None)), recipe, seed)
