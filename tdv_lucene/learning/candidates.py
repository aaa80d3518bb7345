"""Candidate documents of the queries and the batches that training scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from ..core.scoring import Batch
from ..records import TermDocumentMatrix
from .queries import Queries
from .retrieval import QueryPostings

_MEMORY_BYTES = 1 << 30
"""Bound on the candidates' query-term frequencies: many or long queries get fewer candidates."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """``K`` candidates of each of ``Q`` queries: the relevant ones first, then by rank.

    Attributes
    ----------
    docs : int32[Q, K]
        -1 is padding.
    gains : float32[Q, K]
        The grade; 0 for judged non-relevant and unjudged documents.
    judged : bool[Q, K]
    query_terms : int32[Q, L]
    query_tf : float32[Q, L]
        0 is padding.
    tf : float32[Q, K, L]
    """

    docs: np.ndarray
    gains: np.ndarray
    judged: np.ndarray
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
    gains, judged = np.zeros((number, depth), np.float32), np.zeros((number, depth), bool)
    for query, ranking in enumerate(postings.top(impacts, depth)):
        held, grades = queries.judged_of(query)
        order = np.argsort(-grades, kind="stable")
        held, grades = held[order][:depth], grades[order][:depth]
        retrieved = ranking[ranking >= 0]
        rest = retrieved[~np.isin(retrieved, held)][: depth - len(held)]
        docs[query, : len(held) + len(rest)] = np.concatenate([held, rest])
        gains[query, : len(held)] = np.maximum(grades, 0)
        judged[query, : len(held)] = True
    query_terms, query_tf = _padded_terms(queries)
    return Candidates(docs, gains, judged, query_terms, query_tf, _term_freqs(postings, docs))


def _padded_terms(queries: Queries) -> tuple[np.ndarray, np.ndarray]:
    shape = len(queries), queries.longest
    terms, tf = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
    for query in range(len(queries)):
        here, times = queries.terms_of(query)
        terms[query, : len(here)], tf[query, : len(here)] = here, times
    return terms, tf


def _term_freqs(postings: QueryPostings, docs: np.ndarray) -> np.ndarray:
    """Return float32[Q, K, L]: frequency of each query term in each candidate."""
    queries = postings.queries
    tf = np.zeros((*docs.shape, queries.longest), np.float32)
    for query in range(len(queries)):
        for place, (row_docs, row_tf) in enumerate(postings.rows_of(query)):
            at = np.minimum(np.searchsorted(row_docs, docs[query]), len(row_docs) - 1)
            tf[query, :, place] = np.where(row_docs[at] == docs[query], row_tf[at], 0)
    return tf


class BatchMaker:
    """Turns chosen candidates into :class:`Batch` arrays, with rows taken from the matrix.

    Memory: the document-major copy of the matrix, 8 bytes a posting.
    """

    def __init__(self, matrix: TermDocumentMatrix) -> None:
        terms, documents = matrix.shape
        by_term = csr_array((matrix.data, matrix.indices, matrix.indptr), (terms, documents))
        by_document = by_term.T.tocsr()
        self._indptr = by_document.indptr
        self._terms = by_document.indices
        self._tf = by_document.data

    def batch(self, candidates: Candidates, queries: np.ndarray, places: np.ndarray) -> Batch:
        """Return the batch of candidates ``places`` int[B, C] of ``queries`` int[B].

        A padding candidate (document -1) has frequencies 0 and an empty row.
        """
        docs = candidates.docs[queries[:, None], places]
        entries, positions = self._entries(docs.ravel())
        padded = _bucket(len(entries))
        batch_terms, batch_tf = np.zeros(padded, np.int32), np.zeros(padded, np.float32)
        batch_docs = np.full(padded, docs.size - 1, np.int32)
        batch_terms[: len(entries)] = self._terms[entries]
        batch_tf[: len(entries)] = self._tf[entries]
        batch_docs[: len(entries)] = positions
        return Batch(
            query_terms=candidates.query_terms[queries],
            query_tf=candidates.query_tf[queries],
            tf=candidates.tf[queries[:, None], places],
            entry_terms=batch_terms,
            entry_docs=batch_docs,
            entry_tf=batch_tf,
        )

    def lists(self, candidates: Candidates, queries: np.ndarray, places: np.ndarray) -> Lists:
        """Return the batch with its gains and mask."""
        at = queries[:, None], places
        batch = self.batch(candidates, queries, places)
        return Lists(batch, candidates.gains[at], candidates.docs[at] >= 0)

    def _entries(self, docs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return int64[E] positions of the documents' postings, int32[E] which of ``docs``."""
        starts = np.where(docs >= 0, self._indptr[docs], 0).astype(np.int64)
        lengths = np.where(docs >= 0, self._indptr[docs + 1] - self._indptr[docs], 0)
        ends = np.cumsum(lengths)
        entries = np.arange(ends[-1]) + np.repeat(starts - (ends - lengths), lengths)
        return entries, np.repeat(np.arange(len(docs), dtype=np.int32), lengths)


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
    relevant_rank = np.argsort(np.argsort(-np.where(relevant, noise, -np.inf), axis=1), axis=1)
    keys = np.where(relevant & (relevant_rank < width // 2), np.inf, keys)
    return np.argpartition(-keys, width - 1, axis=1)[:, :width] if width < depth else (
        np.broadcast_to(np.arange(depth), (len(queries), depth))
    )


def _bucket(size: int) -> int:
    """Round up to a quarter of a power of two, so that few shapes are compiled."""
    quarter = max(1, 1 << max(0, int(size).bit_length() - 3))
    return -(-size // quarter) * quarter if size else 1
