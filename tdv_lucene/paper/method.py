"""The paper's training with what its text leaves open made explicit: arrays in, arrays out.

The frame is the paper's: tdv = ReLU(x . w + b) over frozen word vectors (eq. 7), differentiable
ranking functions on S' (eq. 9 to 11), hinge and l1 (eq. 12-13), Adam from b = 1. What is decided
here, and why:

- b stays 1. It is the common level of all TDVs, which k1, mu and the margin express as well. A free
  one lets the penalty shrink every TDV without zeroing any. w starts at 0: at the baseline itself.
- The vectors are centred and whitened (:func:`whitened`), so that no step moves all terms at once.
- Statistics are those of the whole collection, exactly: l1(S'_t) = cf_t tdv_t.
- The l1 of a document's vector is taken at unit length (:func:`unit_l1`). Shrinking does not lower
  it, zeros do. It lowers a term that occurs once in each of its documents, and raises one that
  occurs often in few.
- Adam has one second moment for all of w (:func:`adam_of_one_scale`), so w moves along the gradient
  and not equally far in every direction.
- Scores are multiplied by a temperature before the margin of 1 is asked of them.

Shapes: ``V`` terms, ``R`` of them with a vector, ``K`` dimensions, ``B`` triples, ``L`` terms a
query. The two candidates of a :class:`Batch` are a relevant document and one that is not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from ..ranking import Array, Similarity
from ..simulation.scoring import (
    Batch,
    Features,
    Linear,
    doc_lengths,
    score_batch,
    weighted_statistics,
)
from ..simulation.scoring import term_values as tdv_of
from .recipe import BatchStatistics, PaperBm25, PaperTfIdf

LEVEL = 1.0
"""b, and so the TDV of a term without a vector."""
_LEAST_VARIANCE = 1e-3
"""Directions with less than this share of the largest variance are not stretched further."""
_TINY = 1e-9


class Collection(NamedTuple):
    """What the statistics of the whole collection are computed from.

    Attributes
    ----------
    doc_freq, total_term_freq : float32[V]
    doc_count : float32[]
    """

    doc_freq: Array
    total_term_freq: Array
    doc_count: Array


class Weights(NamedTuple):
    """lambda, within [0, 1], and what scores are multiplied by: float32[] each."""

    sparsity: Array
    temperature: Array


@dataclass(frozen=True)
class ExactDirichlet:
    """Eq. (11) as it is printed: with exact statistics p is 0 only where S' is."""

    mu: float = 1000.0

    def term_scores(self, tf: Array, doc_len: Array, statistics: BatchStatistics) -> Array:
        p = statistics.l1 / statistics.total_tokens
        return jnp.log1p(tf / (self.mu * p + _TINY)) - jnp.log1p(doc_len / self.mu)


OF_THE_PAPER: dict[str, Callable[[Any], Any]] = {
    "bm25": lambda given: PaperBm25(given.k1, given.b),
    "qld": lambda given: ExactDirichlet(given.mu),
    "tfidf": lambda given: PaperTfIdf(),
}
"""The paper's form of each ranking function, with l1-based statistics, from its parameters."""


def whitened(vectors: np.ndarray) -> np.ndarray:
    """Return float32[R, K]: the vectors centred and whitened, of mean squared length 1."""
    centred = np.asarray(vectors, np.float64)
    centred = centred - centred.mean(axis=0)
    variance, directions = np.linalg.eigh(centred.T @ centred / len(centred))
    variance = np.maximum(variance, max(_LEAST_VARIANCE * variance.max(), _TINY))
    found: np.ndarray = centred @ directions / np.sqrt(variance * centred.shape[1])
    return found.astype(np.float32)


def term_values(w: Array, features: Features) -> jax.Array:
    """Return float32[V]: ReLU(x . w + 1), eq. 7."""
    none = jnp.zeros(features.width[0])
    return tdv_of(Linear(none, w, jnp.asarray(LEVEL)), features)


def unit_l1(values: Array, batch: Batch) -> jax.Array:
    """Return float32[]: the mean l1 of the documents' vectors S'_d, each scaled to unit length."""
    documents = int(np.prod(batch.tf.shape[:2]))
    weighted = batch.entry_tf * values[batch.entry_terms]
    squares = jax.ops.segment_sum(weighted**2, batch.entry_docs, documents, indices_are_sorted=True)
    lengths = doc_lengths(values, batch).reshape(-1)
    return (lengths * jax.lax.rsqrt(squares + _TINY)).mean()


