"""What learning says of every term."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..values.dropping import drop_terms
from ..values.posting_rule import PostingRule
from ..values.weighted_collection import WeightedCollection, apply_values
from .problem import Problem


class TermScores(NamedTuple):
    """Values, and the order in which terms go.

    Attributes
    ----------
    weights : float32[V]
        Discrimination values of the terms that are kept.
    priority : float32[V]
        Terms with the smallest are given up first.
    rule : PostingRule or None
        How single postings are given up.
    """

    weights: np.ndarray
    priority: np.ndarray
    rule: PostingRule | None = None

    def prune(
        self, problem: Problem, reduction: float, scale: float | None, unit: str
    ) -> tuple[Problem, WeightedCollection]:
        """Return what is left at ``reduction``, and the index the values make of it at ``scale``.

        With whole terms all of the problem is "left", and zeros among the values say what goes.
        ``scale`` None is the real-valued model.
        """
        if unit == "posting":
            left, factors = problem.left(self.rule, self.priority, reduction)
            return left, apply_values(left.matrix, self.weights * factors, scale)
        tdv, _ = drop_terms(self.weights, self.priority, problem.matrix.doc_freq, reduction)
        return problem, apply_values(problem.matrix, tdv, scale)


def kept_terms(problem: Problem, priority: np.ndarray, reduction: float) -> np.ndarray:
    """Return float32[V]: 1 for the terms that stay at ``reduction``, 0 for those given up."""
    ones = np.ones(len(priority), np.float32)
    return drop_terms(ones, priority, problem.matrix.doc_freq, reduction)[0]
