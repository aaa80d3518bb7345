"""Lucene's one-byte document length (``org.apache.lucene.util.SmallFloat``) in NumPy."""

from __future__ import annotations

import numpy as np

from .term_document_matrix import TermDocumentMatrix

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


def norm_bytes(doc_len: np.ndarray) -> np.ndarray:
    """Return uint8[...]: the byte that Lucene keeps of a length, as a number up to 255."""
    return (np.searchsorted(_LENGTHS, doc_len, side="right") - 1).astype(np.uint8)


def has_exact_norms(matrix: TermDocumentMatrix) -> bool:
    """Whether the field stores exact lengths (Anserini's ``-bm25.accurate``), not bytes.

    A collection whose longest document has fewer than 40 tokens is the same either way.
    """
    return bool(np.array_equal(matrix.norms, matrix.doc_len))


def stored_lengths(matrix: TermDocumentMatrix) -> np.ndarray:
    """Return int64[D] lengths as the norms tell them; exact where the field has none."""
    if has_exact_norms(matrix) or not np.any(matrix.norms):
        return np.asarray(matrix.doc_len)
    return lucene_length(np.asarray(matrix.doc_len))
