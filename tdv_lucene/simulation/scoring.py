"""The shallow network, scores of queries' candidates differentiable in TDVs, and the loss.

The formulas are those of :mod:`..ranking`, Lucene's forms, with which a pruned index is searched;
:mod:`..paper.method` holds the paper's.

Shapes: ``B`` queries, ``L`` terms a query (padded with query_tf 0), ``C`` candidate documents a
query, ``E`` postings of the candidates' rows (padded with entry_tf 0), ``V`` terms. Nothing has a
vocabulary axis next to a document axis: memory is bounded by the candidates.

Paper symbols: S is tf, S' is tf * tdv (eq. 8), |d|' is the document length and avgdl' the average
length computed with S'.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from ..ranking import Array, RankingFunction, Statistics


class Features(NamedTuple):
    """Features of ``V`` terms in two blocks: x = (statistics, vector)."""

    statistics: Array  # float32[V, S]: known for every term
    vector_terms: Array  # int32[R]: the terms that have a vector, each once
    # float32[R, K]: a term without one has the zero vector: most terms of a large vocabulary are
    # too rare to have a vector, and storing their zeros would multiply memory and time
    vectors: Array

    @property
    def width(self) -> tuple[int, int]:
        """(S, K)."""
        return self.statistics.shape[1], self.vectors.shape[1]


class Linear(NamedTuple):
    """The shallow network's parameters, w in the two blocks of :class:`Features`."""

    of_statistics: Array  # float32[S]
    of_vector: Array  # float32[K]
    bias: Array  # float32[]


def flat_start(features: Features) -> Linear:
    """Return w = 0 and b = 1: every TDV is 1, so training starts at the plain model."""
    statistics, vector = features.width
    return Linear(jnp.zeros(statistics), jnp.zeros(vector), jnp.ones(()))


@jax.jit
def term_values(parameters: Linear, features: Features) -> jax.Array:
    """Return float32[V]: tdv = ReLU(w . x + b) (paper, eq. 7), exactly 0 where the unit is off."""
    from_vector = features.vectors @ parameters.of_vector
    known = features.statistics @ parameters.of_statistics + parameters.bias
    return jax.nn.relu(known.at[features.vector_terms].add(from_vector))


class Batch(NamedTuple):
    """Queries, their candidates and the candidates' rows of the term-document matrix."""

    query_terms: Array  # int32[B, L]
    query_tf: Array  # float32[B, L]: 0 marks padding
    tf: Array  # float32[B, C, L]: frequency of each query term in each candidate
    # entry_terms, entry_docs: int32[E]: Postings of all candidates; ``entry_docs`` is b * C + c,
    # ascending
    entry_terms: Array
    entry_docs: Array
    entry_tf: Array  # float32[E]: 0 marks padding


def weighted_statistics(
    term_values: Array, doc_freq: Array, total_term_freq: Array, doc_count: Array
) -> Statistics:
    """Return the exact collection statistics under ``term_values`` float[V], in O(V)."""
    weighted = total_term_freq * term_values
    return Statistics(doc_freq, weighted, doc_count, weighted.sum())


def doc_lengths(term_values: Array, batch: Batch) -> jax.Array:
    """Return |d|' = l1(S'_{:,d}) of every candidate, float32[B, C]."""
    shape = batch.tf.shape[:2]
    weighted = batch.entry_tf * term_values[batch.entry_terms]
    lengths = jax.ops.segment_sum(
        weighted, batch.entry_docs, int(np.prod(shape)), indices_are_sorted=True
    )
    return lengths.reshape(shape)


def score_batch(
    similarity: RankingFunction, term_values: Array, batch: Batch, statistics: Statistics
) -> jax.Array:
    """Return float32[B, C] scores, differentiable in ``term_values`` float32[V].

    ``statistics`` has an entry a term and was computed with the same ``term_values``.
    """
    weighted_tf = batch.tf * term_values[batch.query_terms][:, None, :]
    lengths = doc_lengths(term_values, batch)[:, :, None]
    of_query = statistics.at(batch.query_terms[:, None, :])
    scores = similarity.term_scores(weighted_tf, lengths, of_query)
    return jnp.einsum("bcl,bl->bc", scores, batch.query_tf)


def listwise(scores: Array, gains: Array, where: Array, temperature: Array) -> jax.Array:
    """Return the mean softmax cross-entropy of candidate lists, float[].

    Scores and gains are float[B, C]. Gains are not negative; each list's are normalised to sum 1,
    so that every query counts the same. A list without a positive gain contributes 0. ``where``
    False marks padding. ``temperature`` divides scores, see :func:`calibrated_temperature`.
    """
    gains = jnp.where(where, gains, 0.0)
    share = gains / jnp.maximum(gains.sum(axis=-1, keepdims=True), 1e-9)
    loss: jax.Array = optax.losses.ranking_softmax_loss(scores / temperature, share, where=where)
    return loss


@jax.jit  # compiled once for all folds
def calibrated_temperature(scores: Array, gains: Array, where: Array) -> jax.Array:
    """Return the temperature at which the plain model's loss is smallest: float[], 0.01 to 1000.

    BM25 gaps of about ten make an uncalibrated softmax so sharp that shrinking all TDVs together is
    the steepest way down: training then collapses. Started here it does not.
    """
    temperatures = jnp.geomspace(0.01, 1000.0, 121)  # steps of a tenth: the minimum is flat
    losses = jax.lax.map(lambda t: listwise(scores, gains, where, t), temperatures)
    return temperatures[jnp.argmin(losses)]
