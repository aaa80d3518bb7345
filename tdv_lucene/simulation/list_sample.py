"""Posting lists of a collection too large to be held: drawn and pruned.

A pool's own lists tell little of bytes: they are shorter than the collection's, and their
documents lie further apart.
"""

from __future__ import annotations

import numpy as np

from ..matrix.blocks import release, row_sums
from ..matrix.pool import ListSample
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..ranking.saturation import PostingCut, stays

_POSTINGS = 1 << 19
"""Postings drawn of short lists, and of long ones."""
_STRETCH = 1 << 13
"""Postings of a long list that are drawn at once: 64 or 32 of Lucene's blocks."""


def draw_lists(matrix: TermDocumentMatrix, lengths: np.ndarray) -> tuple[ListSample, ...]:
    """Draw at equal steps: lists in the order of their sizes, stretches along the long ones.

    ``lengths`` int64[D] are those of :meth:`.TermDocumentMatrix.stored_lengths`.
    """
    sizes = np.diff(matrix.indptr)
    order = np.argsort(sizes, kind="stable")
    ordered = sizes[order]
    first, long = np.searchsorted(ordered, (2, _STRETCH))  # lists of one take no bytes
    samples = []
    short = order[first:long]
    every = max(1, int(ordered[first:long].sum()) // _POSTINGS)
    if len(short):
        terms = np.sort(short[every // 2 :: every])
        ends = matrix.indptr[terms], matrix.indptr[terms + 1]
        samples.append(_read(matrix, lengths, short, terms, *ends))
    if long < len(order):
        samples.append(_stretches(matrix, lengths, np.sort(order[long:])))
    release(matrix)
    return tuple(samples)


def _stretches(matrix: TermDocumentMatrix, lengths: np.ndarray, terms: np.ndarray) -> ListSample:
    """Stretches at equal steps along the lists of ``terms`` laid end to end."""
    pieces = np.diff(matrix.indptr)[terms] // _STRETCH  # what is over counts as much as a piece
    ends = np.cumsum(pieces)
    number = min(int(ends[-1]), _POSTINGS // _STRETCH)
    chosen = (np.arange(number) * int(ends[-1]) + int(ends[-1]) // 2) // number
    place = np.searchsorted(ends, chosen, side="right")
    starts = matrix.indptr[terms[place]] + (chosen - ends[place] + pieces[place]) * _STRETCH
    return _read(matrix, lengths, terms, terms[place], starts, starts + _STRETCH)


def _read(
    matrix: TermDocumentMatrix, lengths: np.ndarray, among: np.ndarray, terms: np.ndarray,
    starts: np.ndarray, ends: np.ndarray,
) -> ListSample:  # fmt: skip
    spans = [slice(start, end) for start, end in zip(starts.tolist(), ends.tolist())]

    def take(array: np.ndarray) -> np.ndarray:
        return np.concatenate([array[span] for span in spans])

    docs = take(matrix.indices)
    before = np.where(starts == matrix.indptr[terms], -1, matrix.indices[np.maximum(starts, 1) - 1])
    return ListSample(
        among=np.asarray(among, np.int32),
        terms=terms,
        indptr=np.concatenate([[0], np.cumsum(ends - starts)]).astype(np.int64),
        docs=(docs - np.repeat(before + 1, ends - starts)).astype(np.int32),
        data=take(matrix.data),
        first_positions=None if matrix.first_positions is None else take(matrix.first_positions),
        doc_len=lengths[docs],
    )


def keep_sample_postings(sample: ListSample, tdv: np.ndarray, cut: PostingCut | None) -> ListSample:
    """Return the sample without what is pruned; see :func:`.weighted_collection.keep_postings`."""
    sizes = np.diff(sample.indptr)
    kept = np.repeat(tdv[sample.terms] > 0, sizes)
    if cut is not None:
        least = np.repeat(cut.least[sample.terms], sizes)
        length_norm = cut.length_norm.at(sample.doc_len)
        kept &= stays(sample.tf(cut.position_boost), least, length_norm)
    first = sample.first_positions
    return sample._replace(
        indptr=np.concatenate([[0], np.cumsum(row_sums(kept, sizes))]).astype(np.int64),
        docs=sample.docs[kept],
        data=sample.data[kept],
        first_positions=None if first is None else first[kept],
        doc_len=sample.doc_len[kept],
    )
