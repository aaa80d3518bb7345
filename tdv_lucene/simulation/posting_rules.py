"""The rule for single postings that an order of terms makes, corrected for the idf it changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from ..matrix.term_document_matrix import TermDocumentMatrix
from ..ranking import SearchParameters, ranking_function
from ..ranking.bm25 import bm25_idf
from ..values.dropped_postings import PostingRule
from ..values.posting_thresholds import make_posting_rule
from ..values.term_orders import counted_for_dropping, order_terms
from .weighted_collection import apply_values


def rule_of_order(
    matrix: TermDocumentMatrix,
    model: str,
    parameters: SearchParameters,
    reductions: Iterable[float],
    per_byte: float = 0.0,
) -> PostingRule:
    """Return the rule that drops postings by their saturation and their term's order, its
    ``priority`` (see :func:`..values.term_orders.order_terms`).

    At the ``reductions`` TDVs are corrected for what dropped postings add to idf, a pass each.
    ``per_byte`` is how much what a term takes of the dictionary counts in the order.
    """
    k1, b = ranking_function(model).dropped_by
    rule = make_posting_rule(
        counted_for_dropping(matrix, model),
        order_terms(matrix, model, per_byte=per_byte),
        ranking_function(model).whole_terms,
        k1=k1,
        b=b,
    )
    return make_up_for(rule, matrix, sorted(reductions), model, parameters.values()["k1"])


def make_up_for(
    rule: PostingRule,
    matrix: TermDocumentMatrix,
    reductions: Sequence[float],
    model: str,
    k1: float,
) -> PostingRule:
    """Return the rule with factors that take back what dropped postings add to their term's idf.

    A term that loses postings gets a larger idf, and a common term gains most. Its TDV is lowered
    until a posting of the mean frequency that is left scores what it scored before. Query
    likelihood has no idf, and its collection frequency cancels a term's TDV: nothing is done.
    """
    function = ranking_function(model)
    if not function.has_idf:
        return rule
    ones = np.ones(matrix.shape[0], np.float32)
    idf = bm25_idf(np.asarray(matrix.doc_freq), matrix.doc_count)
    factors = np.ones((len(reductions), matrix.shape[0]), np.float32)
    for row, reduction in enumerate(reductions):
        tdv, cut = rule.drop(ones, rule.priority, matrix.doc_freq, reduction)
        left = apply_values(matrix, tdv, None, cut).statistics
        share = np.minimum(idf / bm25_idf(left.doc_freq, left.doc_count), 1)
        factors[row] = function.corrected(share, left.total_term_freq / left.doc_freq, k1)
    return replace(rule, factors_at=tuple(reductions), factors=factors)
