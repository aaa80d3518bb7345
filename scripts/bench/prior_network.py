"""One network for many collections: the statistics' weights that serve them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from prior_collections import Judged

from tdv_lucene.core.tdv import Features
from tdv_lucene.learning.listwise import Weights, compiled_update, parameters_of, plain_start
from tdv_lucene.learning.recipes import DefaultRecipe
from tdv_lucene.learning.training_task import Task, batches, make_task
from tdv_lucene.matrix.first_positions import FirstPositionBoost
from tdv_lucene.matrix.term_statistics import standard_statistic
from tdv_lucene.ranking import SearchParameters as Parameters

STATISTICS = ("log df", "RIDF", "log cf/df", "bytes", "digits")
"""Those that need no posting, so that a prior is applied in O(V)."""

RECIPE = DefaultRecipe(features="statistics", l2=1e-2, prior=False)
ROUNDS = 60
UNDER = (Parameters(k1=2.0, b=0.5), FirstPositionBoost(3.0, 12.0))
"""What training searches with: about the middle of what suits the collections."""


def network_task(judged: Judged) -> Task:
    """What a collection adds to the training."""
    parameters, boost = UNDER
    problem = judged.problem.with_position_boost(boost)
    problem = replace(problem, parameters=parameters)
    columns = [standard_statistic(problem.matrix, name) for name in STATISTICS]
    features = Features(
        np.column_stack(columns).astype(np.float32),
        np.zeros(0, np.int32),
        np.zeros((0, 0), np.float32),
    )
    return make_task(problem, RECIPE, features, np.ones(problem.matrix.shape[0], np.float32))


def train_together(tasks: Sequence[Task], seed: int) -> dict[str, Any]:
    """Return the network as the prior's file has it: a step on each collection in turn.

    Each has a temperature of its own, for scores differ in scale between collections.
    """
    rng = np.random.default_rng(seed)
    recipe = replace(RECIPE, max_steps=ROUNDS * len(tasks))
    similarity = tasks[0].problem.similarity
    lists = [batches(task, np.arange(len(task.problem.queries)), rng) for task in tasks]
    starts = [
        plain_start(similarity, recipe, task.collection, next(each))
        for task, each in zip(tasks, lists)
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
