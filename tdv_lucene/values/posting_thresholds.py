"""The thresholds of a posting rule: how high they must be to drop a share of the postings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..matrix.blocks import blocks, release
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..ranking.bm25 import LEAST_K1
from ..ranking.saturation import LengthNorm
from .dropped_postings import PostingRule
from .dropped_terms import postings_before

REDUCTIONS = np.arange(100) / 100
"""Where thresholds are computed; between two of them they are interpolated."""

_CELLS = 1 << 14


def make_posting_rule(
    matrix: TermDocumentMatrix, order: np.ndarray, whole_terms: float, *, k1: float, b: float
) -> PostingRule:
    """Find the thresholds at which a rule drops 0, 1, ... 99 % of the postings, O(postings).

    Parameters
    ----------
    order : float32[V]
        Of whole terms, which are dropped ascending, and of postings (see :class:`PostingRule`);
        finite and above 0.
    whole_terms
        The share of the reduction that is made by dropping whole terms, within [0, 1].
    k1, b
        Of the saturation.

    No TDV may be 0: such a term would be dropped on top. The rule's first-position boost is that of
    the matrix. Of a pool's matrix the postings are those of the collection, estimated.

    A threshold is the largest of some ten thousand, a thousandth or less apart, that drops no more
    than was asked for.
    """
    rule = PostingRule(
        np.asarray(order, np.float32), whole_terms, rule_length_norm(matrix, k1, b),
        (np.zeros(1), np.zeros(1)), position_boost=matrix.position_boost,
    )  # fmt: skip
    return count_thresholds(rule, matrix)


def count_thresholds(rule: PostingRule, matrix: TermDocumentMatrix) -> PostingRule:
    """Return the rule with the thresholds that the postings of ``matrix`` give, in one pass.

    All else stays as the rule has it, its saturation above all.
    """
    matrix, pool = matrix.with_position_boost(rule.position_boost), matrix.pool
    priority, boost = rule.priority, matrix.position_boost
    wanted = (REDUCTIONS * matrix.collection_postings).astype(np.int64)
    whole = (rule.whole_terms * REDUCTIONS * matrix.collection_postings).astype(np.int64)
    before = postings_before(np.ones(len(priority), np.float32), priority, matrix.doc_freq)
    dropped_from = np.searchsorted(whole, before)  # the first reduction that drops the term
    length_norm = rule.length_norm.at(matrix.stored_lengths())
    largest_tf = _largest_frequency(matrix) * (1 if boost is None else boost.largest_factor)
    codes = _Codes(priority, length_norm, float(largest_tf))
    columns = len(REDUCTIONS) + 1
    counts = np.zeros(_CELLS * columns, np.int64 if pool is None else np.float64)
    for terms, span, row_sizes in blocks(matrix.indptr):
        tf, length_norms = matrix.tf(span), length_norm[matrix.indices[span]]
        cell = codes.of(np.repeat(priority[terms], row_sizes) * (tf / (tf + length_norms)))
        cell = cell * columns + np.repeat(dropped_from[terms], row_sizes)
        stands_for = None
        if pool is not None:
            stands_for = np.where(pool.drawn[matrix.indices[span]], pool.posting_weight, 1.0)
        counts += np.bincount(cell, stands_for, minlength=len(counts))
        release(matrix)
    by_column = counts.reshape(_CELLS, columns)
    in_all = by_column.sum(axis=0)
    still_there = by_column[:, ::-1].cumsum(axis=1)[:, ::-1]  # dropped at this reduction or later
    theta = np.zeros(len(REDUCTIONS))
    for i, number in enumerate(wanted - in_all.cumsum()[:-1]):
        reached = np.searchsorted(still_there[:, i + 1].cumsum(), number, side="right")
        theta[i] = codes.edge(reached) if number > 0 else 0
    # A whole term may take more than its share with it; thresholds never fall.
    return replace(rule, thresholds=(REDUCTIONS, np.maximum.accumulate(theta)))


def rule_length_norm(matrix: TermDocumentMatrix, k1: float, b: float) -> LengthNorm:
    """Return the K_d of rules for this index."""
    pool = matrix.pool
    tokens = matrix.stored_lengths().sum() if pool is None else pool.stored_tokens
    # With k1 = 0 all postings of a term score the same; a rule must tell them apart.
    return LengthNorm.of(max(k1, LEAST_K1), b, float(tokens / max(1, matrix.doc_count)))


def _largest_frequency(matrix: TermDocumentMatrix) -> int:
    largest = 1
    for block in blocks(matrix.indptr):
        largest = max(largest, int(matrix.data[block.postings].max(initial=1)))
        release(matrix)
    return largest


class _Codes:
    """Numbers float32 values by the upper bits of their binary form, which sorts as they do."""

    def __init__(self, priority: np.ndarray, length_norm: np.ndarray, largest_tf: float) -> None:
        widest, narrowest = (
            length_norm.max(initial=LEAST_K1),
            max(length_norm.min(initial=1), 1e-3),
        )
        low = 1 / (1 + widest) * priority.min(initial=1)
        high = largest_tf / (largest_tf + narrowest) * priority.max(initial=1)
        ends = np.array([low / 2, high * 2], np.float32).view(np.int32)
        self._low = int(ends[0])
        self._shift = max(0, (int(ends[1]) - self._low).bit_length() - _CELLS.bit_length() + 1)

    def of(self, values: np.ndarray) -> np.ndarray:
        """Return int64[n] within [0, _CELLS)."""
        bits = np.asarray(values, np.float32).view(np.int32).astype(np.int64)
        codes: np.ndarray = np.clip((bits - self._low) >> self._shift, 0, _CELLS - 1)
        return codes

    def edge(self, code: int) -> float:
        """Return the smallest value with this code."""
        return float(np.array(self._low + (int(code) << self._shift), np.int32).view(np.float32))
