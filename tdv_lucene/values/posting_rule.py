"""The rule that drops terms and postings: their order, thresholds, and the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..matrix.term_document_matrix import TermDocumentMatrix, blocks, release
from ..matrix.term_statistics import residual_idf, share_between_terms, spread_of_weights
from ..ranking import DEFAULT_MODEL, ranking_function
from ..ranking.functions import LEAST_K1, Bm25, Dirichlet, Impact, TfIdf, bm25_idf
from ..ranking.postings import Boost, LengthNorm, PostingCut, describe_boost, read_boost

REDUCTIONS = (0.0, 0.15, 0.3, 0.45, 0.6, 0.7, 0.8)
"""Reductions of operating points, unless learning is given others."""
CORRECTED_AT = (*REDUCTIONS, 0.9, 0.95)
"""Reductions at which TDVs are corrected for the larger idf that dropped postings give their term;
interpolated in between. They cover what `prune` may drop."""
THRESHOLDS_AT = np.arange(100) / 100
"""Reductions at which thresholds are computed; interpolated in between."""

_CELLS = 1 << 14
_ROUNDING = 1e-6
"""The rounding of float32, and some; thresholds lie a thousandth apart."""
_RAREST = 8.0
"""The idf at which a term is worth most for its rarity alone: that of one in 3,000 documents."""
_ENTRY = 8.0
"""The size of a term's entry in the dictionary, in postings."""
_BY_TERM = 0.85
"""The share of the weights' variance from which on they are a matter of the term alone."""

_LARGE = 9.5
"""ln N from which on RIDF counts for less: 13,000 documents."""


class Constants(NamedTuple):
    """Constants of learning and pruning for a ranking function; most need no others."""

    # (k1, b): of the saturation that decides what is dropped. They are not those of the search: a
    # posting's worth depends little on the search's parameters, and with a large b long documents
    # would lose most of what they have.
    dropped_by: tuple[float, float] = (4.0, 0.2)
    boost_times: float = 1.0  # Factor of the first-position boost and its span in that saturation
    # The share of the reduction that is made by dropping whole terms. It is larger for the language
    # model: the effect of dropped postings on a term's probability cannot be corrected.
    whole_terms: float = 0.0
    # Whether learning may choose how much a term's bytes count in the order of postings
    worth_per_byte: bool = False
    # Factors of frequencies before they are rounded
    scales: tuple[float, ...] = (
        0.5, 0.7, 0.85, 1, 1.25, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 8, 12, 16
    )  # fmt: skip
    # Whether the scale does more than round, so that it is chosen by the ranking
    scale_ranks: bool = False
    # Parameters so far apart that one of them finds what learning ranks first
    pool_searches: tuple[Mapping[str, float], ...] = ({},)


_CONSTANTS = {
    Bm25.name: Constants(
        boost_times=2.0, worth_per_byte=True,
        pool_searches=({"k1": 0.9, "b": 0.4}, {"k1": 3.0, "b": 0.4}, {"k1": 1.2, "b": 0.75})
    ),
    Dirichlet.name: Constants(
        whole_terms=0.67, pool_searches=({"mu": 1000.0}, {"mu": 250.0}, {"mu": 50.0})
    ),
    # It counts every occurrence in full: a scale below 1 ranks better, and frequency counts less.
    TfIdf.name: Constants(dropped_by=(0.9, 0.4), scale_ranks=True),
    # Nothing saturates: weights as they are, and in part as shares of their document's size.
    Impact.name: Constants(
        dropped_by=(1e4, 0.75), scales=(0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0)
    ),
}  # fmt: skip


