"""What a matrix that holds only some documents knows of all others.

A pool holds documents of two sorts. Some are there for certain: the judged ones, and those that
searches found. The others were drawn at random from the rest, and stand for that rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..ranking.boosts import Boost


class ListSample(NamedTuple):
    """``n`` posting lists of the whole collection, or stretches of long ones.

    Attributes
    ----------
    among : int32[t]
        The terms from whose lists they were drawn, and whose postings they stand for.
    terms : int64[n]
    indptr : int64[n + 1]
    docs : int32[m]
        Document numbers of the collection, counted from the posting before a stretch.
    data : int32[m]
    first_positions : uint16[m] or None
    doc_len : int64[m]
        Of each posting's document, as its norm tells it.
    """

    among: np.ndarray
    terms: np.ndarray
    indptr: np.ndarray
    docs: np.ndarray
    data: np.ndarray
    first_positions: np.ndarray | None
    doc_len: np.ndarray

    def tf(self, boost: Boost | None) -> np.ndarray:
        """Return int32[m] or float32[m]: the frequencies, with the boost if any."""
        return self.data if boost is None else boost.weigh(self.data, self.first_positions)


@dataclass(frozen=True, eq=False)
class Pool:
    """Beside a matrix of ``D`` documents and ``V`` terms.

    Attributes
    ----------
    drawn : bool[D]
        Whether the document was drawn at random; the others are there for certain.
    doc_weight, posting_weight : float
        Documents, and postings, that one of a drawn document stands for.
    doc_freq_drawn, total_drawn : int64[V]
        A term's postings in drawn documents, and their frequencies.
    total : int64[V]
        A term's frequencies in all documents of the matrix.
    kinds : int32[V]
        Terms with the same number have about the same ``doc_freq`` and ``total_term_freq``.
    stored_tokens : int
        Of all documents of the collection, as their norms tell their lengths.
    mean_log_len : float64[V]
        Mean log length of the collection's documents with the term.
    lists : tuple of ListSample
        What the bytes of posting lists are estimated from.
    """

    drawn: np.ndarray
    doc_weight: float
    posting_weight: float
    doc_freq_drawn: np.ndarray
    total_drawn: np.ndarray
    total: np.ndarray
    kinds: np.ndarray
    stored_tokens: int
    mean_log_len: np.ndarray
    lists: tuple[ListSample, ...]


def term_kinds(doc_freq: np.ndarray, total_term_freq: np.ndarray) -> np.ndarray:
    """Return int32[V]: equal numbers for terms of about the same counts, which pruning treats
    alike: doc_freq to a half power of two, frequency in a document to a quarter of one.
    """
    doc_freq = np.asarray(doc_freq, np.float64)
    often = np.log2(np.asarray(total_term_freq) / doc_freq)
    kinds: np.ndarray = 32 * np.rint(2 * np.log2(doc_freq)) + np.minimum(np.rint(4 * often), 31)
    return kinds.astype(np.int32)
