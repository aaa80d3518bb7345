"""What the trainings share, what they know of a term, and the batches they see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..core import tdv
from ..embedding.term_vectors import TermVectors
from ..interruption import check
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..matrix.term_statistics import STATISTICS, standard_statistic, standardise
from ..ranking import Array
from ..simulation.problem import Problem
from ..simulation.weighted_collection import term_totals
from .candidates import Candidates, Lists, make_candidates, make_lists, sample_places
from .recipes import DefaultRecipe

QUERIES_PER_STEP = 128
WIDTH = 40
"""Candidates in a query's list at each step, sampled from ``DEPTH``."""
DEPTH = 1000


class Task(NamedTuple):
    """What is trained.

    Attributes
    ----------
    problem : Problem
    recipe : DefaultRecipe
    collection : Collection
        On the device.
    candidates : Candidates
    """

    problem: Problem
    recipe: DefaultRecipe
    collection: Collection
    candidates: Candidates


class Collection(NamedTuple):
    """The collection's arrays on the device.

    Attributes
    ----------
    features : tdv.Features
    kept : float32[V]
        What a network's TDVs are multiplied by: the factor of the power of weights.
    doc_freq, total_term_freq : float32[V]
    doc_count : float32[]
    start : tdv.Linear
        Where training begins, and what its weights are pulled towards.
    """

    features: tdv.Features
    kept: Array
    doc_freq: Array
    total_term_freq: Array
    doc_count: Array
    start: tdv.Linear


def term_features(matrix: TermDocumentMatrix, vectors: TermVectors) -> tdv.Features:
    """Return the standardised features of every term of ``matrix``.

    Means and deviations are weighted by document frequency: a term counts as often as it has
    postings, because postings are what is scored and stored.
    """
    weight = np.asarray(matrix.doc_freq, np.float64)
    statistics = np.column_stack([standard_statistic(matrix, name) for name in STATISTICS])
    known = standardise(np.asarray(vectors.vectors, np.float64), weight[vectors.terms])
    # Vector components share one unit of variance, or 100 of them would outweigh the statistics.
    known /= np.sqrt(max(1, known.shape[1]) / 10)
    return tdv.Features(
        statistics.astype(np.float32), np.asarray(vectors.terms), known.astype(np.float32)
    )


def make_task(
    problem: Problem,
    recipe: DefaultRecipe,
    features: tdv.Features,
    start: tdv.Linear | None = None,
) -> Task:
    """Prepare training, with candidates retrieved by the TDVs it starts from.

    ``start`` is the network to begin with; None gives every term the same TDV.
    """
    impacts = problem.impacts(problem.rows.weighted(problem.base_values))
    candidates = make_candidates(problem.postings, impacts, DEPTH)
    matrix = problem.matrix
    start_values, doc_freq = problem.judged.start_values, np.maximum(matrix.doc_freq, 1)
    counts = start_values, doc_freq, term_totals(matrix), matrix.doc_count
    kept, df, cf, size = (jnp.asarray(np.asarray(count), jnp.float32) for count in counts)
    features, start = jax.tree.map(jnp.asarray, (features, start or tdv.flat_start(features)))
    collection = Collection(features, kept, df, cf, size, start)
    return Task(problem, recipe, collection, candidates)


def batches(task: Task, queries: np.ndarray, rng: np.random.Generator) -> Iterator[Lists]:
    """Yield batches for ever; every query comes once before any comes again."""
    # A multiple of eight, so that folds of nearly equal size share their compiled step.
    size = min(QUERIES_PER_STEP, max(1, len(queries) // 8 * 8), len(queries))
    waiting = np.zeros(0, np.int64)
    while True:
        check()
        if len(waiting) < size:
            waiting = np.concatenate([waiting, rng.permutation(queries)])
        chosen, waiting = waiting[:size], waiting[size:]
        places = sample_places(rng, task.candidates, chosen, WIDTH)
        yield make_lists(task.problem.rows, task.candidates, chosen, places)
