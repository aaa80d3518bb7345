"""What a pruned index stores of frequencies and lengths: one formula each, for learning, pruning
and verification."""

from __future__ import annotations

import numpy as np

from ..matrix.norms import NormKind, lucene_length

LEAST_FREQUENCY = 1
"""Of a posting that stays."""


def stored_frequency(tf: np.ndarray, tdv: np.ndarray | float, scale: float) -> np.ndarray:
    """Return float64[n]: max(1, rint(scale tf tdv)), and 0 where ``tdv`` is 0.

    In double precision and half to even, as ``tdvlucene.prune.ScaledRule`` has it. A posting that
    stays has a frequency of at least 1: the posting rule alone decides which are dropped. So the
    scale can be so small that most frequencies are 1, which Lucene packs in two bytes a block,
    without dropping a single posting. Large frequencies are not capped: they are few, and they
    put a document on top. Capping them at 15 cost more on wiki165k than halving the scale, and
    saved a tenth of the bytes.

    Parameters
    ----------
    tf : int[n] or float32[n]
        With their first-position boost.
    tdv : float32[n] or a number
        Of each posting's term.
    """
    tdv = np.asarray(tdv, np.float64)
    rounded = np.rint(scale * np.asarray(tf, np.float64) * tdv)
    return np.where(tdv > 0, np.maximum(rounded, LEAST_FREQUENCY), 0)


def written_lengths(lengths: np.ndarray, kind: NormKind) -> np.ndarray:
    """Return float64[D]: the lengths that searches read of an index that was written with norms of
    this ``kind``.

    Every simulation of an index that is not written yet takes its lengths from here: learning, the
    choice of the scale, the validated points and their bytes.

    Parameters
    ----------
    lengths : float64[D]
        Sums of stored frequencies.
    """
    if kind is NormKind.EXACT:
        return np.asarray(lengths, np.float64)
    return lucene_length(lengths).astype(np.float64)