def constants_of(model: str) -> Constants:
    """Return the constants of a ranking function, by its name."""
    return _CONSTANTS.get(model, Constants())


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """The TDVs to prune with, at one reduction."""

    tdv: np.ndarray  # float32[V]: finite, not negative; exactly 0 for a term that is dropped
    scale: float  # that suits the ranking: an index stores max(1, rint(scale * tf * tdv))
    # The postings dropped besides those of terms with a TDV of 0; None for no others
    cut: PostingCut | None
    # Share of the field's postings that is dropped: with a ``cut`` the one asked for, with whole
    # terms the one reached
    reduction: float
    # The nearest learned point: its reduction, its measures on held-out queries, and how well each
    # scale keeps the ranking
    nearest: Mapping[str, Any]
    # How frequencies count, see :mod:`..ranking.postings`; None if as they are
    position_boost: Boost | None = None


@dataclass(frozen=True, eq=False)
class PostingRule:
    """The postings dropped at any reduction: those of whole terms, and the least of the others."""

    # float32[V]: postings are dropped in ascending order of priority times saturation; finite,
    # above 0
    priority: np.ndarray
    # The share of the reduction that is made by dropping whole terms, in order of the terms' own
    # priority
    whole_terms: float
    length_norm: LengthNorm
    # (reductions, theta) float64[n] each, ascending: The priority times saturation that postings
    # must reach; interpolated in between
    thresholds: tuple[np.ndarray, np.ndarray]
    # F reductions, ascending, and float32[F, V] factors of TDVs at each; interpolated in between.
    # They undo the larger idf of a term that loses postings. None if this is not corrected.
    factors_at: tuple[float, ...] = ()
    factors: np.ndarray | None = None
    position_boost: Boost | None = None  # Of the frequencies in the saturation

    def thresholds_at(
        self, weights: np.ndarray, priority: np.ndarray, doc_freq: np.ndarray, reduction: float
    ) -> tuple[np.ndarray, PostingCut]:
        """Return float32[V] TDVs, 0 for whole terms dropped, and the cut of other postings."""
        whole = int(self.whole_terms * reduction * doc_freq.sum())
        dropped = postings_before(weights, priority, doc_freq) <= whole
        # A posting of exactly theta stays, whatever the rounding.
        theta = (1 - _ROUNDING) * np.interp(reduction, *self.thresholds)
        least = (theta / np.asarray(self.priority, np.float64)).astype(np.float32)
        tdv = np.where(dropped | (least >= 1), 0, weights).astype(np.float32)
        if self.factors is not None:
            last = len(self.factors_at) - 1
            at = float(np.interp(reduction, self.factors_at, np.arange(last + 1)))
            low, share = int(at), np.float32(at % 1)
            tdv *= (1 - share) * self.factors[low] + share * self.factors[min(low + 1, last)]
        return tdv, PostingCut(least, self.length_norm, self.position_boost)

    def describe(self) -> dict[str, Any]:
        """Return all but the priority and the factors as JSON."""
        reductions, theta = (np.asarray(part).tolist() for part in self.thresholds)
        return {
            "whole_terms": self.whole_terms,
            "factors_at": list(self.factors_at),
            **self.length_norm._asdict(),
            "lead": describe_boost(self.position_boost),
            "reductions": reductions,
            "thresholds": theta,
        }

    @classmethod
    def read(
        cls, priority: np.ndarray, factors: np.ndarray | None, described: Mapping[str, Any]
    ) -> PostingRule:
        """Return the rule that :meth:`describe` described."""
        length_norm = LengthNorm.read(described)
        thresholds = np.array(described["reductions"]), np.array(described["thresholds"])
        return cls(
            priority, described["whole_terms"], length_norm, thresholds,
            tuple(described["factors_at"]), factors, read_boost(described.get("lead")),
        )  # fmt: skip


def make_posting_rule(
    matrix: TermDocumentMatrix, order: np.ndarray, whole_terms: float, *, k1: float, b: float,
    by_postings: bool = True,
) -> PostingRule:  # fmt: skip
    """Return the rule that drops 0, 1, ... 99 % of the postings in this order, O(postings).

    Its boost is that of the matrix. No TDV may be 0: such a term would be dropped on top. ``order``
    float32[V] is the rule's ``priority``; ``k1``, ``b`` and ``by_postings`` are those of the
    saturation.
    """
    rule = PostingRule(
        np.asarray(order, np.float32), whole_terms, rule_length_norm(matrix, k1, b, by_postings),
        (np.zeros(1), np.zeros(1)), position_boost=matrix.position_boost,
    )  # fmt: skip
    return count_thresholds(rule, matrix)


