"""Train TDVs by gradient: candidates of queries, batches, the network, and where to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from ..interruption import check
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..matrix.term_statistics import STATISTICS, standard_statistic, standardise
from ..matrix.term_vectors import TermVectors
from ..ranking import Array, RankingFunction
from ..simulation import scoring
from ..simulation.collection import term_totals
from ..simulation.problem import DocumentRows, Problem
from ..simulation.retrieval import Queries, QueryPostings
from ..simulation.scoring import Features, Linear
from .config import Recipe
from .selection import deciding, first_of_the_best

SLOPES = (0.0, 0.25, 0.5, 0.75)
"""Differences of TDVs from their mean (1: as learned, 0: all the same)."""
CAUTION = 1.0
"""With a prior: by how many standard errors the result must serve held-out queries better than the
prior does."""
QUERIES_PER_STEP = 128
WIDTH = 40  # candidates in a query's list at each step, sampled from ``DEPTH``
DEPTH = 1000
_MEMORY_BYTES = 1 << 30
"""For the frequencies of query terms in candidates: many or long queries get fewer candidates."""


class Candidates(NamedTuple):
    """``K`` candidates of each of ``Q`` queries: the relevant ones first, then by rank."""

    docs: np.ndarray  # int32[Q, K]: -1 is padding
    gains: np.ndarray  # float32[Q, K]: the grade; 0 for judged non-relevant and unjudged documents
    query_terms: np.ndarray  # int32[Q, L]
    query_tf: np.ndarray  # float32[Q, L]: 0 is padding
    tf: np.ndarray  # float32[Q, K, L]


class Lists(NamedTuple):
    """A training batch: documents to score and the gains they should be ranked by."""

    batch: scoring.Batch
    gains: np.ndarray  # float32[B, C]
    where: np.ndarray  # bool[B, C]: false marks padding


class Collection(NamedTuple):
    """The collection's arrays on the device."""

    features: Features
    kept: Array  # float32[V]: factors of a network's TDVs: the boost's factors of terms
    # doc_freq, total_term_freq: float32[V]
    doc_freq: Array
    total_term_freq: Array
    doc_count: Array  # float32[]
    start: Linear  # Where training begins, and towards which its weights are pulled


class Task(NamedTuple):
    """A problem prepared for training."""

    problem: Problem
    recipe: Recipe
    collection: Collection
    candidates: Candidates


