"""The order in which postings are dropped: what a term's postings are worth beside others'."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..matrix.term_statistics import residual_idf, spread_of_weights
from ..ranking import DEFAULT_MODEL, ranking_function
from ..ranking.bm25 import bm25_idf
from ..ranking.boosts import FirstPositionBoost

if TYPE_CHECKING:
    from ..matrix.term_document_matrix import TermDocumentMatrix

_RAREST = 8.0
"""The idf at which a term is worth most for its rarity alone: one of 3,000 documents has it."""

_ENTRY = 8.0
"""What a term's entry in the dictionary takes, in postings."""

_LARGE = 9.5
"""ln N from which on RIDF counts for less: 13,000 documents."""


def order_terms(
    matrix: TermDocumentMatrix,
    model: str = DEFAULT_MODEL,
    *,
    per_byte: float = 0.0,
) -> np.ndarray:
    """Return float32[V], above 0: the order in which terms are dropped, smallest first.

    The learned TDV does not say whether a posting list is worth its bytes: dropping the terms with
    the smallest TDVs, or those that queries use least, costs far more than this order.

    It is (RIDF + 0.05 + 0.7 m c^4)^(0.9 l^4) i^0.6, where i is the smaller of idf and 8, m the mean
    RIDF of a posting, c the smaller of idf / 8 and 8 / idf, and l the smaller of 1 and 9.5 / ln N.

    - A larger power of idf keeps the ranking of a large collection as well, in shorter lists, but
      costs small collections their recall.
    - A term of a single document has no RIDF. What is added for rarity keeps the names and numbers
      of a few thousand documents. A large collection has many more of them, which take most of its
      dictionary, and queries seldom ask for one.
    - In a large collection idf tells more of a term, and RIDF less.

    It is divided by (1 + 8 / df)^``per_byte``: a term takes as much of the dictionary as some eight
    postings of the lists, and with a power of 1 the order is by what postings are worth a byte. In
    as many bytes fewer rare terms are then kept, and more postings of others. Questions about
    details of short texts often rank better for it, claims and abstracts worse.

    Of an impact index it is (v + 0.05)^0.6 u^-0.35, where u is the mean of a term's weights, and v
    their spread, as a share of it: a term that weighs about the same everywhere tells documents
    apart by nothing but its presence. The weights themselves know of rarity, and more of it than
    recall bears: hence u.
    """
    if ranking_function(model).of_weights:
        mean = np.asarray(matrix.total_term_freq) / np.maximum(matrix.doc_freq, 1)
        spread = spread_of_weights(matrix) + 0.05
        return np.asarray(spread**0.6 * np.maximum(mean, 1) ** -0.35, np.float32)
    idf = bm25_idf(np.asarray(matrix.doc_freq), matrix.doc_count)
    ridf = np.maximum(residual_idf(matrix), 0)
    size = np.log(matrix.doc_count + 1)
    mean = float(np.average(ridf, weights=matrix.doc_freq)) if len(idf) else 0.0
    rarity = 0.7 * mean * np.minimum(idf / _RAREST, _RAREST / idf) ** 4
    power = 0.9 * max(1.0, size / _LARGE) ** -4
    worth = (ridf + 0.05 + rarity) ** power * np.minimum(idf, _RAREST) ** 0.6
    cost = (1 + _ENTRY / np.asarray(matrix.doc_freq)) ** per_byte
    return np.asarray(worth / cost, np.float32)


def counted_for_dropping(matrix: TermDocumentMatrix, model: str) -> TermDocumentMatrix:
    """Return the matrix with frequencies as they count where postings are dropped.

    Words that stand early are what queries name a text by. Where their first position counts for
    the ranking at all, it counts for more in what is kept. Over eight collections an index of as
    many bytes ranks a little better for it on the mean (``runs/2026-11-23-frontier`` of the bench).
    """
    boost, times = matrix.position_boost, ranking_function(model).boost_times
    if not isinstance(boost, FirstPositionBoost):  # a power changes no order of weights
        return matrix.with_position_boost(None)
    return matrix.with_position_boost(boost.times(times))
