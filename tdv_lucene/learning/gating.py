"""Learn which terms to give up: a soft gate with a budget on postings, beside the values."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from ..core import losses, tdv
from ..core.gate import budgeted_gate
from ..core.scoring import Array, Similarity, score_batch, weighted_statistics
from ..values.dropping import drop_terms
from .candidates import Lists
from .listwise import Weights, plain_start
from .problem import Problem
from .recipes import DefaultRecipe
from .training_task import Collection, batches, make_task

_ROUNDS = 2
"""Candidates are retrieved anew as often, for other terms are kept by then."""


class _Gated(NamedTuple):
    """What gradients change: the values, and what the gate adds to the prior importance."""

    values: Weights
    gate: tdv.Linear


def train_priority(
    problem: Problem,
    recipe: DefaultRecipe,
    features: tdv.Features,
    prior: np.ndarray,
    queries: np.ndarray,
    rng: np.random.Generator,
    step_done: Callable[[], None],
) -> np.ndarray:
    """Return float32[V]: ``prior`` times what ``queries`` taught, larger is kept longer.

    Values and gate are learned together under the budget of the recommended reduction; the
    values are thrown away, since those trained afterwards know exactly what is left.
    """
    log_prior = np.log(prior).astype(np.float32)
    optimizer, update = _compiled(problem.similarity, recipe)
    priority, learned = log_prior, None
    for _ in range(_ROUNDS):
        kept = kept_terms(problem, priority, recipe.recommended_reduction)
        task = make_task(problem, recipe, features, kept)
        lists = batches(task, queries, rng)
        if learned is None:
            values = plain_start(problem.similarity, recipe, task.collection, next(lists))
            nothing = jax.tree.map(jnp.zeros_like, values.linear)
            learned = _Gated(values, nothing)
            state = optimizer.init(learned)
        for _ in range(recipe.gate_steps // _ROUNDS):
            threshold = priority[kept > 0].min()
            learned, state = update(
                learned, state, task.collection, log_prior, threshold, next(lists)
            )
            step_done()
        priority = np.asarray(log_prior + tdv.linear_scores(learned.gate, features))
    return np.exp(priority).astype(np.float32)


def kept_terms(problem: Problem, priority: np.ndarray, reduction: float) -> np.ndarray:
    """Return float32[V]: 1 for the terms that stay at ``reduction``, 0 for those given up."""
    ones = np.ones(len(priority), np.float32)
    counts = problem.matrix.doc_freq, problem.postings_by_tf
    return drop_terms(ones, priority, *counts, reduction, None)[0]


@cache
def _compiled(similarity: Similarity, recipe: DefaultRecipe) -> tuple[Any, Any]:
    """Return (optimizer, update), compiled once for all folds."""
    schedule = optax.linear_schedule(
        recipe.gate_learning_rate, recipe.gate_learning_rate / 10, recipe.gate_steps
    )
    optimizer = optax.adam(schedule)

    def objective(
        learned: _Gated, collection: Collection, log_prior: Array, threshold: Array, lists: Lists
    ) -> jax.Array:
        z = log_prior + tdv.linear_scores(learned.gate, collection.features)
        keep = 1 - recipe.recommended_reduction
        gate = budgeted_gate(z, collection.doc_freq, keep, threshold, recipe.gate_width)
        counts = collection.doc_freq, collection.total_term_freq, collection.doc_count
        values = tdv.term_values(learned.values.linear, collection.features)
        statistics = weighted_statistics(values, *counts)._replace(
            total_tokens=(collection.total_term_freq * gate * values).sum()
        )
        scores = score_batch(similarity, values, lists.batch, statistics, gate)
        temperature = jnp.exp(learned.values.log_temperature)
        loss = losses.LOSSES[recipe.loss](scores, lists.gains, lists.where, temperature)
        loss += recipe.gate_l2 * tdv.squared_length(learned.gate)
        return loss + recipe.l2 * tdv.squared_length(learned.values.linear)

    @jax.jit
    def update(learned, state, collection, log_prior, threshold, lists):
        gradient = jax.grad(objective)(learned, collection, log_prior, threshold, lists)
        change, state = optimizer.update(gradient, state, learned)
        return optax.apply_updates(learned, change), state

    return optimizer, update
