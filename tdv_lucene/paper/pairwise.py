"""The paper's recipe and one training by it: triples, batch-wise statistics, hinge and l1, Adam."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from ..errors import TdvError
from ..interruption import check
from ..learning.train import padded_terms
from ..simulation.problem import Problem
from ..simulation.retrieval import Queries
from ..simulation.scoring import Batch, Features, Linear, term_values
from ..values.posting_rule import REDUCTIONS
from .similarities import SIMILARITIES, PaperSimilarity, hinge_with_sparsity, score_half


@dataclass(frozen=True)
class PaperRecipe:
    """The paper's training: batch-wise statistics, l1-based idf, hinge and l1, Adam.

    Attributes
    ----------
    pairs_per_step : int
        (query, relevant, non-relevant) triples a step.
    learning_rate : float
    sparsity : float
        lambda, within [0, 1].
    max_epochs, patience : int
        Epochs at most, and epochs without a better training nDCG@5 before stopping.
    folds : int
    reductions : tuple of float
        Operating points; 0 drops only the terms with a learned TDV of 0.
    """

    name = "paper"
    pairs_per_step: int = 32
    learning_rate: float = 1e-3
    sparsity: float = 1e-5
    max_epochs: int = 100
    patience: int = 10
    folds: int = 5
    reductions: tuple[float, ...] = REDUCTIONS

    def __post_init__(self) -> None:
        if not 0 <= self.sparsity <= 1:
            raise TdvError(f"sparsity (lambda) must lie within [0, 1], got {self.sparsity}")


def train(
    problem: Problem,
    features: Features,
    recipe: PaperRecipe,
    train_queries: np.ndarray,
    rng: np.random.Generator,
    epoch_done: Callable[[int], None],
) -> tuple[Linear, int]:
    """Return the parameters after the epoch with the best training nDCG@5, and that epoch.

    Epoch 0 is the random start, so the best is at least as good as that on the training queries.
    """
    optimizer, update = _compiled(SIMILARITIES[problem.model], recipe)
    pairs = relevant_pairs(problem.queries)
    pairs = pairs[np.isin(pairs[:, 0], train_queries)]
    terms = padded_terms(problem.queries)
    linear = glorot_start(jax.random.key(int(rng.integers(2**31))), features)
    state = optimizer.init(linear)
    best, best_epoch = linear, 0
    best_ndcg = _training_ndcg(problem, linear, features, train_queries)
    for epoch in range(1, recipe.max_epochs + 1):
        order, size = rng.permutation(len(pairs)), recipe.pairs_per_step
        for chosen in np.split(order, range(size, len(order), size)):
            check()
            halves = _halves(problem, pairs[chosen], terms, rng)
            linear, state = update(linear, state, features, *halves)
        ndcg = _training_ndcg(problem, linear, features, train_queries)
        epoch_done(epoch)
        if ndcg > best_ndcg:
            best, best_epoch, best_ndcg = linear, epoch, ndcg
        if epoch - best_epoch >= recipe.patience:
            break
    return jax.tree.map(np.asarray, best), best_epoch


def glorot_start(key: jax.Array, features: Features) -> Linear:
    """Return the paper's start: w Glorot-uniform over the features and one unit, b = 1."""
    statistics, vector = features.width
    bound = (6 / (statistics + vector + 1)) ** 0.5
    w = jax.random.uniform(key, (statistics + vector,), minval=-bound, maxval=bound)
    return Linear(w[:statistics], w[statistics:], jnp.ones(()))


def relevant_pairs(queries: Queries) -> np.ndarray:
    """Return int64[n, 2]: each query with each of its relevant documents that the index holds."""
    numbers = np.repeat(np.arange(len(queries)), np.diff(queries.judged_indptr))
    return np.stack([numbers, queries.judged_docs], axis=1)[queries.grades > 0]


def draw_negatives(
    queries: Queries, some: np.ndarray, documents: int, rng: np.random.Generator
) -> np.ndarray:
    """Return int64[B]: for each of ``some`` queries int64[B] a judged non-relevant document, any
    document of the collection where there is none."""
    drawn = rng.integers(documents, size=len(some))
    for row, query in enumerate(some.tolist()):
        docs, grades = queries.judged_of(query)
        if (grades <= 0).any():
            drawn[row] = rng.choice(docs[grades <= 0])
    return drawn


def _halves(
    problem: Problem,
    pairs: np.ndarray,
    terms: tuple[np.ndarray, np.ndarray],
    rng: np.random.Generator,
) -> tuple[Batch, Batch]:
    """Return the relevant and the non-relevant half of a batch, ``C`` = 1."""
    queries, positives = pairs.T
    query_terms, query_tf = terms[0][queries], terms[1][queries]
    negatives = draw_negatives(problem.queries, queries, problem.matrix.shape[1], rng)

    def half(docs: np.ndarray) -> Batch:
        tf = problem.rows.term_freqs(docs, query_terms)
        return problem.rows.batch(query_terms, query_tf, docs[:, None], tf[:, None])

    return half(positives), half(negatives)


@lru_cache(maxsize=4)
def _compiled(similarity: PaperSimilarity, recipe: PaperRecipe) -> tuple[Any, Any]:
    """Return (optimizer, update), compiled once for all folds."""
    optimizer = optax.adam(recipe.learning_rate)

    def objective(
        linear: Linear, features: Features, positive: Batch, negative: Batch
    ) -> jax.Array:
        values = term_values(linear, features)
        better, worse = (score_half(similarity, values, half) for half in (positive, negative))
        l1 = sum((half.entry_tf * values[half.entry_terms]).sum() for half in (positive, negative))
        return hinge_with_sparsity(better, worse, l1, recipe.sparsity)

    @jax.jit
    def update(
        linear: Linear, state: Any, features: Features, positive: Batch, negative: Batch
    ) -> tuple[Any, Any]:
        gradient = jax.grad(objective)(linear, features, positive, negative)
        change, state = optimizer.update(gradient, state, linear)
        return optax.apply_updates(linear, change), state

    return optimizer, update


def _training_ndcg(
    problem: Problem, linear: Linear, features: Features, queries: np.ndarray
) -> float:
    """Rank the whole collection with Lucene's formula, which is what searches will use."""
    values = np.asarray(term_values(linear, features))
    return float(problem.measure(problem.rows.weighted(values), queries)[:, 0].mean())