def scores(similarity: Any, values: Array, batch: Batch, collection: Collection) -> jax.Array:
    """Return float32[B, 2] by one of :data:`OF_THE_PAPER`'s forms, or of Lucene's."""
    if not isinstance(similarity, PaperTfIdf | PaperBm25 | ExactDirichlet):
        return score_batch(similarity, values, batch, weighted_statistics(values, *collection))
    l1 = collection.total_term_freq * values
    of_query = BatchStatistics(
        l1[batch.query_terms][:, None, :], l1.max(), l1.sum(), l1.sum() / collection.doc_count
    )
    tf = batch.tf * values[batch.query_terms][:, None, :]
    per_term = similarity.term_scores(tf, doc_lengths(values, batch)[:, :, None], of_query)
    return jnp.einsum("bcl,bl->bc", per_term, batch.query_tf)


def objective(
    w: Array,
    features: Features,
    similarity: Any,
    batch: Batch,
    collection: Collection,
    weights: Weights,
) -> jax.Array:
    """Return float32[]: (1 - lambda) hinge + lambda l1 at unit length (eq. 12-13).

    The l1 is a share of what it is where all TDVs are 1, so that lambda means the same in any
    collection.
    """
    values = term_values(w, features)
    found = weights.temperature * scores(similarity, values, batch, collection)
    hinge = jax.nn.relu(1 - found[:, 0] + found[:, 1]).mean()
    l1 = unit_l1(values, batch) / unit_l1(jnp.full_like(values, LEVEL), batch)
    return (1 - weights.sparsity) * hinge + weights.sparsity * l1


def adam_of_one_scale(
    learning_rate: float, first: float = 0.9, second: float = 0.999
) -> optax.GradientTransformation:
    """Return Adam with the mean square of all of w's gradient in place of each coordinate's.

    Its steps do not depend on how the vectors are rotated, and stay along the gradient.
    """

    def init(w: Array) -> tuple[Array, Array, Array]:
        return jnp.zeros_like(w), jnp.zeros(()), jnp.zeros(())

    def update(gradient: Array, state: Any, w: Array | None = None) -> tuple[Array, Any]:
        del w
        mean, square, steps = state
        mean = first * mean + (1 - first) * gradient
        square, steps = second * square + (1 - second) * (gradient**2).mean(), steps + 1
        size = jnp.sqrt(square / (1 - second**steps)) + _TINY
        return -learning_rate * mean / (1 - first**steps) / size, (mean, square, steps)

    return optax.GradientTransformation(init, update)


@lru_cache(maxsize=8)
def compiled(similarity: Similarity | Any, learning_rate: float) -> tuple[Any, Any, Any]:
    """Return (init, step, differences), compiled once for all that train by one function.

    ``init(w)`` is the optimizer's state; ``step(w, state, features, batch, collection, weights)``
    are the next two; ``differences(w, features, batch, collection)`` float32[B] is by how much the
    relevant documents' scores exceed the others'.
    """
    optimizer = adam_of_one_scale(learning_rate)

    @jax.jit
    def step(
        w: Array, state: Any, features: Any, batch: Batch, collection: Collection, weights: Weights
    ) -> tuple[Array, Any]:
        gradient = jax.grad(objective)(w, features, similarity, batch, collection, weights)
        change, state = optimizer.update(gradient, state)
        return w + change, state

    @jax.jit
    def differences(w: Array, features: Any, batch: Batch, collection: Collection) -> Array:
        found = scores(similarity, term_values(w, features), batch, collection)
        return found[:, 0] - found[:, 1]

    return optimizer.init, step, differences


def best_temperature(differences: np.ndarray) -> float:
    """Return what to multiply the baseline's score ``differences`` float[n] by: where its own hinge
    is least. With a larger one it would be zero nowhere, with a smaller one everywhere alike."""
    mean = float(np.abs(differences).mean())
    tried = np.geomspace(1e-2, 1e2, 81) / max(mean, _TINY)
    hinge = [np.maximum(0, 1 - each * differences).mean() for each in tried]
    return float(tried[int(np.argmin(hinge))])
