"""One training: a loss over lists of candidates."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from ..core import losses, tdv
from ..core.scoring import score_batch, weighted_statistics
from ..ranking import Array, Similarity
from .candidates import Lists
from .recipes import DefaultRecipe
from .training_task import Collection, Task, batches


class Weights(NamedTuple):
    """What gradients change.

    Attributes
    ----------
    linear : tdv.Linear
    log_temperature : float32[]
    """

    linear: tdv.Linear
    log_temperature: Array


def train(
    task: Task, queries: np.ndarray, rng: np.random.Generator, step_done: Callable[[], None]
) -> dict[int, tdv.Linear]:
    """Fit w and b on ``queries`` and return them (NumPy arrays) every ``check_every`` steps."""
    recipe, collection = task.recipe, task.collection
    similarity = task.problem.similarity
    optimizer, update = compiled_update(type(similarity), recipe)
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


def plain_start(similarity: Similarity, collection: Collection, lists: Lists) -> Weights:
    """Begin at the task's start, with the temperature that suits it."""
    linear = collection.start
    scores = _scores(similarity, linear, collection, lists)
    temperature = losses.calibrated_temperature(scores, lists.gains, lists.where)
    return Weights(linear, jnp.log(temperature))


def _scores(
    similarity: Similarity, linear: tdv.Linear, collection: Collection, lists: Lists
) -> jax.Array:
    values = tdv.term_values(linear, collection.features) * collection.kept
    statistics = weighted_statistics(
        values, collection.doc_freq, collection.total_term_freq, collection.doc_count
    )
    return score_batch(similarity, values, lists.batch, statistics)


def parameters_of(similarity: Similarity) -> tuple[jax.Array, ...]:
    """Return the numbers of a ranking function, in the order in which its class takes them."""
    return tuple(jnp.asarray(value, jnp.float32) for value in vars(similarity).values())


def compiled_update(kind: type, recipe: DefaultRecipe) -> tuple[Any, Any]:
    """Return (optimizer, update), compiled once for all folds and all recipes that train alike.

    The parameters of the ranking function, of class ``kind``, are arguments: folds may have others.
    """
    return _compiled(kind, recipe.l2, recipe.learning_rate, recipe.max_steps)


@lru_cache(maxsize=4)  # a program holds memory
def _compiled(kind: type, l2: float, learning_rate: float, max_steps: int) -> tuple[Any, Any]:
    schedule = optax.cosine_decay_schedule(learning_rate, max_steps, alpha=0.1)
    optimizer = optax.adam(schedule)

    def objective(
        learned: Weights, collection: Collection, lists: Lists, numbers: tuple[jax.Array, ...]
    ) -> jax.Array:
        scores = _scores(kind(*numbers), learned.linear, collection, lists)
        temperature = jnp.exp(learned.log_temperature)
        loss = losses.listwise(scores, lists.gains, lists.where, temperature)
        learned_only = jax.tree.map(jnp.subtract, learned.linear, collection.start)
        return loss + l2 * tdv.squared_length(learned_only)

    @jax.jit
    def update(
        learned: Weights, state: Any, collection: Collection, lists: Lists, numbers: Any
    ) -> tuple[Any, Any]:
        gradient = jax.grad(objective)(learned, collection, lists, numbers)
        change, state = optimizer.update(gradient, state, learned)
        return optax.apply_updates(learned, change), state

    return optimizer, update
