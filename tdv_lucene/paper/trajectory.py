"""One training by the method: batches of triples, and the TDVs on the way to many zeros."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ..interruption import check
from ..learning.train import padded_terms
from ..ranking import SearchParameters, ranking_function
from ..simulation.problem import Problem
from ..simulation.scoring import Batch, Features
from .method import OF_THE_PAPER, Collection, Weights, best_temperature, compiled, term_values
from .recipe import relevant_pairs

_CALIBRATED_ON = 1024
"""Triples that the temperature is chosen on."""
_LOOKED_AT_EVERY = 2
"""Steps; the zeros grow by one or two percent of the postings in so many."""


class Stop(NamedTuple):
    """The TDVs where a target of zeros was reached.

    Attributes
    ----------
    target, dropped : float
        The share of postings to drop, and that of the terms with a TDV of 0.
    steps : int
    w : float32[K]
    values : float32[V]
    """

    target: float
    dropped: float
    steps: int
    w: np.ndarray
    values: np.ndarray


class Triples:
    """The triples (query, relevant document, another) of a problem.

    The other one is any that is not judged relevant among the first ``depth`` that the full index
    finds: what the search must tell it from.
    """

    def __init__(self, problem: Problem, depth: int) -> None:
        self._rows, queries = problem.rows, problem.queries
        self._terms = padded_terms(queries)
        self.pairs = relevant_pairs(queries)
        found = problem.postings.top(problem.impacts(problem.plain), depth)
        for query in range(len(queries)):
            docs, grades = queries.judged_of(query)
            found[query, np.isin(found[query], docs[grades > 0])] = -1
        order = np.argsort(found < 0, axis=1, kind="stable")
        self._others = np.take_along_axis(found, order, axis=1)
        self._number = np.count_nonzero(found >= 0, axis=1)

    def of(self, queries: np.ndarray) -> np.ndarray:
        """Return int64[n, 2]: (query, relevant document) of some ``queries`` that find others."""
        pairs = self.pairs[np.isin(self.pairs[:, 0], queries)]
        return pairs[self._number[pairs[:, 0]] > 0]

    def draw(self, pairs: np.ndarray, size: int, rng: np.random.Generator) -> Batch:
        """Return ``size`` triples, their pairs drawn from ``pairs``."""
        queries, relevant = pairs[rng.integers(len(pairs), size=size)].T
        others = self._others[queries, rng.integers(self._number[queries])]
        docs = np.stack([relevant, others], axis=1)
        terms = self._terms[0][queries]
        tf = np.stack([self._rows.term_freqs(column, terms) for column in docs.T], axis=1)
        return self._rows.batch(terms, self._terms[1][queries], docs, tf)


def features_of(problem: Problem, vectors: np.ndarray) -> Features:
    """Return float32[R, K] ``vectors`` of the problem's terms that have one, as features."""
    none = jnp.zeros((problem.matrix.shape[0], 0))
    return Features(none, jnp.asarray(problem.vectors.terms), jnp.asarray(vectors))


def similarity_of(model: str, parameters: SearchParameters, statistics: str) -> Any:
    """Return the formula to train by: with ``statistics`` "l1" the paper's, else Lucene's."""
    if statistics == "l1":
        return OF_THE_PAPER[model](parameters)
    return ranking_function(model).similarity(parameters)


def train_to_zeros(
    problem: Problem,
    features: Features,
    triples: Triples,
    queries: np.ndarray,
    recipe: Any,
    *,
    statistics: str,
    sparsity: float,
    targets: Sequence[float],
    rng: np.random.Generator,
) -> Iterator[Stop]:
    """Yield the TDVs at each of the ``targets``, ascending shares of postings, as it is passed.

    Fewer are yielded if ``recipe.max_steps`` end before. ``queries`` int64[n] are learned from.
    """
    matrix, pairs = problem.matrix, triples.of(queries)
    collection = Collection(
        jnp.asarray(np.maximum(matrix.doc_freq, 1), jnp.float32),
        jnp.asarray(matrix.total_term_freq, jnp.float32),
        jnp.asarray(matrix.doc_count, jnp.float32),
    )
    similarity = similarity_of(problem.model, problem.parameters, statistics)
    init, step, differences = compiled(similarity, recipe.learning_rate)
    w = jnp.zeros(features.width[1])
    if not len(pairs):
        return
    calibrated = differences(w, features, triples.draw(pairs, _CALIBRATED_ON, rng), collection)
    weights = Weights(jnp.asarray(sparsity), jnp.asarray(best_temperature(np.asarray(calibrated))))
    state, left = init(w), list(targets)
    postings = np.asarray(matrix.doc_freq, np.float64) / matrix.collection_postings
    for steps in range(recipe.max_steps + 1):
        check()
        if steps % _LOOKED_AT_EVERY == 0:
            values = np.asarray(term_values(w, features))
            dropped = float(postings[values == 0].sum())
            while left and dropped >= left[0]:
                yield Stop(left.pop(0), dropped, steps, np.asarray(w), values)
        if not left:
            return
        batch = triples.draw(pairs, recipe.pairs_per_step, rng)
        w, state = step(w, state, features, batch, collection, weights)
