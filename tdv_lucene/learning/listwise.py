"""One training of the default recipe: listwise loss over candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from ..core import losses, tdv
from ..core.scoring import Array, Similarity, score_batch, weighted_statistics
from .candidates import Candidates, Lists, make_candidates, make_lists, sample_places
from .problem import Problem
from .recipes import DefaultRecipe


class _Learned(NamedTuple):
    linear: tdv.Linear
    log_temperature: Array


class Task(NamedTuple):
    """What all folds of one stage share.

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
        0 for the terms that are given up, else 1.
    doc_freq, total_term_freq : float32[V]
    doc_count : float32[]
    """

    features: tdv.Features
    kept: Array
    doc_freq: Array
    total_term_freq: Array
    doc_count: Array


def make_task(
    problem: Problem, recipe: DefaultRecipe, features: tdv.Features, kept: np.ndarray
) -> Task:
    """Prepare training under the mask ``kept`` float32[V], with candidates retrieved under it."""
    impacts = problem.impacts(problem.rows.weighted(kept))
    candidates = make_candidates(problem.postings, impacts, recipe.depth)
    matrix = problem.matrix
    counts = matrix.doc_freq, matrix.total_term_freq, matrix.doc_count
    on_device = [jnp.asarray(np.asarray(count), jnp.float32) for count in (kept, *counts)]
    return Task(
        problem, recipe, Collection(jax.tree.map(jnp.asarray, features), *on_device), candidates
    )


def train(
    task: Task, queries: np.ndarray, rng: np.random.Generator, step_done: Callable[[], None]
) -> dict[int, tdv.Linear]:
    """Fit w and b on ``queries`` and return them (NumPy arrays) every ``check_every`` steps."""
    recipe, collection = task.recipe, task.collection
    optimizer, update = _compiled(task.problem.similarity, recipe)
    lists = _batches(task, queries, rng)
    learned = _start(task.problem.similarity, collection, next(lists))
    state = optimizer.init(learned)
    checkpoints = {}
    for step in range(1, recipe.max_steps + 1):
        learned, state = update(learned, state, collection, next(lists))
        if step % recipe.check_every == 0:
            checkpoints[step] = jax.tree.map(np.asarray, learned.linear)
        step_done()
    return checkpoints


def _batches(
    task: Task, queries: np.ndarray, rng: np.random.Generator
) -> Iterator[Lists]:
    """Yield batches for ever; every query comes once before any comes again."""
    recipe = task.recipe
    # A multiple of eight, so that folds of nearly equal size share their compiled step.
    size = min(recipe.queries_per_step, max(1, len(queries) // 8 * 8), len(queries))
    waiting = np.zeros(0, np.int64)
    while True:
        if len(waiting) < size:
            waiting = np.concatenate([waiting, rng.permutation(queries)])
        chosen, waiting = waiting[:size], waiting[size:]
        places = sample_places(rng, task.candidates, chosen, recipe.width)
        yield make_lists(task.problem.rows, task.candidates, chosen, places)


def _start(similarity: Similarity, collection: Collection, lists: Lists) -> _Learned:
    """Begin at the plain model, with the temperature that suits it."""
    linear = tdv.flat_start(collection.features)
    scores = _scores(similarity, linear, collection, lists)
    temperature = losses.calibrated_temperature(scores, lists.gains, lists.where)
    return _Learned(linear, jnp.log(jnp.asarray(temperature, jnp.float32)))


def _scores(
    similarity: Similarity, linear: tdv.Linear, collection: Collection, lists: Lists
) -> jax.Array:
    values = tdv.term_values(linear, collection.features) * collection.kept
    statistics = weighted_statistics(
        values, collection.doc_freq, collection.total_term_freq, collection.doc_count
    )
    return score_batch(similarity, values, lists.batch, statistics)


@cache
def _compiled(similarity: Similarity, recipe: DefaultRecipe) -> tuple[Any, Any]:
    """Return (optimizer, update), compiled once for all folds."""
    schedule = optax.cosine_decay_schedule(recipe.learning_rate, recipe.max_steps, alpha=0.1)
    optimizer = optax.adam(schedule)

    def objective(learned: _Learned, collection: Collection, lists: Lists) -> jax.Array:
        scores = _scores(similarity, learned.linear, collection, lists)
        temperature = jnp.exp(learned.log_temperature)
        loss = losses.listwise(scores, lists.gains, lists.where, temperature)
        of_statistics, of_vector, _ = learned.linear
        return loss + recipe.l2 * ((of_statistics**2).sum() + (of_vector**2).sum())

    @jax.jit
    def update(learned, state, collection, lists):
        gradient = jax.grad(objective)(learned, collection, lists)
        change, state = optimizer.update(gradient, state, learned)
        return optax.apply_updates(learned, change), state

    return optimizer, update
