"""TF-IDF, BM25 and the Dirichlet language model, differentiable in the term frequencies.

Each formula is written once, as ``term_scores`` of a small frozen class, with operators and the
array namespace of its input: JAX arrays in training, NumPy arrays in retrieval. The classes here
are Lucene's forms, which a pruned index is searched with; :mod:`..paper.similarities` holds the
paper's.

Shapes: ``B`` queries, ``L`` terms a query (padded with query_tf 0), ``C`` candidate documents a
query, ``E`` postings of the candidates' rows (padded with entry_tf 0), ``V`` terms. Nothing has a
vocabulary axis next to a document axis: memory is bounded by the candidates.

Paper symbols: S is tf, S' is tf * tdv (eq. 8), |d|' is the document length and avgdl' the average
length computed with S'.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

Array = Any
"""A NumPy or JAX array: formulas accept both and return what they were given."""


class Statistics(NamedTuple):
    """Collection statistics after the term values have been applied.

    Attributes
    ----------
    doc_freq : float[...]
        Documents with the term. A positive term value does not change it.
    total_term_freq : float[...]
        Sum over the collection of S' of the term.
    doc_count : float[]
        Documents with at least one term (Lucene's N).
    total_tokens : float[]
        Sum of S'.
    """

    doc_freq: Array
    total_term_freq: Array
    doc_count: Array
    total_tokens: Array

    @property
    def avg_doc_len(self) -> Array:
        """avgdl'."""
        return self.total_tokens / self.doc_count

    def at(self, terms: Array) -> Statistics:
        """Statistics of the given terms only (any index NumPy understands)."""
        return self._replace(
            doc_freq=self.doc_freq[terms], total_term_freq=self.total_term_freq[terms]
        )


def bm25_idf(doc_freq: Array, doc_count: Array, xp: Any = np) -> Array:
    """Return ln(1 + (N - df + 0.5) / (df + 0.5)), by the array namespace ``xp``."""
    return xp.log1p((doc_count - doc_freq + 0.5) / (doc_freq + 0.5))


def residual_idf(doc_freq: np.ndarray, total_term_freq: np.ndarray, doc_count: int) -> np.ndarray:
    """Return float64[V]: log(N / df) + log(1 - exp(-cf / N)).

    How much rarer a term is, by documents, than a Poisson with its total frequency would have it
    (Church and Gale 1995). Near 0 for terms that occur like noise.
    """
    documents = max(1, doc_count)
    expected = -np.expm1(-total_term_freq / documents)
    found: np.ndarray = np.log(documents / doc_freq) + np.log(expected)
    return found


class Similarity(Protocol):
    """A ranking function as the sum over query terms of ``query_tf * term_scores``."""

    def term_scores(self, tf: Array, doc_len: Array, statistics: Statistics) -> Array:
        """Score of a term in a document: float[...], the broadcast shape of the arguments."""
        ...


@dataclass(frozen=True)
class Bm25:
    """Lucene's ``BM25Similarity``: the factor (k1 + 1) of the paper's eq. (5) is left out.

    The score is idf * tf / (tf + k1 * (1 - b + b * |d| / avgdl)), idf being :func:`bm25_idf`, with
    S' in place of tf everywhere (the paper prints S in one place of its eq. (10), which would make
    the score unbounded in tdv).
    Lucene passes |d| through one byte; the difference is bounded by a test.
    """

    k1: float = 0.9
    b: float = 0.4

    def term_scores(self, tf: Array, doc_len: Array, statistics: Statistics) -> Array:
        xp = tf.__array_namespace__()
        idf = bm25_idf(statistics.doc_freq, statistics.doc_count, xp)
        length_norm = 1 - self.b + self.b * doc_len / statistics.avg_doc_len
        divisor = tf + self.k1 * length_norm
        # 0 only where tf is 0 as well (k1 = 0, or b = 1 and an empty document): a score of 0.
        return idf * tf / xp.where(divisor > 0, divisor, xp.ones_like(divisor))


@dataclass(frozen=True)
class Dirichlet:
    """Lucene's ``LMDirichletSimilarity``: max(0, ln(1 + tf / (mu p)) + ln(mu / (|d| + mu))).

    p = (cf + 1) / (tokens + 1), Lucene's ``DefaultCollectionModel``. The paper's eq. (6) adds
    |q| ln(alpha_d) whether or not a term matches; Lucene adds ln(alpha_d) per matching term and
    never lets a term count below zero.
    """

    mu: float = 1000.0

    def term_scores(self, tf: Array, doc_len: Array, statistics: Statistics) -> Array:
        xp = tf.__array_namespace__()
        p = (statistics.total_term_freq + 1) / (statistics.total_tokens + 1)
        score = xp.log1p(tf / (self.mu * p)) - xp.log1p(doc_len / self.mu)
        # Without the term the first logarithm is 0 and the second is not negative: the clip
        # that Lucene applies to a low score also gives an absent term its zero.
        return xp.maximum(score, xp.zeros_like(score))


@dataclass(frozen=True)
class TfIdf:
    """The paper's eq. (1)-(2), ``tdvlucene.search.TfIdfSimilarity``: tf * ln((N + 1) / df)."""

    def term_scores(self, tf: Array, doc_len: Array, statistics: Statistics) -> Array:
        del doc_len  # no length normalisation in the paper's TF-IDF
        xp = tf.__array_namespace__()
        return tf * xp.log((statistics.doc_count + 1) / statistics.doc_freq)


class Batch(NamedTuple):
    """Queries, their candidates and the candidates' rows of the term-document matrix.

    Attributes
    ----------
    query_terms : int32[B, L]
    query_tf : float32[B, L]
        0 marks padding.
    tf : float32[B, C, L]
        Frequency of each query term in each candidate.
    entry_terms, entry_docs : int32[E]
        Postings of all candidates; ``entry_docs`` is b * C + c, ascending.
    entry_tf : float32[E]
        0 marks padding.
    """

    query_terms: Array
    query_tf: Array
    tf: Array
    entry_terms: Array
    entry_docs: Array
    entry_tf: Array


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
    similarity: Similarity, term_values: Array, batch: Batch, statistics: Statistics
) -> jax.Array:
    """Return float32[B, C] scores, differentiable in ``term_values`` float32[V].

    ``statistics`` has an entry a term and was computed with the same ``term_values``.
    """
    weighted_tf = batch.tf * term_values[batch.query_terms][:, None, :]
    lengths = doc_lengths(term_values, batch)[:, :, None]
    of_query = statistics.at(batch.query_terms[:, None, :])
    scores = similarity.term_scores(weighted_tf, lengths, of_query)
    return jnp.einsum("bcl,bl->bc", scores, batch.query_tf)
