"""Stage 4: learn what each term is worth from judged queries. Needs no Java."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from .embed import TermVectors, latent_semantic_vectors
from .errors import TdvError
from .learning.default import Learned, learn_default
from .learning.problem import Problem
from .learning.recipes import MODELS, DefaultRecipe, PaperRecipe, Parameters, make_recipe
from .progress import Progress, silent
from .records import TermDocumentMatrix
from .values import TermValues


def learn_term_values(
    matrix: TermDocumentMatrix,
    topics: Mapping[str, Sequence[str]],
    qrels: Mapping[str, Mapping[str, int]],
    *,
    model: str = "bm25",
    recipe: str | DefaultRecipe | PaperRecipe = "default",
    vectors: TermVectors | None = None,
    parameters: Parameters | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> TermValues:
    """Learn a discrimination value for every term of ``matrix``.

    tdv_t = ReLU(w . x_t + b), with w and b fitted so that ``model``, computed on tf * tdv, ranks
    the judged documents well. Deterministic given ``seed`` on one machine.

    Parameters
    ----------
    topics
        Query id -> index terms (see :func:`tdv_lucene.analyze_topics`), with repetitions.
    qrels
        Query id -> document id -> grade.
    model
        ``"bm25"``, ``"qld"`` or ``"tfidf"``.
    recipe
        ``"default"``, ``"paper"``, or one of their classes with other numbers in it.
    vectors
        Word vectors of the terms; None makes them from the matrix (LSA).
    parameters
        k1, b and mu that search will use.

    Raises
    ------
    TdvError
        When topics, qrels, vectors and matrix do not belong together or are too few.
    """
    if model not in MODELS:
        raise TdvError(f"no model '{model}': choose one of {', '.join(MODELS)}")
    chosen = make_recipe(recipe)
    parameters = parameters or Parameters()
    if vectors is None:
        vectors = latent_semantic_vectors(matrix, seed=seed, progress=progress)
    problem = Problem.of(matrix, topics, qrels, vectors, model, parameters)
    if len(problem.queries) < 2:
        raise TdvError(
            "learning needs at least 2 judged queries with a relevant document in the index, got "
            f"{len(problem.queries)}: pass more topics and qrels"
        )
    learned = learn_default(problem, chosen, seed, progress)
    return TermValues(
        vocabulary=matrix.vocabulary,
        doc_freq=np.asarray(matrix.doc_freq),
        total_term_freq=np.asarray(matrix.total_term_freq),
        postings_by_tf=problem.postings_by_tf,
        weights=learned.weights,
        priority=learned.priority,
        manifest=_manifest(problem, chosen, learned, seed),
    )


def _manifest(
    problem: Problem, recipe: DefaultRecipe | PaperRecipe, learned: Learned, seed: int
) -> dict:
    matrix = problem.matrix
    return {
        "field": matrix.vocabulary.field,
        "source": matrix.source,
        "vocabulary_sha256": matrix.vocabulary.sha256,
        "model": problem.model,
        "parameters": asdict(problem.parameters),
        "recipe": {"name": recipe.name, **asdict(recipe)},
        "seed": seed,
        "vectors": dict(problem.vectors.origin),
        "queries": len(problem.queries),
        "folds": learned.folds,
        "points": learned.points,
        "recommended_reduction": learned.recommended_reduction,
    }
