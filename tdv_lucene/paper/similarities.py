"""The paper's own forms of the three models, with batch-wise statistics, and its loss.

Statistics are those of the documents of one half batch (the relevant or the non-relevant ones), as
in the paper's implementation. Two departures from the printed equations, both needed to compute
at all where a query term occurs in no document of the half batch (l1 = 0): eq. (3) divides by
l1 + 1, and eq. (6) divides by mu p + 1. Eq. (10) is read with S' in its denominator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

from ..ranking import Array
from ..simulation.scoring import Batch, doc_lengths


class BatchStatistics(NamedTuple):
    """l1-based statistics of one half batch; ``l1`` has an entry a term.

    Attributes
    ----------
    l1 : float[...]
        l1(S'_{t,:}) over the documents of the half batch.
    max_l1, total_tokens, avg_doc_len : float[]
    """

    l1: Array
    max_l1: Array
    total_tokens: Array
    avg_doc_len: Array

    @property
    def idf(self) -> Array:
        """Eq. (3): log((max l1 + 1) / (l1 + 1)), never negative."""
        return jnp.log((self.max_l1 + 1) / (self.l1 + 1))


@dataclass(frozen=True)
class PaperTfIdf:
    """Eq. (9)."""

    def term_scores(self, tf: Array, doc_len: Array, statistics: BatchStatistics) -> Array:
        del doc_len
        return tf * statistics.idf


@dataclass(frozen=True)
class PaperBm25:
    """Eq. (10), with the factor (k1 + 1) that Lucene leaves out."""

    k1: float = 0.9
    b: float = 0.4

    def term_scores(self, tf: Array, doc_len: Array, statistics: BatchStatistics) -> Array:
        length_norm = 1 - self.b + self.b * doc_len / statistics.avg_doc_len
        return statistics.idf * tf * (self.k1 + 1) / (tf + self.k1 * length_norm)


@dataclass(frozen=True)
class PaperDirichlet:
    """Eq. (11) in its first form: |q| log(alpha_d) once, over matching terms or not."""

    mu: float = 1000.0

    def term_scores(self, tf: Array, doc_len: Array, statistics: BatchStatistics) -> Array:
        p = statistics.l1 / statistics.total_tokens
        return jnp.log1p(tf / (1 + self.mu * p)) - jnp.log1p(doc_len / self.mu)


PaperSimilarity = PaperTfIdf | PaperBm25 | PaperDirichlet
"""A ranking function as the sum over query terms of ``query_tf * term_scores``: float[...], of a
term in a document, in the broadcast shape of the arguments."""

SIMILARITIES: dict[str, PaperSimilarity] = {
    "bm25": PaperBm25(),
    "qld": PaperDirichlet(),
    "tfidf": PaperTfIdf(),
}
"""Those that the paper learns by, with Anserini's parameters."""


def batch_statistics(term_values: Array, batch: Batch) -> BatchStatistics:
    """Return the statistics of the batch's own documents; ids are those of ``term_values``."""
    weighted = batch.entry_tf * term_values[batch.entry_terms]
    l1 = jax.ops.segment_sum(weighted, batch.entry_terms, term_values.shape[0])
    return BatchStatistics(l1, l1.max(), l1.sum(), doc_lengths(term_values, batch).mean())


def score_half(similarity: PaperSimilarity, term_values: Array, batch: Batch) -> jax.Array:
    """Return float32[B] scores of each query with its one document (``C`` is 1)."""
    statistics = batch_statistics(term_values, batch)
    of_query = statistics._replace(l1=statistics.l1[batch.query_terms])
    weighted_tf = batch.tf[:, 0] * term_values[batch.query_terms]
    lengths = doc_lengths(term_values, batch)
    scores = similarity.term_scores(weighted_tf, lengths, of_query)
    summed: jax.Array = (scores * batch.query_tf).sum(axis=-1)
    return summed


def hinge_with_sparsity(
    positive: Array, negative: Array, l1_of_pairs: Array, sparsity: float
) -> jax.Array:
    """Return the paper's objective (eq. 12-13): (1 - lambda) hinge + lambda l1.

    Parameters
    ----------
    positive, negative : float[B]
        Scores of the relevant and the non-relevant document of each triple.
    l1_of_pairs : float[]
        *Sum* over the batch of l1(S'_d+) + l1(S'_d-), while the hinge is a *mean*: as in the
        paper's implementation, so that its lambda keeps its meaning.
    sparsity : float
        lambda, within [0, 1].
    """
    hinge = optax.losses.hinge_loss(positive - negative, jnp.ones_like(positive)).mean()
    loss: jax.Array = (1 - sparsity) * hinge + sparsity * l1_of_pairs
    return loss
