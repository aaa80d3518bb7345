"""The paper's differentiable ranking functions and losses: arrays in, arrays out.

The frame: tdv = ReLU(x . w + b) over frozen word vectors (eq. 7), ranking functions on S' (eq. 9 to
11), hinge and l1 (eq. 12-13), Adam from b = 1. *Literal* training has the statistics of the
documents of half a batch (the relevant or the other ones), as the paper's implementation. *Tuned*
training has those of all documents: l1(S'_t) = cf_t tdv_t. It begins with w = 0, at the baseline,
and b stays 1: as the common level of all TDVs it is what k1, mu and the margin express as well, and
a free one lets the penalty shrink every TDV without zeroing any.

Eq. (10) is read with S' in its denominator. A query term may occur in no document of half a batch,
so there eq. (3) divides by l1 + 1, eq. (6) by mu p + 1.

Shapes: ``V`` terms, ``R`` of them with a vector, ``K`` dimensions, ``B`` triples, ``L`` terms a
query. The two candidates of a :class:`Batch` are a relevant document and one that is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from ..ranking import Array
from ..simulation.scoring import Batch, Features, Linear, doc_lengths, term_values

LEVEL = 1.0  # b at the start, and in tuned training the TDV of a term without a vector
_LEAST_VARIANCE = 1e-3
"""Directions with less than this share of the largest variance are not stretched further."""
_TINY = 1e-9


class L1Statistics(NamedTuple):
    """l1(S'_t) of each term, its maximum and sum, and the mean document length.

    ``C`` halves of a batch have their own: float[V, C] and float[1, C]; or all share those of the
    collection, ``C`` = 1.
    """

    l1: Array
    max_l1: Array
    total_tokens: Array
    avg_doc_len: Array

    @property
    def idf(self) -> Array:
        """Eq. (3): log((max l1 + 1) / (l1 + 1)), never negative."""
        return jnp.log((self.max_l1 + 1) / (self.l1 + 1))


class Formula(NamedTuple):
    """A ranking function to train by: the sum over query terms of ``query_tf * term_scores``."""

    model: str
    given: Mapping[str, Any]  # k1, b and mu; traced by JAX, so that other ones compile nothing
    absent: float = 1.0  # is added to mu p: next to nothing where no p is 0

    def term_scores(self, tf: Array, doc_len: Array, statistics: L1Statistics) -> Array:
        """Return eq. (9); or (10), with the factor (k1 + 1) that Lucene leaves out; or (11) in its
        first form: |q| log(alpha_d) once, over matching terms or not."""
        if self.model == "tfidf":
            return tf * statistics.idf
        if self.model == "bm25":
            k1, b = self.given["k1"], self.given["b"]
            length_norm = 1 - b + b * doc_len / statistics.avg_doc_len
            return statistics.idf * tf * (k1 + 1) / (tf + k1 * length_norm)
        mu, p = self.given["mu"], statistics.l1 / statistics.total_tokens
        return jnp.log1p(tf / (self.absent + mu * p)) - jnp.log1p(doc_len / mu)


class Collection(NamedTuple):
    """What the statistics of all documents are computed from: float32[V], float32[]."""

    total_term_freq: Array
    doc_count: Array


def scores(
    formula: Formula, values: Array, batch: Batch, collection: Collection | None
) -> jax.Array:
    """Return float32[B, C]; without a ``collection``, by the statistics of half batches."""
    if collection is None:
        halves = batch.tf.shape[1]
        weighted = batch.entry_tf * values[batch.entry_terms]
        places = batch.entry_terms * halves + batch.entry_docs % halves
        l1 = jax.ops.segment_sum(weighted, places, values.shape[0] * halves).reshape(-1, halves)
        average = doc_lengths(values, batch).mean(axis=0, keepdims=True)
    else:
        l1 = (collection.total_term_freq * values)[:, None]
        average = l1.sum(keepdims=True) / collection.doc_count
    whole = l1.max(axis=0, keepdims=True), l1.sum(axis=0, keepdims=True), average
    of_terms = l1[batch.query_terms].transpose(0, 2, 1)
    of_query = L1Statistics(of_terms, *(each[:, :, None] for each in whole))
    tf = batch.tf * values[batch.query_terms][:, None, :]
    per_term = formula.term_scores(tf, doc_lengths(values, batch)[:, :, None], of_query)
    return jnp.einsum("bcl,bl->bc", per_term, batch.query_tf)


def hinge(scores: Array) -> jax.Array:
    """Return the mean of max(0, 1 - f(d+) + f(d-)) (eq. 12), of float[B, 2]."""
    return jax.nn.relu(1 - scores[:, 0] + scores[:, 1]).mean()


def unit_l1(values: Array, batch: Batch) -> jax.Array:
    """Return float32[]: the mean l1 of the documents' vectors S'_d, each scaled to unit length."""
    documents = int(np.prod(batch.tf.shape[:2]))
    weighted = batch.entry_tf * values[batch.entry_terms]
    squares = jax.ops.segment_sum(weighted**2, batch.entry_docs, documents, indices_are_sorted=True)
    lengths = doc_lengths(values, batch).reshape(-1)
    return (lengths * jax.lax.rsqrt(squares + _TINY)).mean()


class Weights(NamedTuple):
    """lambda, within [0, 1], and what scores are multiplied by."""

    sparsity: Array | float
    temperature: Array | float = 1.0


def objective(
    linear: Linear,
    features: Features,
    formula: Formula,
    batch: Batch,
    collection: Collection | None,
    weights: Weights,
) -> jax.Array:
    """Return float32[]: (1 - lambda) hinge + lambda l1 (eq. 12-13).

    In literal training, without a ``collection``, l1 is a *sum* over the batch while the hinge is a
    *mean*, as in the paper's implementation, so that its lambda keeps its meaning. Else it is
    :func:`unit_l1`, as a share of what it is where all TDVs are 1.
    """
    values = term_values(linear, features)
    loss = hinge(weights.temperature * scores(formula, values, batch, collection))
    if collection is None:
        l1 = doc_lengths(values, batch).sum()
    else:
        l1 = unit_l1(values, batch) / unit_l1(jnp.full_like(values, LEVEL), batch)
    return (1 - weights.sparsity) * loss + weights.sparsity * l1


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


def as_linear(parameters: Any, features: Features) -> Linear:
    """Return the network of ``parameters``: it is one in literal training, w in tuned."""
    if isinstance(parameters, Linear):
        return parameters
    of_statistics, of_vector = jnp.split(parameters, [features.width[0]])
    return Linear(of_statistics, of_vector, jnp.asarray(LEVEL))


@lru_cache(maxsize=8)
def compiled(model: str, learning_rate: float, literal: bool) -> tuple[Any, Any, Any]:
    """Return (init, step, differences), compiled once for all that train by one function.

    ``init(parameters)`` is the optimizer's state; ``step(parameters, state, features, numbers,
    batch, collection, weights)`` are the next two; ``differences(parameters, features, numbers,
    batch, collection)`` float32[B] is by how much the relevant documents' scores exceed the
    others'. ``literal`` training passes no collection. ``numbers`` are k1, b and mu by name.
    """
    optimizer = (optax.adam if literal else adam_of_one_scale)(learning_rate)
    absent = 1.0 if literal else _TINY

    def loss(
        parameters: Any, features: Features, numbers: Mapping[str, Any], *rest: Any
    ) -> jax.Array:
        formula = Formula(model, numbers, absent)
        return objective(as_linear(parameters, features), features, formula, *rest)

    @jax.jit
    def step(parameters: Any, state: Any, *rest: Any) -> tuple[Any, Any]:
        change, state = optimizer.update(jax.grad(loss)(parameters, *rest), state)
        return optax.apply_updates(parameters, change), state

    @jax.jit
    def differences(
        parameters: Any, features: Features, numbers: Any, batch: Batch, collection: Any
    ) -> jax.Array:
        values = term_values(as_linear(parameters, features), features)
        found = scores(Formula(model, numbers, absent), values, batch, collection)
        return found[:, 0] - found[:, 1]

    return optimizer.init, step, differences


def best_temperature(differences: np.ndarray) -> float:
    """Return what to multiply the baseline's score ``differences`` float[n] by: where its own hinge
    is least. With a larger one it would be zero nowhere, with a smaller one everywhere alike."""
    mean = float(np.abs(differences).mean())
    tried = np.geomspace(1e-2, 1e2, 81) / max(mean, _TINY)
    losses = [np.maximum(0, 1 - each * differences).mean() for each in tried]
    return float(tried[int(np.argmin(losses))])


def whitened(vectors: np.ndarray) -> np.ndarray:
    """Return float32[R, K]: the vectors centred and whitened, of mean squared length 1."""
    centred = np.asarray(vectors, np.float64)
    centred = centred - centred.mean(axis=0)
    variance, directions = np.linalg.eigh(centred.T @ centred / len(centred))
    variance = np.maximum(variance, max(_LEAST_VARIANCE * variance.max(), _TINY))
    found: np.ndarray = centred @ directions / np.sqrt(variance * centred.shape[1])
    return found.astype(np.float32)
