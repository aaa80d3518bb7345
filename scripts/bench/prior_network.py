"""One network for many collections: the statistics' weights that serve them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from prior_collections import Judged

from tdv_lucene.learning.config import Recipe
from tdv_lucene.learning.train import (
    Task,
    Weights,
    batches,
    compiled_update,
    make_task,
    parameters_of,
    plain_start,
)
from tdv_lucene.matrix.term_statistics import standard_statistic
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.ranking.postings import FirstPositionBoost
from tdv_lucene.simulation.scoring import Features

STATISTICS = ("log df", "RIDF", "log cf/df", "characters", "digits")
"""Those that need no posting, so that a prior is applied in O(V)."""

RECIPE = Recipe(l2=1e-2, prior=False)
ROUNDS = 60
UNDER = (Parameters(k1=2.0, b=0.5), FirstPositionBoost(3.0, 12.0))
"""What training searches with: about the middle of what suits the collections."""


class Part(NamedTuple):
    """What a collection adds to the training."""

    task: Task
    queries: np.ndarray


def network_part(judged: Judged) -> Part:
    """Of the query sets that the prior is made of."""
    parameters, boost = UNDER
    problem = judged.problem.with_position_boost(boost)
    problem = replace(problem, parameters=parameters)
    columns = [standard_statistic(problem.matrix, name) for name in STATISTICS]
    features = Features(
        np.column_stack(columns).astype(np.float32),
        np.zeros(0, np.int32),
        np.zeros((0, 0), np.float32),
    )
    task = make_task(problem, RECIPE, features)
    return Part(task, judged.only(lambda each: each.made).in_sets)


def train_together(parts: Sequence[Part], seed: int) -> dict[str, Any]:
    """Return the network as the prior's file has it: a step on each collection in turn.

    Each has a temperature of its own, for scores differ in scale between collections.
    """
    rng, tasks = np.random.default_rng(seed), [part.task for part in parts]
    recipe = replace(RECIPE, max_steps=ROUNDS * len(tasks))
    similarity = tasks[0].problem.similarity
    lists = [batches(task, queries, rng) for task, queries in parts]
    starts = [
        plain_start(similarity, task.collection, next(each)) for task, each in zip(tasks, lists)
    ]
    linear, temperatures = starts[0].linear, [start.log_temperature for start in starts]
    optimizer, update = compiled_update(type(similarity), recipe)
    numbers = parameters_of(similarity)
    state = optimizer.init(starts[0])
    for _ in range(ROUNDS):
        for k, (task, each) in enumerate(zip(tasks, lists)):
            now = Weights(linear, temperatures[k])
            now, state = update(now, state, task.collection, next(each), numbers)
            linear, temperatures[k] = now
    linear = jax.tree.map(lambda part: np.asarray(jnp.asarray(part), np.float64), linear)
    return {
        "statistics": list(STATISTICS),
        "w": [round(float(weight), 4) for weight in linear.of_statistics],
        "b": round(float(linear.bias), 4),
    }
