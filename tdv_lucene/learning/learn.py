"""Stage 4: learn TDVs from judged queries; arrays in, arrays out, no Java needed."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..embedding.lsa import latent_semantic_vectors
from ..interruption import deferred
from ..matrix.first_positions import DEFAULT_BOOST, Boost
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..matrix.weight_powers import WeightPower
from ..prior.as_start import PriorStart
from ..prior.prior import Prior, Settings, settings_for
from ..progress import Progress, silent
from ..ranking import SearchParameters, ranking_function
from ..simulation.problem import Problem
from ..simulation.queries import Queries, make_queries
from ..values.posting_thresholds import count_thresholds
from ..values.term_orders import check_preference
from ..values.term_values import TermValues
from .config import TermValuesConfig
from .default import learn_default
from .learned_values import values_of
from .memory import Extent, fitting_pool, within
from .points import Learned
from .pool_drawing import draw_pool
from .pool_search import Search, search_matrix, searched
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
    boost (see :mod:`..matrix.first_positions`). On one machine the same ``seed`` gives the same
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
        Finds the documents of a pool, see :mod:`.pool_search`; None for NumPy, which holds all
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
    chosen = config.recipe or DefaultRecipe()
    check_preference(chosen.prefer, model)
    matrix.require_postings("learning")
    extent = Extent(*matrix.shape, matrix.postings).with_topics(topics, qrels)
    size = fitting_pool(extent, config.pool, config.memory_bytes)
    progress = within(config.memory_bytes, progress)
    whole = matrix
    if size:
        queries = make_queries(whole, topics, qrels)
        matrix = pool_of(whole, queries, qrels, model, search, size, seed, progress)
    if vectors is None:
        none = {} if chosen.values else {"dimensions": 0}
        vectors = latent_semantic_vectors(matrix, seed=seed, progress=progress, **none)
    known = _known(whole, chosen, model, config.prior)
    boost = known[1].boost if known else _first_boost(matrix, chosen, model)
    asked = config.parameters
    given = asked.values() if isinstance(asked, SearchParameters) else dict(asked or {})
    first = (known[1].parameters if known else SearchParameters()).with_values(given)
    counted = matrix.with_position_boost(boost)
    with deferred():  # JAX's callbacks bear no exception
        problem = Problem.of(counted, topics, qrels, vectors, model, first)
        learned = _learn(problem, chosen, known, given, seed, progress)
    problem = learned.problem
    _log.info("learned with %s from %d queries", problem.parameters.values(), len(problem.queries))
    rule = learned.final.rule
    if size and rule is not None:
        progress("count all postings", 0, 0)
        rule = count_thresholds(rule, whole)
        learned = learned._replace(final=learned.final._replace(rule=rule))
    return values_of(learned, chosen, seed, measure=config.measure)


def pool_of(
    matrix: TermDocumentMatrix,
    queries: Queries,
    qrels: Mapping[str, Mapping[str, int]],
    model: str,
    search: Search | None,
    size: int,
    seed: int,
    progress: Progress,
) -> TermDocumentMatrix:
    """Return a pool of ``size`` documents, for ``queries`` of the whole ``matrix``."""
    rankings = searched(search or search_matrix(matrix, queries, model), model, len(queries), size)
    judged = {query_id: qrels[query_id] for query_id in queries.ids if query_id in qrels}
    return draw_pool(matrix, judged, rankings, size, seed, progress)


def _learn(
    problem: Problem,
    recipe: DefaultRecipe,
    known: tuple[Prior, Settings] | None,
    given: Collection[str],
    seed: int,
    progress: Progress,
) -> Learned:
    """Learn by the recipe.

    ``given``: names of the problem's parameters that are the user's, and stay.
    """
    start = PriorStart.of(problem, *known) if known else None
    if start is None:
        problem.require_queries()
    elif recipe.values:
        problem = start.problem
    return learn_default(problem, recipe, seed, progress, start, fixed=given)


def _known(
    matrix: TermDocumentMatrix,
    recipe: DefaultRecipe,
    model: str,
    prior: Prior | None,
) -> tuple[Prior, Settings] | None:
    """Return the prior and its settings for this collection; None if learning starts without."""
    prior = prior or Prior.load()
    if not recipe.prior or not prior.knows(model):
        return None
    positions = recipe.lead and matrix.first_positions is not None
    return prior, settings_for(prior, matrix, model, positions=positions)[0]


def _first_boost(matrix: TermDocumentMatrix, recipe: DefaultRecipe, model: str) -> Boost | None:
    """Return the boost that learning starts from without a prior."""
    if ranking_function(model).of_weights:
        return WeightPower.one(matrix.doc_freq, matrix.total_term_freq)
    return DEFAULT_BOOST if recipe.lead and matrix.first_positions is not None else None
