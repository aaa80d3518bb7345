"""One training of the default recipe: listwise loss over candidates, validation stop."""

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
from .candidates import Candidates, Lists, make_lists, sample_places
from .problem import Problem
from .recipes import DefaultRecipe


class Trained(NamedTuple):
    """The parameters at the step that served the validation queries best.

    Attributes
    ----------
    linear : tdv.Linear of NumPy arrays
    step : int
        0 when no step was better than the plain model.
    validation : float
        nDCG@5 of the validation queries at that step.
    """

    linear: tdv.Linear
    step: int
    validation: float


class _Learned(NamedTuple):
    linear: tdv.Linear
    log_temperature: Array


class Collection(NamedTuple):
    """The collection's arrays on the device, the same for every training.

    Attributes
    ----------
    features : tdv.Features
    doc_freq, total_term_freq : float32[V]
    doc_count : float32[]
    """

    features: tdv.Features
    doc_freq: Array
    total_term_freq: Array
    doc_count: Array

    @classmethod
    def of(cls, problem: Problem, features: tdv.Features) -> Collection:
        """Put the collection of ``problem`` on the device."""
        matrix = problem.matrix
        arrays = features, matrix.doc_freq, matrix.total_term_freq, np.float32(matrix.doc_count)
        return cls(*jax.tree.map(lambda a: jnp.asarray(a, _device_type(a)), arrays))


def train(
    problem: Problem,
    collection: Collection,
    candidates: Candidates,
    recipe: DefaultRecipe,
    train_queries: np.ndarray,
    validation_queries: np.ndarray,
    rng: np.random.Generator,
    step_done: Callable[[], None],
) -> Trained:
    """Fit w and b on ``train_queries`` and stop where ``validation_queries`` are served best.

    Validation ranks the whole collection. Gradients never see the validation queries.
    """
    optimizer, update = _compiled(problem.similarity, recipe)
    lists = _batches(problem, candidates, recipe, train_queries, rng)
    learned = _start(problem.similarity, collection, next(lists))
    state = optimizer.init(learned)
    best = Trained(_on_host(learned.linear), 0, -1.0)
    for step in range(recipe.max_steps + 1):
        if step % recipe.check_every == 0:
            best = max(best, _checked(problem, collection, learned, step, validation_queries),
                       key=lambda trained: trained.validation)  # fmt: skip
        if step < recipe.max_steps:
            learned, state = update(learned, state, collection, next(lists))
            step_done()
    return best


def _checked(
    problem: Problem, collection: Collection, learned: _Learned, step: int, queries: np.ndarray
) -> Trained:
    values = tdv.term_values(learned.linear, collection.features)
    measured = problem.measure(problem.rows.weighted(np.asarray(values)), queries)
    return Trained(_on_host(learned.linear), step, float(measured[:, 0].mean()))


def _batches(
    problem: Problem,
    candidates: Candidates,
    recipe: DefaultRecipe,
    queries: np.ndarray,
    rng: np.random.Generator,
) -> Iterator[Lists]:
    """Yield batches for ever; every query comes once before any comes again."""
    # A multiple of eight, so that folds of nearly equal size share their compiled step.
    size = min(recipe.queries_per_step, max(1, len(queries) // 8 * 8), len(queries))
    waiting = np.zeros(0, np.int64)
    while True:
        if len(waiting) < size:
            waiting = np.concatenate([waiting, rng.permutation(queries)])
        chosen, waiting = waiting[:size], waiting[size:]
        places = sample_places(rng, candidates, chosen, recipe.width)
        yield make_lists(problem.rows, candidates, chosen, places)


def _start(similarity: Similarity, collection: Collection, lists: Lists) -> _Learned:
    """Begin at the plain model, with the temperature that suits it."""
    linear = tdv.flat_start(collection.features)
    scores = _scores(similarity, linear, collection, lists)
    temperature = losses.calibrated_temperature(scores, lists.gains, lists.where)
    return _Learned(linear, jnp.log(jnp.asarray(temperature, jnp.float32)))


def _scores(
    similarity: Similarity, linear: tdv.Linear, collection: Collection, lists: Lists
) -> jax.Array:
    values = tdv.term_values(linear, collection.features)
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


def _on_host(linear: tdv.Linear) -> tdv.Linear:
    return jax.tree.map(np.asarray, linear)


def _device_type(array: np.ndarray) -> type:
    """Term numbers stay integers; counts become float32, exact to 2**24 and close above."""
    return np.int32 if array.dtype == np.int32 else np.float32
