"""The queries' candidate documents, and the batches of them that training scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..core.scoring import Batch
from ..simulation.document_rows import Rows
from ..simulation.queries import Queries
from ..simulation.retrieval import QueryPostings

_MEMORY_BYTES = 1 << 30
"""For the frequencies of query terms in candidates: many or long queries get fewer candidates."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """``K`` candidates of each of ``Q`` queries: the relevant ones first, then by rank.

    Attributes
    ----------
    docs : int32[Q, K]
        -1 is padding.
    gains : float32[Q, K]
        The grade; 0 for judged non-relevant and unjudged documents.
    query_terms : int32[Q, L]
    query_tf : float32[Q, L]
        0 is padding.
    tf : float32[Q, K, L]
    """

    docs: np.ndarray
    gains: np.ndarray
    query_terms: np.ndarray
    query_tf: np.ndarray
    tf: np.ndarray


class Lists(NamedTuple):
    """A training batch: what is scored and what it should look like.

    Attributes
    ----------
    batch : Batch
    gains : float32[B, C]
    where : bool[B, C]
        False marks padding.
    """

    batch: Batch
    gains: np.ndarray
    where: np.ndarray


def make_candidates(postings: QueryPostings, impacts: np.ndarray, depth: int = 1000) -> Candidates:
    """Take each query's judged documents and its best ``depth`` documents under ``impacts``."""
    queries = postings.queries
    number, longest = len(queries), queries.longest
    depth = max(50, min(depth, _MEMORY_BYTES // (4 * number * longest)))
    docs = np.full((number, depth), -1, np.int32)
    gains = np.zeros((number, depth), np.float32)
    for query, ranking in enumerate(postings.top(impacts, depth)):
        held, grades = queries.judged_of(query)
        order = np.argsort(-grades, kind="stable")
        held, grades = held[order][:depth], grades[order][:depth]
        retrieved = ranking[ranking >= 0]
        rest = retrieved[~np.isin(retrieved, held)][: depth - len(held)]
        docs[query, : len(held) + len(rest)] = np.concatenate([held, rest])
        gains[query, : len(held)] = np.maximum(grades, 0)
    query_terms, query_tf = padded_terms(queries)
    return Candidates(docs, gains, query_terms, query_tf, _term_freqs(postings, docs))


def padded_terms(queries: Queries) -> tuple[np.ndarray, np.ndarray]:
    """Return int32[Q, L] terms and float32[Q, L] frequencies, 0 where a query is shorter."""
    shape = len(queries), queries.longest
    terms, tf = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
    held = np.arange(queries.longest) < np.diff(queries.indptr)[:, None]
    terms[held], tf[held] = queries.terms, queries.tf
    return terms, tf


def _term_freqs(postings: QueryPostings, docs: np.ndarray) -> np.ndarray:
    """Return float32[Q, K, L]: frequency of each query term in each candidate."""
    queries = postings.queries
    tf = np.zeros((*docs.shape, queries.longest), np.float32)
    for query in range(len(queries)):
        for column, row in enumerate(postings.spans_of(query)):
            row_docs, row_tf = postings.docs[row], postings.tf[row]
            if not len(row_docs):
                continue
            at = np.minimum(np.searchsorted(row_docs, docs[query]), len(row_docs) - 1)
            tf[query, :, column] = np.where(row_docs[at] == docs[query], row_tf[at], 0)
    return tf


def make_lists(
    rows: Rows, candidates: Candidates, queries: np.ndarray, places: np.ndarray
) -> Lists:
    """Return the batch of candidates ``places`` int[B, C] of ``queries`` int[B]."""
    at = queries[:, None], places
    docs = candidates.docs[at]
    query_terms, query_tf = candidates.query_terms[queries], candidates.query_tf[queries]
    batch = rows.batch(query_terms, query_tf, docs, candidates.tf[at])
    return Lists(batch, candidates.gains[at], docs >= 0)


def sample_places(
    rng: np.random.Generator, candidates: Candidates, queries: np.ndarray, width: int
) -> np.ndarray:
    """Choose int64[B, width] candidates a query: relevant ones up to half, the rest by rank.

    Non-relevant candidates are drawn without replacement with probability falling as
    1 / (place + 10), so that the head of the ranking, where nDCG is decided, is well seen and the
    tail still is. Implemented as the largest of Gumbel-perturbed log weights.
    """
    depth = candidates.docs.shape[1]
    noise = rng.gumbel(size=(len(queries), depth))
    keys = noise - np.log(np.arange(depth) + 10)
    keys[candidates.docs[queries] < 0] = -np.inf
    relevant = candidates.gains[queries] > 0
    first = relevant[:, : relevant.sum(axis=1).max(initial=0)]  # the relevant come first
    rank = np.argsort(np.argsort(-np.where(first, noise[:, : first.shape[1]], -np.inf)))
    keys[:, : first.shape[1]][first & (rank < width // 2)] = np.inf
    return np.argpartition(-keys, min(width, depth) - 1, axis=1)[:, :width]
