"""Stage 4: learn TDVs from judged queries; arrays in, arrays out, no Java needed."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any

import numpy as np

from ..embedding.lsa import latent_semantic_vectors
from ..evaluation.topics import note_on_missing, relevant_documents
from ..interruption import deferred
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..prior.prior import Prior, settings_for
from ..progress import Progress, silent
from ..ranking import SearchParameters, ranking_function
from ..ranking.boosts import DEFAULT_BOOST, Boost, WeightPower, describe_boost
from ..simulation.problem import JudgedMatrix, Problem
from ..simulation.queries import Queries, make_queries
from ..values.losses import MEASURE
from ..values.posting_thresholds import count_thresholds
from ..values.term_values import TermValues
from .config import TermValuesConfig
from .default import PriorStart, learn_default
from .memory import Extent, fitting_pool, within
from .points import Learned
from .pool import Search, pool_of
from .recipes import DefaultRecipe

_log = logging.getLogger(__name__)


def learn_term_values(
    matrix: TermDocumentMatrix,
    topics: Mapping[str, Sequence[str]],
    qrels: Mapping[str, Mapping[str, int]],
    config: TermValuesConfig | None = None,
    *,
    search: Search | None = None,
    progress: Progress = silent,
    **options: Any,
) -> TermValues:
    """Learn the TDV of every term of ``matrix``.

    tdv_t = ReLU(w . x_t + b), with w and b fitted so that ``model``, computed on tf * tdv, ranks
    the judged documents well. It shrinks and averages several such networks (see
    :class:`.stopping.Network`) and, if the matrix has ``first_positions``, uses a first-position
    boost (see :mod:`..ranking.boosts`). On one machine the same ``seed`` gives the same
    TDVs.

    Parameters
    ----------
    topics
        Query id -> index terms (see :func:`tdv_lucene.analyze`), with repetitions.
    qrels
        Query id -> document id -> grade.
    config, options
        How to learn: a :class:`TermValuesConfig`, or its options by name, as ``seed=1``.
    search
        Finds the documents of a pool, see :mod:`.pool`; None for NumPy, which holds all
        postings of the query terms.

    Raises
    ------
    TdvError
        When topics, qrels, vectors and matrix do not belong together, when there are too few
        queries, when the matrix holds only some of the documents, or when learning would take more
        than ``memory``.
    """
    config = TermValuesConfig.of(config, options)
    model, seed, vectors = matrix.searched_by(config.model), config.seed, config.vectors
    recipe = config.recipe or DefaultRecipe()
    matrix.require_postings("learning")
    extent = Extent(*matrix.shape, matrix.postings).with_topics(topics, qrels)
    size = fitting_pool(extent, config.pool, config.memory_bytes)
    progress = within(config.memory_bytes, progress)
    whole, queries = matrix, make_queries(matrix, topics, qrels)
    _warn_of_missing(whole, queries, relevant_documents(topics, qrels))
    if size:
        matrix, queries = pool_of(whole, queries, model, search, size, seed, progress)
    if vectors is None:
        none = {} if recipe.values else {"dimensions": 0}
        vectors = latent_semantic_vectors(matrix, seed=seed, progress=progress, **none)
    vectors.check(matrix)
    prior, start = config.prior or Prior.load(), None
    if recipe.prior and prior.knows(model):
        positions = recipe.lead and whole.first_positions is not None
        start = PriorStart(prior, settings_for(prior, whole, model, positions=positions)[0])
    boost = start.settings.boost if start else _first_boost(matrix, recipe, model)
    asked = config.parameters
    given = asked.values() if isinstance(asked, SearchParameters) else dict(asked or {})
    first = (start.settings.parameters if start else SearchParameters()).with_values(given)
    counted = matrix.with_position_boost(boost)
    with deferred():  # JAX's callbacks bear no exception
        problem = Problem(JudgedMatrix(counted, queries), vectors, model, first)
        learned = learn_default(
            problem, recipe, seed, progress, start, fixed=given, measure=config.measure
        )
    problem = learned.problem
    _log.info("learned with %s from %d queries", problem.parameters.values(), len(problem.queries))
    rule = learned.final.rule
    if size and rule is not None:
        progress("count all postings", 0, 0)
        rule = count_thresholds(rule, whole)
        learned = learned._replace(final=learned.final._replace(rule=rule))
    return values_of(learned, recipe, seed, config.measure)


def _warn_of_missing(matrix: TermDocumentMatrix, queries: Queries, relevant: set[str]) -> None:
    """Say how many ``relevant`` documents the index lacks."""
    found = len(np.unique(queries.judged_docs[queries.grades > 0]))
    missing, index = len(relevant) - found, str(matrix.source.get("path", "the index"))
    if note := note_on_missing(missing, len(relevant), "the qrels", index):
        _log.warning("%s; queries that have no other are left out", note)


def _first_boost(matrix: TermDocumentMatrix, recipe: DefaultRecipe, model: str) -> Boost | None:
    """Return the boost that learning starts from without a prior."""
    if ranking_function(model).of_weights:
        return WeightPower.one(matrix.doc_freq, matrix.total_term_freq)
    return DEFAULT_BOOST if recipe.lead and matrix.first_positions is not None else None


def values_of(learned: Learned, recipe: Any, seed: int, measure: str = MEASURE) -> TermValues:
    """Return the TDVs, with all that led to them in the manifest.

    ``recipe`` is a dataclass with a ``name``; ``measure`` is what points were recommended by.
    """
    problem, final = learned.problem, learned.final
    matrix = problem.matrix
    return TermValues.of(
        matrix,
        final.weights,
        final.priority,
        final.rule,
        model=problem.model,
        parameters=problem.parameters,
        lead=describe_boost(matrix.position_boost),
        positions=matrix.first_positions is not None,
        recipe={"name": recipe.name, **asdict(recipe), **_chosen(learned)},
        seed=seed,
        vectors=dict(problem.vectors.origin),
        queries=len(problem.queries),
        pool=_pool(matrix),
        folds=learned.folds,
        points=learned.points,
        prior=learned.moved,
        full=learned.full,
        measure=measure,
        choice=learned.choice,
        recommended_reduction=learned.recommended.reduction,
        recommended_because=learned.recommended.because,
    )


def _chosen(learned: Learned) -> dict[str, Any]:
    """The order of postings and the finest scale, where queries chose them; None is any scale."""
    if learned.way is None:
        return {}
    finest = learned.way.finest
    return {"per_byte": learned.way.per_byte, "finest": finest if isfinite(finest) else None}


def _pool(matrix: TermDocumentMatrix) -> dict[str, Any] | None:
    """What a manifest says of the pool: measures in it are estimates."""
    pool = matrix.pool
    if pool is None or matrix.collection is None:
        return None
    return {
        "documents": len(pool.drawn),
        "of": matrix.collection["documents"],
        "drawn": int(np.count_nonzero(pool.drawn)),
        "postings": matrix.postings,
    }
