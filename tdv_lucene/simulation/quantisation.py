"""What a pruned index stores of frequencies and lengths: one formula each, for learning, pruning
and verification."""

from __future__ import annotations

import numpy as np

from ..matrix.norms import NormKind, lucene_length, nearest_length
from ..ranking import ANSERINI_DEFAULTS

LEAST_FREQUENCY = 1
"""Of a posting that stays."""


def stored_frequency(tf: np.ndarray, tdv: np.ndarray | float, scale: float | None) -> np.ndarray:
    """Return float64[n]: max(1, rint(scale tf tdv)), and 0 where ``tdv`` is 0; in the real-valued
    model, of ``scale`` None, float32[n]: tf tdv.

    In double precision and half to even, as ``tdvlucene.rules.ScaledRule`` has it. A posting that
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
    if scale is None:
        return tf * np.asarray(tdv, np.float32)
    tdv = np.asarray(tdv, np.float64)
    rounded = np.rint(scale * np.asarray(tf, np.float64) * tdv)
    return np.where(tdv > 0, np.maximum(rounded, LEAST_FREQUENCY), 0)


def written_lengths(
    lengths: np.ndarray,
    kind: NormKind,
    average: float,
    held: tuple[float, float] | None = None,
) -> np.ndarray:
    """Return float64[D]: the lengths that searches read of an index that was written with norms of
    this ``kind``.

    Every simulation of an index that is not written yet takes its lengths from here: learning, the
    choice of the scale, the validated points and their bytes.

    Parameters
    ----------
    lengths : float64[D]
        Sums of stored frequencies.
    average
        Of documents with terms.
    held : (k1, b) or None
        BM25's, where norms hold them for a searcher with Anserini's defaults, as ``prune`` writes
        them (:mod:`..pruning.search_target`). The lengths returned are then those of which ``held``
        gives the length norm that the searcher computes.
    """
    sums = np.asarray(lengths, np.float64)
    if kind in (NormKind.NONE, NormKind.ONES):
        return np.where(sums > 0, 1.0, 0.0)
    if held is not None and held[1] > 0:
        # As ``tdvlucene.common.BakedNorms`` has it: the nearest length that a norm can hold.
        (k1, b), other_k1, other_b = held, ANSERINI_DEFAULTS["k1"], ANSERINI_DEFAULTS["b"]
        length_norm = k1 * (1 - b + b * sums / average)
        exact = average * (length_norm / other_k1 - (1 - other_b)) / other_b
        stored = np.maximum(np.rint(exact), 1) if kind is NormKind.EXACT else nearest_length(exact)
        seen = other_k1 * (1 - other_b + other_b * stored / average)
        read = average * (seen / k1 - (1 - b)) / b
        return np.where(sums > 0, np.maximum(read, 0), 0)
    if kind is NormKind.EXACT:
        return sums
    return lucene_length(sums).astype(np.float64)
