"""Lucene's one-byte document length (``org.apache.lucene.util.SmallFloat``) in NumPy."""

from __future__ import annotations

from enum import Enum

import numpy as np

_SAME = 40  # lengths up to this have themselves as their byte
_FREE = 24  # lengths below this are stored as they are: 255 - longToInt4(Integer.MAX_VALUE)


def _decode(code: int) -> int:
    """``SmallFloat.byte4ToInt``: three bits after the leading one, and a shift."""
    if code < _FREE:
        return code
    mantissa, shift = (code - _FREE) & 7, ((code - _FREE) >> 3) - 1
    return _FREE + (mantissa if shift < 0 else (mantissa | 8) << shift)


_LENGTHS = np.array([_decode(code) for code in range(256)], np.int64)


def lucene_length(doc_len: np.ndarray) -> np.ndarray:
    """Return int64[...] lengths as Lucene's similarities see them after ``intToByte4``.

    Exact up to 40, then rounded down to four significant bits.
    """
    lengths: np.ndarray = _LENGTHS[norm_bytes(doc_len)]
    return lengths


def nearest_length(doc_len: np.ndarray) -> np.ndarray:
    """Return float64[...]: the nearest of the lengths from 1 up that a byte can stand for."""
    lengths = _LENGTHS[1:].astype(np.float64)
    between = (lengths[1:] + lengths[:-1]) / 2
    nearest: np.ndarray = lengths[np.searchsorted(between, doc_len, side="left")]
    return nearest


def norm_bytes(doc_len: np.ndarray) -> np.ndarray:
    """Return uint8[...]: the byte that Lucene keeps of a length, as a number up to 255."""
    return (np.searchsorted(_LENGTHS, doc_len, side="right") - 1).astype(np.uint8)


class NormKind(Enum):
    """How the norms of a field hold the lengths of its documents, as ``tdvlucene.common.NormKind``
    tells it."""

    NONE = "none: Lucene takes every document's length for 1"
    BYTES = "Lucene's one byte a document"
    EXACT = "the exact length: Anserini's -bm25.accurate"
    ONES = "1 for all: Anserini's -impact, where frequencies are weights"


def kind_of_norms(norms: np.ndarray, doc_len: np.ndarray) -> NormKind:
    """Return the kind of the ``norms`` int64[D] of a whole field with lengths ``doc_len`` int64[D].

    Up to 40 a byte is the length itself. Where no document is longer, norms do not tell their kind,
    and bytes are assumed, as the rewrite does: scaled lengths may well be longer.
    """
    ones = np.count_nonzero(norms)
    if not ones and np.any(doc_len):
        return NormKind.NONE
    if np.max(norms, initial=0) == 1 and np.sum(doc_len) > ones:
        return NormKind.ONES
    longest = int(np.max(doc_len, initial=0))
    exact = longest > _SAME and np.array_equal(norms, doc_len)
    return NormKind.EXACT if exact else NormKind.BYTES
