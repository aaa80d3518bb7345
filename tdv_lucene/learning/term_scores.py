"""What learning says of every term."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..values.dropping import drop_terms
from ..values.posting_rule import PostingRule
from ..values.quantisation import whole_multiples, whole_multiples_above
from ..values.weighted_collection import WeightedCollection, apply_values
from .problem import Left, Problem


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
            return apply_values(
                matrix, whole_multiples_above(self.weights * left.factors, scale), scale
            )
        weights = whole_multiples(self.weights, scale)
        counts = matrix.doc_freq, left.problem.postings_by_tf
        tdv, _ = drop_terms(weights, self.priority, *counts, reduction, scale)
        return apply_values(matrix, tdv, scale)


def kept_terms(problem: Problem, priority: np.ndarray, reduction: float) -> np.ndarray:
    """Return float32[V]: 1 for the terms that stay at ``reduction``, 0 for those dropped."""
    ones = np.ones(len(priority), np.float32)
    counts = problem.matrix.doc_freq, problem.postings_by_tf
    return drop_terms(ones, priority, *counts, reduction, None)[0]