def count_thresholds(rule: PostingRule, matrix: TermDocumentMatrix) -> PostingRule:
    """Return the rule with the thresholds for the postings of ``matrix``, in one pass.

    A threshold is the largest of some ten thousand, a thousandth or less apart, that drops no more
    than was asked for. The postings of a pool's matrix are weighted to represent the collection's.
    """
    matrix, pool = matrix.with_position_boost(rule.position_boost), matrix.pool
    priority, boost = rule.priority, matrix.position_boost
    wanted = (THRESHOLDS_AT * matrix.collection_postings).astype(np.int64)
    whole = (rule.whole_terms * THRESHOLDS_AT * matrix.collection_postings).astype(np.int64)
    before = postings_before(np.ones(len(priority), np.float32), priority, matrix.doc_freq)
    dropped_from = np.searchsorted(whole, before)  # the first reduction that drops the term
    by_postings = rule.length_norm.by_postings
    lengths, frequencies = zip(*matrix.each(_extremes, by_postings=by_postings))
    largest_tf = max(frequencies) * (1 if boost is None else boost.largest_factor)
    codes = _Codes(priority, rule.length_norm.at(np.concatenate(lengths)), float(largest_tf))
    columns = len(THRESHOLDS_AT) + 1
    counts = np.zeros(_CELLS * columns, np.int64 if pool is None else np.float64)
    given = priority, dropped_from.astype(np.int8)
    for counted in matrix.each(_count, *given, length_norm=rule.length_norm, codes=codes):
        counts += counted
    by_column = counts.reshape(_CELLS, columns)
    in_all = by_column.sum(axis=0)
    still_there = by_column[:, ::-1].cumsum(axis=1)[:, ::-1]  # dropped at this reduction or later
    theta = np.zeros(len(THRESHOLDS_AT))
    for i, number in enumerate(wanted - in_all.cumsum()[:-1]):
        reached = np.searchsorted(still_there[:, i + 1].cumsum(), number, side="right")
        theta[i] = codes.edge(reached) if number > 0 else 0
    # A whole term may take more than its share with it; thresholds never fall.
    return replace(rule, thresholds=(THRESHOLDS_AT, np.maximum.accumulate(theta)))


def _count(
    matrix: TermDocumentMatrix,
    priority: np.ndarray,
    dropped_from: np.ndarray,
    *,
    length_norm: LengthNorm,
    codes: _Codes,
) -> np.ndarray:
    """Return the number of postings by the code of their worth, and by when their term goes."""
    of_documents, pool = matrix.length_norms(length_norm).astype(np.float32), matrix.pool
    columns = len(THRESHOLDS_AT) + 1
    counts = np.zeros(_CELLS * columns, np.int64 if pool is None else np.float64)
    for terms, span, row_sizes in blocks(matrix.indptr):
        # In 32 bits and in place: three times as fast.
        tf = matrix.tf(span).astype(np.float32, copy=False)
        worth = of_documents[matrix.indices[span]]
        worth += tf
        np.divide(tf, worth, out=worth)
        worth *= np.repeat(priority[terms], row_sizes)
        cell = codes.of(worth) * np.int32(columns)
        cell += np.repeat(dropped_from[terms], row_sizes)
        weights = None
        if pool is not None:
            weights = np.where(pool.drawn[matrix.indices[span]], pool.posting_weight, 1.0)
        counts += np.bincount(cell, weights, minlength=len(counts))
        release(matrix)
    return counts


