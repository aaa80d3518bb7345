"""TDVs of all terms, and the order in which they are dropped."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..values.dropped_postings import PostingRule
from ..values.dropped_terms import drop_terms
from .problem import Left, Problem
from .weighted_collection import WeightedCollection, apply_values


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

    @classmethod
    def by_rule(cls, weights: np.ndarray, rule: PostingRule) -> TermScores:
        """Return those that drop postings by a rule, and whole terms in its order."""
        return cls(weights, rule.priority, rule)

    def left(self, problem: Problem, reduction: float, unit: str) -> Left:
        """Return what is left at ``reduction``, before TDVs apply.

        With whole terms nothing is dropped here yet: :meth:`prune` sets their TDVs to 0. Scores
        with the same rule leave the same.
        """
        if unit == "posting" and self.rule is not None:
            return problem.left(self.rule, reduction)
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
