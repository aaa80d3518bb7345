"""Which single postings are dropped: those whose saturation is below the least of their term.

A posting's saturation is tf / (tf + K_d), with the length norm K_d = k1 (1 - b + b |d| / avgdl). It
is the part of a BM25 score that is the posting's own. Lengths are those before pruning, as norms
tell them, so that the rewriter need not count. Frequencies have a boost of their own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .boosts import Boost


class LengthNorm(NamedTuple):
    """K_d = fixed + per_token |d|."""

    fixed: float
    per_token: float

    @classmethod
    def of(cls, k1: float, b: float, avg_doc_len: float) -> LengthNorm:
        """Return k1 (1 - b + b |d| / avgdl) as a function of |d|."""
        return cls(k1 * (1 - b), k1 * b / max(avg_doc_len, 1e-9))

    def at(self, doc_len: np.ndarray) -> np.ndarray:
        """Return float64[D]: K_d of documents of these lengths."""
        return self.fixed + self.per_token * np.asarray(doc_len, np.float64)


class PostingCut(NamedTuple):
    """Which postings are dropped besides those of terms with a TDV of 0.

    Attributes
    ----------
    least : float32[V]
        A term's postings with a smaller saturation than this are dropped.
    length_norm : LengthNorm
    position_boost : FirstPositionBoost or None
        Of the frequencies in that saturation; None for frequencies as they are.
    """

    least: np.ndarray
    length_norm: LengthNorm
    position_boost: Boost | None = None


def stays(tf: np.ndarray, least: np.ndarray | float, length_norm: np.ndarray) -> np.ndarray:
    """Return bool[n]: whether tf / (tf + K_d) reaches ``least``, exactly as Java has it.

    Parameters
    ----------
    tf : int[n] or float32[n]
        With the cut's first-position boost.
    least : float32[n] or a number
        Of each posting's term.
    length_norm : float64[n]
        Of each posting's document.
    """
    kept: np.ndarray = ~(tf < np.asarray(least, np.float64) * (tf + length_norm))
    return kept