def rule_length_norm(
    matrix: TermDocumentMatrix, k1: float, b: float, by_postings: bool = True
) -> LengthNorm:
    """Return the length norm of rules for this index."""
    pool = matrix.pool
    tokens = stored_tokens(matrix, by_postings) if pool is None else pool.stored_tokens
    average = float(tokens / max(1, matrix.doc_count))
    # With k1 = 0 all postings of a term score the same; a rule must tell them apart.
    return LengthNorm.of(max(k1, LEAST_K1), b, average, by_postings)


def stored_tokens(matrix: TermDocumentMatrix, by_postings: bool = True) -> int:
    """Return the sum of all documents' lengths, as norms hold them."""
    return sum(matrix.each(_stored_tokens, by_postings=by_postings))


def _stored_tokens(matrix: TermDocumentMatrix, *, by_postings: bool) -> int:
    return int(matrix.stored_lengths(by_postings).sum())


def _extremes(matrix: TermDocumentMatrix, *, by_postings: bool) -> tuple[np.ndarray, int]:
    """Return the shortest and the longest document, if any, and the largest frequency."""
    lengths, largest = matrix.stored_lengths(by_postings), 1
    for block in blocks(matrix.indptr):
        largest = max(largest, int(matrix.data[block.postings].max(initial=1)))
        release(matrix)
    return np.array([lengths.min(), lengths.max()] if len(lengths) else [], np.int64), largest


class _Codes:
    """Codes of float32 values: the upper bits of their binary form, which sort as they do."""

    def __init__(self, priority: np.ndarray, length_norm: np.ndarray, largest_tf: float) -> None:
        widest, narrowest = length_norm.max(initial=LEAST_K1), max(length_norm.min(initial=1), 1e-3)
        low = 1 / (1 + widest) * priority.min(initial=1)
        high = largest_tf / (largest_tf + narrowest) * priority.max(initial=1)
        ends = np.array([low / 2, high * 2], np.float32).view(np.int32)
        self._low = int(ends[0])
        self._shift = max(0, (int(ends[1]) - self._low).bit_length() - _CELLS.bit_length() + 1)

    def of(self, values: np.ndarray) -> np.ndarray:
        """Return int32[n] within [0, _CELLS) of float32 ``values``, none of them negative."""
        bits = values.view(np.int32) - np.int32(self._low)
        bits >>= np.int32(self._shift)
        return np.clip(bits, 0, _CELLS - 1, out=bits)

    def edge(self, code: int) -> float:
        """Return the smallest value with this code."""
        return float(np.array(self._low + (int(code) << self._shift), np.int32).view(np.float32))


