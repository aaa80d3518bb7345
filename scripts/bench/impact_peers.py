"""What else would drop postings of an impact index: six peers, which leave weights as they are.

They are those of arXiv 2304.12702 (agnostic, document-centric, term-centric) and of OpenSearch's
sparse pruning (abs_value, which is agnostic, max_ratio, alpha_mass, top_k). Each gives every
posting a value, and drops the smallest: as many as leave a number of bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from tdv_lucene.matrix.term_document_matrix import NormKind, TermDocumentMatrix
from tdv_lucene.simulation.bytes import estimate_dictionary_bytes, estimate_posting_bytes
from tdv_lucene.simulation.collection import plain_collection

_SIZED = (0.25, 0.45, 0.6, 0.75, 0.9)
"""Shares at which a peer's bytes are estimated; in between they are interpolated."""


def as_impacts(matrix: TermDocumentMatrix, weights: np.ndarray) -> TermDocumentMatrix:
    """Return the matrix that an impact index of these weights has."""
    held = weights > 0
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))[held]
    docs, data = np.asarray(matrix.indices)[held], weights[held]
    doc_freq = np.bincount(rows, minlength=matrix.shape[0])
    lengths = np.bincount(docs, data, matrix.shape[1]).astype(np.int64)
    return replace(
        matrix, indptr=np.concatenate([[0], np.cumsum(doc_freq)]), indices=docs, data=data,
        doc_freq=doc_freq, doc_len=lengths, norms=np.minimum(lengths, 1), norm_kind=NormKind.ONES,
        total_term_freq=np.bincount(rows, data, matrix.shape[0]).astype(np.int64),
        first_positions=None, sequences=None,
    )  # fmt: skip


class Postings:
    """What the peers need of postings, by term."""

    def __init__(self, matrix: TermDocumentMatrix) -> None:
        self.matrix = matrix
        self.weights = np.asarray(matrix.data, np.float64)
        self.docs = np.asarray(matrix.indices)
        self.terms = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))

    def ranked(self, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return each posting's rank in its group by weight, from 0, the group's size, and the
        share of the group's sum that is before it."""
        order = np.lexsort((-self.weights, groups))
        sizes = np.bincount(groups)
        starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
        rank, before = np.empty(len(order)), np.empty(len(order))
        rank[order] = np.arange(len(order)) - starts
        sums = np.cumsum(self.weights[order]) - self.weights[order]
        mass = np.bincount(groups, self.weights)
        before[order] = (sums - sums[starts]) / np.repeat(mass, sizes)
        return rank, sizes[groups], before


def _centric(postings: Postings, groups: np.ndarray) -> np.ndarray:
    rank, size, _ = postings.ranked(groups)
    return 1 - rank / size


PEERS: dict[str, Callable[[Postings], np.ndarray]] = {
    "agnostic (abs_value)": lambda postings: postings.weights,
    "document-centric": lambda postings: _centric(postings, postings.docs),
    "term-centric": lambda postings: _centric(postings, postings.terms),
    "max_ratio": lambda postings: (
        postings.weights / postings.matrix.stored_lengths(False)[postings.docs]
    ),
    "alpha_mass": lambda postings: 1 - postings.ranked(postings.docs)[2],
    "top_k": lambda postings: -postings.ranked(postings.docs)[0],
}
"""Larger values are kept; chance decides between equal ones."""


def estimated_bytes(matrix: TermDocumentMatrix) -> int:
    """Of posting lists and dictionary."""
    plain = plain_collection(matrix)
    dictionary = estimate_dictionary_bytes(matrix.vocabulary.terms, plain.statistics)
    return estimate_posting_bytes(matrix, plain) + dictionary


class Peer:
    """A peer's order of postings, and what is left of bytes along it."""

    def __init__(self, postings: Postings, name: str) -> None:
        values = PEERS[name](postings)
        chance = np.random.default_rng(0).random(len(values))
        self._matrix, self._order = postings.matrix, np.lexsort((chance, -values))

    def left(self, share: float) -> TermDocumentMatrix:
        """Return the matrix without this share of the postings."""
        weights = np.zeros_like(self._matrix.data)
        kept = self._order[: round((1 - share) * len(self._order))]
        weights[kept] = self._matrix.data[kept]
        return as_impacts(self._matrix, weights)

    def shares_of(self, sizes: Sequence[int]) -> list[float]:
        """Return the shares to drop that leave these bytes."""
        known = [estimated_bytes(self.left(share)) for share in _SIZED]
        return [float(share) for share in np.interp(sizes, known[::-1], _SIZED[::-1])]
