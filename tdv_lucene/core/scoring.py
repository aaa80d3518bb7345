"""Scores of queries' candidates, differentiable in the term values.

The formulas are those of :mod:`..ranking`, Lucene's forms, which a pruned index is searched with;
:mod:`..paper.recipe` holds the paper's.

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

from ..ranking import Array, Similarity, Statistics


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