def drop_terms(
    weights: np.ndarray, priority: np.ndarray, doc_freq: np.ndarray, reduction: float
) -> tuple[np.ndarray, float]:
    """Return float32[V] TDVs with zeros for the terms dropped, and their share of the postings.

    Terms are dropped in ascending order of ``priority`` float[V] while their share of the postings
    stays within ``reduction``. A term too large for what is left is passed over, until less than a
    thousandth of the postings is missing. Terms with a weight of 0 are dropped in any case.
    """
    tdv = np.array(weights, np.float32)
    total, dropped = int(doc_freq.sum()), int(doc_freq[tdv == 0].sum())
    order = np.argsort(priority, kind="stable")
    order = order[tdv[order] > 0]
    taken = _fill(doc_freq[order], int(reduction * total) - dropped, tolerance=total // 1000)
    tdv[order[taken]] = 0
    return tdv, float(doc_freq[tdv == 0].sum() / max(1, total))


def _fill(cost: np.ndarray, budget: int, tolerance: int) -> np.ndarray:
    """Return bool[n]: items taken in order while their cost stays within ``budget``."""
    taken = np.zeros(len(cost), bool)
    while budget > tolerance:
        fits = np.flatnonzero(~taken & (cost <= budget))
        fits = fits[: np.searchsorted(np.cumsum(cost[fits]), budget, side="right")]
        if not len(fits):
            break
        taken[fits] = True
        budget -= int(cost[fits].sum())
    return taken


def postings_before(weights: np.ndarray, priority: np.ndarray, doc_freq: np.ndarray) -> np.ndarray:
    """Return int64[V]: postings dropped once this term is; -1 for a term of weight 0."""
    off = np.asarray(weights) == 0
    order = np.lexsort((priority, ~off))
    before = np.empty(len(order), np.int64)
    before[order] = np.cumsum(np.asarray(doc_freq)[order])
    before[off] = -1
    return before


def nearest(reductions: Sequence[float], reduction: float) -> int:
    """Return the number of the entry closest to ``reduction``; of two as close, the earlier."""
    return int(np.argmin(np.abs(np.asarray(reductions) - reduction)))


def order_terms(
    matrix: TermDocumentMatrix, model: str = DEFAULT_MODEL, *, per_byte: float = 0.0
) -> np.ndarray:
    """Return float32[V], above 0: the order in which terms are dropped, smallest first.

    It is (RIDF + 0.05 + 0.7 m c^4)^(0.9 l^4) i^0.6, where i is the smaller of idf and 8, m the mean
    RIDF of a posting, c the smaller of idf / 8 and 8 / idf, and l the smaller of 1 and 9.5 / ln N.

    The learned TDV does not tell whether a posting list is worth its bytes: dropping the terms with
    the smallest TDVs, or those that queries use least, costs far more than this order.

    It is divided by (1 + 8 / df)^``per_byte``: with a power of 1 the order is by worth per byte,
    the dictionary's included. ``learning/README.md`` has the reasons for each part.

    In an impact index it is ((v + 0.05)^0.6 u^-0.35)^p, where u is the mean of a term's weights,
    and v their spread, as a share of it: a term of one weight distinguishes documents by nothing
    but its presence. Quantised BM25 grows with rarity more than suits recall: hence u. Weights of a
    learned model already say what a term is worth in a document: hence p, :func:`power_of_order`.
    """
    if ranking_function(model).of_weights:
        mean = np.asarray(matrix.total_term_freq) / np.maximum(matrix.doc_freq, 1)
        worth = (spread_of_weights(matrix) + 0.05) ** 0.6 * np.maximum(mean, 1) ** -0.35
        return np.asarray(worth ** power_of_order(matrix), np.float32)
    idf = bm25_idf(np.asarray(matrix.doc_freq), matrix.doc_count)
    ridf = np.maximum(residual_idf(matrix), 0)
    size = np.log(matrix.doc_count + 1)
    mean = float(np.average(ridf, weights=matrix.doc_freq)) if len(idf) else 0.0
    rarity = 0.7 * mean * np.minimum(idf / _RAREST, _RAREST / idf) ** 4
    power = 0.9 * max(1.0, size / _LARGE) ** -4
    worth = (ridf + 0.05 + rarity) ** power * np.minimum(idf, _RAREST) ** 0.6
    cost = (1 + _ENTRY / np.asarray(matrix.doc_freq)) ** per_byte
    return np.asarray(worth / cost, np.float32)


def power_of_order(matrix: TermDocumentMatrix) -> float:
    """Return how far weights are a matter of their term: 1 where terms explain at least
    ``_BY_TERM`` of their variance (.9 of BM25's), 0 below a half (.3 to .4 of a SPLADE model's).
    """
    return float(np.clip((share_between_terms(matrix) - 0.5) / (_BY_TERM - 0.5), 0, 1))


def counted_for_dropping(matrix: TermDocumentMatrix, model: str) -> TermDocumentMatrix:
    """Return the matrix with the boost that decides which postings are dropped.

    Queries name a text by words that stand early. If their first position counts for the ranking,
    it counts for more here. Over eight collections an index of as many bytes ranks a little better
    for it on the mean.
    """
    boost = matrix.position_boost
    times = constants_of(model).boost_times
    return matrix.with_position_boost(None if boost is None else boost.for_dropping(times))