def make_candidates(postings: QueryPostings, impacts: np.ndarray, depth: int = DEPTH) -> Candidates:
    """Return each query's judged documents and its best ``depth`` documents under ``impacts``."""
    queries = postings.queries
    number, longest = len(queries), queries.longest
    depth = max(50, min(depth, _MEMORY_BYTES // (4 * number * longest)))
    docs = np.full((number, depth), -1, np.int32)
    gains = np.zeros((number, depth), np.float32)
    for query, ranking in enumerate(postings.top(impacts, depth)):
        held, grades = queries.judged_of(query)
        order = np.argsort(-grades, kind="stable")
        held, grades = held[order][:depth], grades[order][:depth]
        retrieved = ranking[ranking >= 0]
        rest = retrieved[~np.isin(retrieved, held)][: depth - len(held)]
        docs[query, : len(held) + len(rest)] = np.concatenate([held, rest])
        gains[query, : len(held)] = np.maximum(grades, 0)
    tf = np.zeros((number, depth, longest), np.float32)
    for query in range(number):
        for column, row in enumerate(postings.spans_of(query)):
            row_docs, row_tf = postings.docs[row], postings.tf[row]
            if len(row_docs):
                at = np.minimum(np.searchsorted(row_docs, docs[query]), len(row_docs) - 1)
                tf[query, :, column] = np.where(row_docs[at] == docs[query], row_tf[at], 0)
    return Candidates(docs, gains, *padded_terms(queries), tf)


def padded_terms(queries: Queries) -> tuple[np.ndarray, np.ndarray]:
    """Return int32[Q, L] terms and float32[Q, L] frequencies, 0 where a query is shorter."""
    shape = len(queries), queries.longest
    terms, tf = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
    held = np.arange(queries.longest) < np.diff(queries.indptr)[:, None]
    terms[held], tf[held] = queries.terms, queries.tf
    return terms, tf


def make_lists(
    rows: DocumentRows, candidates: Candidates, queries: np.ndarray, places: np.ndarray
) -> Lists:
    """Return the batch of candidates ``places`` int[B, C] of ``queries`` int[B]."""
    at = queries[:, None], places
    docs = candidates.docs[at]
    query_terms, query_tf = candidates.query_terms[queries], candidates.query_tf[queries]
    batch = rows.batch(query_terms, query_tf, docs, candidates.tf[at])
    return Lists(batch, candidates.gains[at], docs >= 0)


def sample_places(
    rng: np.random.Generator, candidates: Candidates, queries: np.ndarray, width: int
) -> np.ndarray:
    """Choose int64[B, width] candidates a query: relevant ones up to half, the rest by rank.

    Non-relevant candidates are drawn without replacement with probability falling as
    1 / (place + 10), so that the head of the ranking, where nDCG is decided, is well seen and the
    tail still is. Implemented as the largest of Gumbel-perturbed log weights.
    """
    depth = candidates.docs.shape[1]
    noise = rng.gumbel(size=(len(queries), depth))
    keys = noise - np.log(np.arange(depth) + 10)
    keys[candidates.docs[queries] < 0] = -np.inf
    relevant = candidates.gains[queries] > 0
    first = relevant[:, : relevant.sum(axis=1).max(initial=0)]  # the relevant come first
    rank = np.argsort(np.argsort(-np.where(first, noise[:, : first.shape[1]], -np.inf)))
    keys[:, : first.shape[1]][first & (rank < width // 2)] = np.inf
    return np.argpartition(-keys, min(width, depth) - 1, axis=1)[:, :width]


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


def term_features(matrix: TermDocumentMatrix, vectors: TermVectors) -> Features:
    """Return the standardised features of every term of ``matrix``.

    Means and deviations are weighted by document frequency: a term counts as often as it has
    postings, because postings are scored and stored.
    """
    weight = np.asarray(matrix.doc_freq, np.float64)
    statistics = np.column_stack([standard_statistic(matrix, name) for name in STATISTICS])
    known = standardise(np.asarray(vectors.vectors, np.float64), weight[vectors.terms])
    # Vector components share one unit of variance, or 100 of them would outweigh the statistics.
    known /= np.sqrt(max(1, known.shape[1]) / 10)
    return Features(
        statistics.astype(np.float32), np.asarray(vectors.terms), known.astype(np.float32)
    )


def make_task(
    problem: Problem, recipe: Recipe, features: Features, start: Linear | None = None
) -> Task:
    """Prepare training, with candidates retrieved by the TDVs it starts from.

    ``start`` is the network to begin with; None gives every term the same TDV.
    """
    impacts = problem.impacts(problem.rows.weighted(problem.base_values))
    candidates = make_candidates(problem.postings, impacts)
    matrix = problem.matrix
    start_values, doc_freq = problem.judged.start_values, np.maximum(matrix.doc_freq, 1)
    counts = start_values, doc_freq, term_totals(matrix), matrix.doc_count
    kept, df, cf, size = (jnp.asarray(np.asarray(count), jnp.float32) for count in counts)
    features, start = jax.tree.map(jnp.asarray, (features, start or scoring.flat_start(features)))
    collection = Collection(features, kept, df, cf, size, start)
    return Task(problem, recipe, collection, candidates)


class Weights(NamedTuple):
    """The numbers that gradients change."""

    linear: Linear
    log_temperature: Array  # float32[]


def train(
    task: Task, queries: np.ndarray, rng: np.random.Generator, step_done: Callable[[], None]
) -> dict[int, Linear]:
    """Fit w and b on ``queries`` and return them (NumPy arrays) every ``check_every`` steps."""
    recipe, collection = task.recipe, task.collection
    similarity = task.problem.similarity
    kind: type = type(similarity)
    optimizer, update = compiled_update(kind, recipe.l2, recipe.learning_rate, recipe.max_steps)
    numbers = parameters_of(similarity)
    lists = batches(task, queries, rng)
    learned = plain_start(similarity, collection, next(lists))
    state = optimizer.init(learned)
    checkpoints = {}
    for step in range(1, recipe.max_steps + 1):
        learned, state = update(learned, state, collection, next(lists), numbers)
        if step % recipe.check_every == 0:
            checkpoints[step] = jax.tree.map(np.asarray, learned.linear)
        step_done()
    return checkpoints


def plain_start(similarity: RankingFunction, collection: Collection, lists: Lists) -> Weights:
    """Return the task's start, with the temperature that suits it."""
    linear = collection.start
    scores = _scores(similarity, linear, collection, lists)
    temperature = scoring.calibrated_temperature(scores, lists.gains, lists.where)
    return Weights(linear, jnp.log(temperature))


def _scores(
    similarity: RankingFunction, linear: Linear, collection: Collection, lists: Lists
) -> jax.Array:
    values = scoring.term_values(linear, collection.features) * collection.kept
    statistics = scoring.weighted_statistics(
        values, collection.doc_freq, collection.total_term_freq, collection.doc_count
    )
    return scoring.score_batch(similarity, values, lists.batch, statistics)


def parameters_of(similarity: RankingFunction) -> tuple[jax.Array, ...]:
    """Return the parameters of a ranking function, in the order in which its class takes them."""
    return tuple(jnp.asarray(value, jnp.float32) for value in vars(similarity).values())


@lru_cache(maxsize=4)  # a program holds memory
def compiled_update(kind: type, l2: float, learning_rate: float, max_steps: int) -> tuple[Any, Any]:
    """Return (optimizer, update), compiled once for all folds and all recipes that train alike.

    The parameters of the ranking function, of class ``kind``, are arguments: folds may have others.
    """
    schedule = optax.cosine_decay_schedule(learning_rate, max_steps, alpha=0.1)
    optimizer = optax.adam(schedule)

    def objective(
        learned: Weights, collection: Collection, lists: Lists, numbers: tuple[jax.Array, ...]
    ) -> jax.Array:
        scores = _scores(kind(*numbers), learned.linear, collection, lists)
        temperature = jnp.exp(learned.log_temperature)
        loss = scoring.listwise(scores, lists.gains, lists.where, temperature)
        away = jax.tree.map(jnp.subtract, learned.linear, collection.start)  # b is free
        penalty: jax.Array = (away.of_statistics**2).sum() + (away.of_vector**2).sum()
        return loss + l2 * penalty

    @jax.jit
    def update(
        learned: Weights, state: Any, collection: Collection, lists: Lists, numbers: Any
    ) -> tuple[Any, Any]:
        gradient = jax.grad(objective)(learned, collection, lists, numbers)
        change, state = optimizer.update(gradient, state, learned)
        return optax.apply_updates(learned, change), state

    return optimizer, update


class Network(NamedTuple):
    """One shallow network, shrunk: tdv = (1 - slope) base + factor ReLU(w . x + b)."""

    linear: Linear  # Linear of NumPy arrays
    # The slope over the mean ReLU of a kept token. Only the differences between the learned TDVs
    # are used, and they are shrunk: a training on few queries pushes some terms to 0, and then
    # nothing finds what only they retrieve. The mean TDV is always 1. Moving all TDVs together
    # would choose another k1 (or mu), which was done before, and with care: it suits the training's
    # kind of query and harms others.
    factor: float
    slope: float  # Within [0, 1]; 0 leaves every term at the base
    step: int
    # float32[V] or 1.0: the TDVs to shrink towards: the problem's base, which has a mean of 1 too
    base: np.ndarray | float = 1.0

    def values(self, features: Features) -> np.ndarray:
        """Return float32[V] TDVs."""
        unit = np.asarray(scoring.term_values(self.linear, features))
        return ((1 - self.slope) * self.base + self.factor * unit).astype(np.float32)


class Trained(NamedTuple):
    """One fold's training, at all choices of a step and a slope; the first is the base."""

    networks: list[Network]
    # float64[choices, n]: over the base, of the queries that the training did not see
    gains: np.ndarray


def measure_checkpoints(task: Task, checkpoints: dict[int, Linear], fold: np.ndarray) -> Trained:
    """Measure a training at every checkpoint and slope on the queries it did not see."""
    start = jax.tree.map(np.asarray, task.collection.start)
    networks = [
        _network(task, start, 0, 0.0),
        *(_network(task, at, step, slope) for step, at in checkpoints.items() for slope in SLOPES),
    ]
    features, kept = task.collection.features, np.asarray(task.collection.kept)
    rows, measure = task.problem.rows, task.problem.measure
    measured = np.array(
        [
            deciding(measure(rows.weighted(network.values(features) * kept), fold))
            for network in networks
        ]
    )
    return Trained(networks, measured - measured[0])


def _network(task: Task, linear: Linear, step: int, slope: float) -> Network:
    collection = task.collection
    unit = np.asarray(scoring.term_values(linear, collection.features))
    tokens = np.asarray(collection.total_term_freq * collection.kept, np.float64)
    mean = max(float((tokens * unit).sum() / tokens.sum()), 1e-9)
    base = 1.0 if task.problem.base is None else task.problem.base
    return Network(linear, slope / mean, slope, step, base)


def choose(gains: Sequence[np.ndarray], caution: float) -> tuple[list[int], int]:
    """Return the best choice for each fold by all *other* folds, and the best by all.

    ``gains`` float64[choices, n] of each fold are over choice 0. Network k was trained without fold
    k, whose queries measured it. Pooled over the folds, every query is measured by a network whose
    gradients never saw it. A single fold of a small collection would be too noisy. ``caution``
    standard errors are taken off each sum of gains, and with few queries choice 0 stays.
    """

    def surest(pooled: np.ndarray) -> int:
        number = pooled.shape[1]
        errors = pooled.std(axis=1, ddof=min(1, number - 1)) * np.sqrt(number)
        return int(np.argmax(pooled.sum(axis=1) - caution * errors))

    return _by_others(gains, surest)


def choose_mildly(trained: Sequence[Trained]) -> tuple[list[int], int]:
    """Choose as :func:`choose`, but the mildest that the best does not significantly beat.

    That is the smallest slope, and the fewest steps. It is for TDVs that start at 1: the larger
    differences that one kind of query gains by cost others.
    """
    networks = trained[0].networks
    mildest = sorted(range(len(networks)), key=lambda k: (networks[k].slope, networks[k].step))
    return _by_others(
        [of_fold.gains for of_fold in trained],
        lambda pooled: mildest[first_of_the_best([*pooled[mildest]])],
    )


def _by_others(
    gains: Sequence[np.ndarray], best: Callable[[np.ndarray], int]
) -> tuple[list[int], int]:
    """Return the best for each fold by the gains of all others, and the best by all."""
    others = [np.concatenate([*gains[:k], *gains[k + 1 :]], axis=1) for k in range(len(gains))]
    return [best(pooled) for pooled in others], best(np.concatenate(gains, axis=1))
