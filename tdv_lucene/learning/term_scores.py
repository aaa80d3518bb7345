"""What learning says of every term."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..matrix.record import TermDocumentMatrix
from ..values.dropping import drop_terms
from ..values.posting_rule import PostingRule
from ..values.thresholds import make_posting_rule, make_up_for
from ..values.weighted_collection import WeightedCollection, apply_values
from .problem import Left, Problem
from .recipes import DefaultRecipe, Parameters


class TermScores(NamedTuple):
    """Values, and the order in which terms go.

    Attributes
    ----------
    weights : float32[V]
        Discrimination values of the terms that are kept.
    priority : float32[V]
        Terms with the smallest are given up first.
    rule : PostingRule or None
        How single postings are given up, made for this ``priority``.
    """

    weights: np.ndarray
    priority: np.ndarray
    rule: PostingRule | None = None

    def left(self, problem: Problem, reduction: float, unit: str) -> Left:
        """Return what is left at ``reduction`` before values apply; of whole terms everything is,
        and zeros among the values say what goes. Scores of one rule leave the same.
        """
        if unit == "posting":
            return problem.left(self.rule, self.priority, reduction)
        return Left(problem, np.ones(len(self.weights), np.float32))

    def prune(
        self, left: Left, reduction: float, scale: float | None, unit: str
    ) -> WeightedCollection:
        """Return the index that the values make of what is :meth:`left`, at ``scale``.

        ``scale`` None is the real-valued model.
        """
        matrix = left.problem.matrix
        if unit == "posting":
            return apply_values(matrix, self.weights * left.factors, scale)
        tdv, _ = drop_terms(self.weights, self.priority, matrix.doc_freq, reduction)
        return apply_values(matrix, tdv, scale)


def kept_terms(problem: Problem, priority: np.ndarray, reduction: float) -> np.ndarray:
    """Return float32[V]: 1 for the terms that stay at ``reduction``, 0 for those dropped."""
    ones = np.ones(len(priority), np.float32)
    return drop_terms(ones, priority, problem.matrix.doc_freq, reduction)[0]


def rule_of_order(
    matrix: TermDocumentMatrix,
    order: np.ndarray,
    model: str,
    parameters: Parameters,
    recipe: DefaultRecipe,
    reductions: Iterable[float],
) -> PostingRule:
    """Return the rule that drops a posting by its saturation and its term's place in ``order``.

    What the ``reductions`` add to idf is made up for.
    """
    rule = make_posting_rule(
        matrix,
        np.ones(len(order), np.float32),  # networks are shrunk: no value is 0
        order,
        order ** (1 / recipe.saturation_power),  # the same postings, for the rule's first power
        recipe.whole_terms_qld if model == "qld" else recipe.whole_terms,
        k1=parameters.k1,
        b=parameters.b,
    )
    if not recipe.make_up:
        return rule
    return make_up_for(rule, matrix, order, sorted(reductions), model, parameters.k1)
