"""What learning finds for every term: its TDV, and when it is dropped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..matrix.term_document_matrix import TermDocumentMatrix
from ..ranking import ranking_function
from ..values.dropped_postings import PostingRule
from ..values.dropped_terms import drop_terms
from ..values.posting_thresholds import make_posting_rule, make_up_for
from ..values.weighted_collection import WeightedCollection, apply_values
from .problem import Left, Problem
from .recipes import DefaultRecipe, Parameters
from .term_orders import ORDERS, WHOLE_TERMS, counted_for_dropping, order_terms


class TermScores(NamedTuple):
    """TDVs, and the order in which terms are dropped.

    Attributes
    ----------
    weights : float32[V]
        TDVs of the terms while they are kept.
    priority : float32[V]
        Terms with the smallest are dropped first.
    rule : PostingRule or None
        How single postings are dropped, made for this ``priority``.
    """

    weights: np.ndarray
    priority: np.ndarray
    rule: PostingRule | None = None

    def left(self, problem: Problem, reduction: float, unit: str) -> Left:
        """Return what is left at ``reduction``, before TDVs apply.

        With whole terms nothing is dropped here yet: :meth:`prune` sets their TDVs to 0. Scores
        with the same rule leave the same.
        """
        if unit == "posting":
            return problem.left(self.rule, self.priority, reduction)
        return Left(problem, np.ones(len(self.weights), np.float32))

    def prune(
        self, left: Left, reduction: float, scale: float | None, unit: str
    ) -> WeightedCollection:
        """Return the index that the TDVs make of what is :meth:`left`, at ``scale``.

        ``scale`` None is the real-valued model.
        """
        matrix, held = left.problem.matrix, left.problem.held(scale)
        if unit == "posting":
            return apply_values(matrix, self.weights * left.factors, scale, held=held)
        tdv, _ = drop_terms(self.weights, self.priority, matrix.doc_freq, reduction)
        return apply_values(matrix, tdv, scale, held=held)


def kept_terms(problem: Problem, priority: np.ndarray, reduction: float) -> np.ndarray:
    """Return float32[V]: 1 for the terms that stay at ``reduction``, 0 for those dropped."""
    ones = np.ones(len(priority), np.float32)
    return drop_terms(ones, priority, problem.matrix.doc_freq, reduction)[0]


def rule_of_order(
    matrix: TermDocumentMatrix,
    kind: str,
    model: str,
    parameters: Parameters,
    recipe: DefaultRecipe,
    reductions: Iterable[float],
) -> tuple[np.ndarray, PostingRule]:
    """Return float32[V], the order of that ``kind`` (see :func:`.term_orders.order_terms`), and the
    rule that drops postings by their saturation and their term's order.

    At the ``reductions`` TDVs are corrected for what dropped postings add to idf.
    """
    order, saturation = order_terms(matrix, kind, model), ORDERS[kind]
    usual = getattr(recipe, ranking_function(model).whole_terms)
    rule = make_posting_rule(
        counted_for_dropping(matrix, model),
        np.ones(len(order), np.float32),  # networks are shrunk: no TDV is 0
        order,
        order ** (1 / saturation.power),  # the same postings, for the rule's first power
        WHOLE_TERMS.get(kind, usual),
        k1=parameters.k1 if saturation.k1 is None else saturation.k1,
        b=parameters.b if saturation.b is None else saturation.b,
    )
    if not recipe.make_up:
        return order, rule
    return order, make_up_for(rule, matrix, order, sorted(reductions), model, parameters.k1)
