"""The collection after TDVs have been applied: lengths and statistics, in NumPy."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..matrix.blocks import Block, blocks
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..ranking import Statistics
from ..ranking.saturation import PostingCut, stays
from .list_sample import keep_sample_postings
from .pool_statistics import Sums
from .quantisation import stored_frequency, written_lengths


@dataclass(frozen=True, eq=False)
class WeightedCollection:
    """A pruned index as its searcher sees it.

    Attributes
    ----------
    tdv : float32[V]
    scale : float or None
        What the stored frequencies are multiplied by; None is the real-valued model of training.
    statistics : Statistics of float64[V] and float64[]
    doc_len : float64[D]
        As the ranking function reads it: with a scale, after Lucene's byte.
    cut : PostingCut or None
        Postings that were not counted, besides those of terms with a TDV of 0.
    postings : int or None
        How many are left, where they were counted.
    """

    tdv: np.ndarray
    scale: float | None
    statistics: Statistics
    doc_len: np.ndarray
    cut: PostingCut | None = None
    postings: int | None = None

    def stored_tf(self, term: int | np.ndarray, tf: np.ndarray) -> np.ndarray:
        """Return float[n]: the frequencies ``tf`` of a term, or of int[n] terms, as they are now.

        Frequencies alone do not tell what a ``cut`` drops: a collection whose postings are read is
        made of what :func:`keep_postings` leaves.
        """
        assert self.cut is None
        return stored_frequency(tf, self.tdv[term], self.scale)


def apply_values(
    matrix: TermDocumentMatrix,
    tdv: np.ndarray,
    scale: float | None = None,
    cut: PostingCut | None = None,
    held: tuple[float, float] | None = None,
) -> WeightedCollection:
    """Weight every posting and recount what a ranking function needs, O(postings).

    Of a pool's matrix the statistics are estimates of the whole collection's. ``held`` are BM25's
    k1 and b where norms hold them (see :func:`.quantisation.written_lengths`).
    """
    staying = None if cut is None else _Staying(matrix, cut)
    doc_len, sums = np.zeros(matrix.shape[1]), Sums(matrix)
    for block in blocks(matrix.indptr):
        docs, tf = matrix.indices[block.postings], matrix.tf(block.postings)
        tf = stored_frequency(tf, np.repeat(tdv[block.terms], block.sizes), scale)
        if staying is not None:
            tf[~staying.among(block)] = 0
        doc_len += np.bincount(docs, tf, minlength=len(doc_len))
        sums.add(block, docs, tf)
    doc_freq, total_term_freq = sums.of_collection(tdv * (scale or 1.0))
    doc_count = sums.doc_count(doc_len)
    tokens = (doc_len if matrix.pool is None else total_term_freq).sum()
    # A dropped term is scored nowhere; 1 keeps its idf finite.
    statistics = Statistics(
        np.maximum(doc_freq, 1), total_term_freq, max(1, doc_count), max(tokens, 1e-9)
    )
    if scale is not None:
        assert matrix.norm_kind is not None  # the matrix sees to it
        average = float(statistics.total_tokens) / float(statistics.doc_count)
        doc_len = written_lengths(doc_len, matrix.norm_kind, average, held)
    return WeightedCollection(tdv, scale, statistics, doc_len, cut, int(doc_freq.sum()))


class _Staying:
    """Which postings of a matrix a cut leaves."""

    def __init__(self, matrix: TermDocumentMatrix, cut: PostingCut) -> None:
        self._matrix, self._least = matrix.with_position_boost(cut.position_boost), cut.least
        self._length_norm = cut.length_norm.at(matrix.stored_lengths())

    def among(self, block: Block) -> np.ndarray:
        """Return bool[n], for the postings of a block."""
        least = np.repeat(self._least[block.terms], block.sizes)
        length_norm = self._length_norm[self._matrix.indices[block.postings]]
        return stays(self._matrix.tf(block.postings), least, length_norm)


def keep_postings(
    matrix: TermDocumentMatrix, tdv: np.ndarray, cut: PostingCut | None
) -> TermDocumentMatrix:
    """Return the matrix without what is dropped, frequencies as they were.

    The vocabulary stays, so terms may be left without a posting. Memory: 8 bytes a posting kept, 10
    with positions.
    """
    staying, sums = None if cut is None else _Staying(matrix, cut), Sums(matrix)
    parts, positions, doc_len = [], [], np.zeros(matrix.shape[1], np.int64)
    for block in blocks(matrix.indptr):
        span = block.postings
        tf, docs = np.asarray(matrix.data[span]), np.asarray(matrix.indices[span])
        kept = np.repeat(tdv[block.terms] > 0, block.sizes)
        if staying is not None:
            kept &= staying.among(block)
        sums.add(block, docs, tf * kept)
        parts.append((docs[kept], tf[kept]))
        doc_len += np.bincount(*parts[-1], minlength=len(doc_len)).astype(np.int64)
        if matrix.first_positions is not None:
            positions.append(matrix.first_positions[span][kept])
    indices, data = (np.concatenate(part) for part in zip(*parts))
    doc_freq, total = sums.of_collection(tdv > 0)
    left = replace(
        matrix, indptr=np.concatenate([[0], np.cumsum(sums.sizes)]), indices=indices, data=data,
        doc_freq=doc_freq, total_term_freq=np.rint(total).astype(np.int64), doc_len=doc_len,
        first_positions=np.concatenate(positions) if positions else None,
    )  # fmt: skip
    if matrix.pool is None:
        return left
    assert matrix.collection is not None  # a pool has one
    collection = {**matrix.collection, "doc_count": sums.doc_count(doc_len)}
    lists = tuple(keep_sample_postings(sample, tdv, cut) for sample in matrix.pool.lists)
    return replace(left, collection=collection, pool=sums.pool_left(lists))


def term_totals(matrix: TermDocumentMatrix) -> np.ndarray:
    """Return float64[V]: the collection's total term frequencies, with the first-position boost."""
    if matrix.position_boost is None:
        return np.asarray(matrix.total_term_freq, np.float64)
    sums = Sums(matrix)
    for block in blocks(matrix.indptr):
        sums.add(block, matrix.indices[block.postings], matrix.tf(block.postings))
    return sums.of_collection(np.ones(matrix.shape[0]))[1]


def plain_collection(matrix: TermDocumentMatrix) -> WeightedCollection:
    """Return the index as it is, exactly as Lucene scores it."""
    return apply_values(
        matrix.with_position_boost(None), np.ones(matrix.shape[0], np.float32), scale=1
    )
