"""The paper's recipe and one training by it: triples, batch-wise statistics, hinge and l1, Adam."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from ..core import tdv
from ..core.scoring import Batch
from ..errors import TdvError
from ..interruption import check
from ..learning.candidates import padded_terms
from ..simulation.problem import Problem
from ..simulation.queries import Queries
from ..values.operating_point import REDUCTIONS
from .similarities import PaperSimilarity, hinge_with_sparsity, score_half, similarity_of


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


class Triples(NamedTuple):
    """Relevant documents and what negatives are drawn from.

    Attributes
    ----------
    queries, positives : int64[n]
        A pair for every relevant document that the index holds.
    negatives : dict
        Query -> int32[*] judged non-relevant documents; a query without any draws from the whole
        collection.
    """

    queries: np.ndarray
    positives: np.ndarray
    negatives: dict[int, np.ndarray]


def train(
    problem: Problem,
    features: tdv.Features,
    recipe: PaperRecipe,
    train_queries: np.ndarray,
    rng: np.random.Generator,
    epoch_done: Callable[[], None],
) -> tuple[tdv.Linear, int]:
    """Return the parameters after the epoch with the best training nDCG@5, and that epoch.

    Epoch 0 is the random start, so the best is at least as good as that on the training queries.
    """
    similarity: Any = similarity_of(problem.model, problem.parameters)
    optimizer, update = _compiled(similarity, recipe)
    triples = collect_triples(problem.queries, train_queries)
    terms = padded_terms(problem.queries)
    linear = glorot_start(jax.random.key(int(rng.integers(2**31))), features)
    state = optimizer.init(linear)
    best, best_epoch = linear, 0
    best_ndcg = _training_ndcg(problem, linear, features, train_queries)
    for epoch in range(1, recipe.max_epochs + 1):
        for chosen in _shuffled(len(triples.queries), recipe.pairs_per_step, rng):
            check()
            halves = _halves(problem, triples, terms, chosen, rng)
            linear, state = update(linear, state, features, *halves)
        ndcg = _training_ndcg(problem, linear, features, train_queries)
        epoch_done()
        if ndcg > best_ndcg:
            best, best_epoch, best_ndcg = linear, epoch, ndcg
        if epoch - best_epoch >= recipe.patience:
            break
    return jax.tree.map(np.asarray, best), best_epoch


def glorot_start(key: jax.Array, features: tdv.Features) -> tdv.Linear:
    """Return the paper's start: w Glorot-uniform over the features and one unit, b = 1."""
    statistics, vector = features.width
    bound = (6 / (statistics + vector + 1)) ** 0.5
    w = jax.random.uniform(key, (statistics + vector,), minval=-bound, maxval=bound)
    return tdv.Linear(w[:statistics], w[statistics:], jnp.ones(()))


def collect_triples(queries: Queries, some: np.ndarray) -> Triples:
    """Pair ``some`` queries with their relevant and their judged non-relevant documents."""
    pairs, negatives = [], {}
    for query in some.tolist():
        docs, grades = queries.judged_of(query)
        pairs += [(query, doc) for doc in docs[grades > 0].tolist()]
        negatives[query] = docs[grades <= 0]
    of_queries, positives = np.array(pairs, np.int64).T
    return Triples(of_queries, positives, negatives)


def draw_negatives(
    triples: Triples, chosen: np.ndarray, documents: int, rng: np.random.Generator
) -> np.ndarray:
    """Return int64[B]: a judged non-relevant document each, any document where there is none."""
    drawn = rng.integers(documents, size=len(chosen))
    for row, query in enumerate(triples.queries[chosen].tolist()):
        if len(triples.negatives[query]):
            drawn[row] = rng.choice(triples.negatives[query])
    return drawn


def _shuffled(number: int, size: int, rng: np.random.Generator) -> list[np.ndarray]:
    order = rng.permutation(number)
    return [order[first : first + size] for first in range(0, number, size)]


def _halves(
    problem: Problem,
    triples: Triples,
    terms: tuple[np.ndarray, np.ndarray],
    chosen: np.ndarray,
    rng: np.random.Generator,
) -> tuple[Batch, Batch]:
    """Return the relevant and the non-relevant half of a batch, ``C`` = 1."""
    queries = triples.queries[chosen]
    query_terms, query_tf = terms[0][queries], terms[1][queries]
    negatives = draw_negatives(triples, chosen, problem.matrix.shape[1], rng)
    halves = []
    for docs in (triples.positives[chosen], negatives):
        tf = problem.rows.term_freqs(docs, query_terms)
        halves.append(problem.rows.batch(query_terms, query_tf, docs[:, None], tf[:, None]))
    return halves[0], halves[1]


@lru_cache(maxsize=4)
def _compiled(similarity: PaperSimilarity, recipe: PaperRecipe) -> tuple[Any, Any]:
    """Return (optimizer, update), compiled once for all folds."""
    optimizer = optax.adam(recipe.learning_rate)

    def objective(
        linear: tdv.Linear, features: tdv.Features, positive: Batch, negative: Batch
    ) -> jax.Array:
        values = tdv.term_values(linear, features)
        better, worse = (score_half(similarity, values, half) for half in (positive, negative))
        l1 = sum((half.entry_tf * values[half.entry_terms]).sum() for half in (positive, negative))
        return hinge_with_sparsity(better, worse, l1, recipe.sparsity)

    @jax.jit
    def update(
        linear: tdv.Linear, state: Any, features: tdv.Features, positive: Batch, negative: Batch
    ) -> tuple[Any, Any]:
        gradient = jax.grad(objective)(linear, features, positive, negative)
        change, state = optimizer.update(gradient, state, linear)
        return optax.apply_updates(linear, change), state

    return optimizer, update


def _training_ndcg(
    problem: Problem, linear: tdv.Linear, features: tdv.Features, queries: np.ndarray
) -> float:
    """Rank the whole collection with Lucene's formula, which is what searches will use."""
    values = np.asarray(tdv.term_values(linear, features))
    return float(problem.measure(problem.rows.weighted(values), queries)[:, 0].mean())
