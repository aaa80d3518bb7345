"""How many bytes Lucene takes for posting lists, without writing them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_EXCEPTIONS = 7
_IMPACT_BYTES = 1.6
"""Measured: a pair of frequency and norm takes one byte or two."""


class PostingFormat(NamedTuple):
    """What differs between Lucene's postings formats.

    Attributes
    ----------
    block : int
        Postings packed together; those after the last full block of a list are variable bytes.
    bit_sets : bool
        Whether dense blocks of documents are stored as bit sets.
    block_overhead : float
        Bytes a full block takes for skipping over it, beside its impacts.
    impact_levels : float
        Impacts of several blocks together, as a share of those of single blocks.
    """

    block: int
    bit_sets: bool
    block_overhead: float
    impact_levels: float

    def with_positions(self) -> PostingFormat:
        """The same where a block is also skipped to in the positions (measured on wiki165k)."""
        return self._replace(block_overhead=self.block_overhead + 3.3)


LUCENE_9 = PostingFormat(128, False, 6.0, 0.25)
"""``Lucene99PostingsFormat``."""
LUCENE_10 = PostingFormat(256, True, 6.0, 0.05)
"""``Lucene104PostingsFormat``."""


def posting_bytes(
    indptr: np.ndarray,
    docs: np.ndarray,
    freqs: np.ndarray,
    norms: np.ndarray,
    form: PostingFormat = LUCENE_9,
) -> int:
    """Return the bytes that a field's lists take in Lucene's ``.doc`` file, to three percent.

    Parameters
    ----------
    indptr : int64[V + 1]
        Spans of the lists.
    docs, freqs : int32[nnz]
        Documents, ascending within a list, and frequencies of at least 1.
    norms : uint8[nnz]
        Norm byte of each posting's document.
    form
        Blocks are packed with as many bits as their largest document gap and, but for seven
        exceptions of two bytes, their largest frequency need; equal frequencies take two bytes.
        After the last full block a gap takes whole bytes, and a frequency other than 1 as well.
        A list of one posting is in the dictionary and takes none here.
    """
    sizes = np.diff(indptr)
    gaps = np.diff(docs, prepend=-1).astype(np.int64)
    starts = indptr[:-1][sizes > 0]
    gaps[starts] = docs[starts] + 1
    place = np.arange(len(docs)) - np.repeat(indptr[:-1], sizes)
    full = place < np.repeat(sizes // form.block * form.block, sizes)
    blocks = tuple(part[full].reshape(-1, form.block) for part in (gaps, freqs, norms))
    tail = ~full & (np.repeat(sizes, sizes) > 1)
    packed = _gap_bytes(blocks[0], form) + _freq_bytes(blocks[1])
    impacts = _count_impacts(blocks[1], blocks[2]) * _IMPACT_BYTES * (1 + form.impact_levels)
    overhead = len(blocks[0]) * form.block_overhead
    return round(packed + impacts + overhead + _tail_bytes(gaps[tail], freqs[tail]))


def _bits(values: np.ndarray) -> np.ndarray:
    """Return int64[n]: the bits that the largest of these numbers need."""
    return np.frexp(np.asarray(values, np.float64))[1].astype(np.int64)


def variable_bytes(numbers: np.ndarray) -> np.ndarray:
    """Return int64[n]: bytes of Lucene's variable-length integers."""
    return (_bits(np.maximum(numbers, 1)) + 6) // 7


def _gap_bytes(gaps: np.ndarray, form: PostingFormat) -> int:
    bits = _bits(gaps.max(axis=1, initial=1))
    taken = 1 + form.block // 8 * bits
    span = gaps.sum(axis=1)
    if form.bit_sets:
        words = (span + 63) // 64
        taken = np.where((bits + 1) * form.block <= words * 64, taken, 1 + 8 * words)
    return int(np.where(span == form.block, 1, taken).sum())


def _freq_bytes(freqs: np.ndarray) -> int:
    block = freqs.shape[1]
    top = np.partition(freqs, block - _EXCEPTIONS - 1, axis=1)[:, block - _EXCEPTIONS - 1 :]
    most = _bits(top.max(axis=1, initial=1))
    bits = np.maximum(_bits(top[:, 0]), most - 8)
    largest = ((1 << bits) - 1)[:, None]
    exceptions = (top > largest).sum(axis=1)
    cut = freqs & largest
    equal = (cut == cut[:, :1]).all(axis=1) & (most <= 8)
    packed = np.where(equal, 1 + (cut[:, 0] > 127), block // 8 * bits)
    return int((1 + packed + 2 * exceptions).sum())


def _count_impacts(freqs: np.ndarray, norms: np.ndarray) -> int:
    """Count the postings that no other of their block beats in both frequency and length."""
    keys = np.sort(-(freqs.astype(np.int64) << 8 | (255 - norms.astype(np.int64))), axis=1)
    ordered = 255 - (-keys & 255)  # norms from the highest frequency down, short ones first
    lowest = np.minimum.accumulate(ordered, axis=1)
    return int((ordered[:, 1:] < lowest[:, :-1]).sum()) + len(freqs)


def _tail_bytes(gaps: np.ndarray, freqs: np.ndarray) -> int:
    whole = (_bits(gaps << 1 | 1) + 7) // 8
    groups = len(gaps) / 4  # a byte for the sizes of four
    other = freqs[freqs != 1]
    return int(whole.sum() + groups + variable_bytes(other).sum())
