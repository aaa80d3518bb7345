"""TDVs as an index stores them: few distinct numbers, so that each costs about a byte."""

from __future__ import annotations

import numpy as np

from ..errors import TdvError, argument

MANTISSA_BITS = 7
"""Bits after the first: TDVs are exact to 0.4 %, where Lucene's byte rounds a document's length by
several times that."""

_LARGEST = 2.0**20
_DROPPED_BITS = 23 - MANTISSA_BITS


def round_values(tdv: np.ndarray) -> np.ndarray:
    """Return float32[V] TDVs rounded to ``MANTISSA_BITS``, half to even; 0 stays 0.

    A positive TDV stays positive: 2^-20 at least.

    Raises
    ------
    TdvError
        When one exceeds 2^20, beyond which scores could overflow.
    """
    values = np.array(tdv, np.float32)
    if values.size and values.max() > _LARGEST:
        raise TdvError(
            f"TDV {values.max():g} of term number {values.argmax()} exceeds {_LARGEST:g}, the "
            f"most that {argument('tf', 'similarity')} can store: learn the TDVs again"
        )
    bits = values.view(np.uint32)
    half = np.uint32((1 << (_DROPPED_BITS - 1)) - 1) + (bits >> np.uint32(_DROPPED_BITS) & 1)
    rounded = (bits + half) & ~np.uint32((1 << _DROPPED_BITS) - 1)
    values = rounded.view(np.float32)
    return np.where(tdv > 0, np.maximum(values, np.float32(1 / _LARGEST)), np.float32(0))
