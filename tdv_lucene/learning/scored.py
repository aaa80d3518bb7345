"""What one training says of every term."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._dropping import drop_terms, nearest
from .._saturation import PostingRule
from .._scaling import whole_multiples
from .problem import Problem
from .weighted import WeightedCollection, apply_values


class Scored(NamedTuple):
    """Values, for the reductions they were trained at, and the order in which terms go.

    Attributes
    ----------
    trained_at : tuple of P float
    weights : float32[P, V]
        Discrimination values of the terms that are kept.
    priority : float32[V]
        Terms with the smallest are given up first.
    rule : PostingRule or None
        How single postings are given up.
    """

    trained_at: tuple[float, ...]
    weights: np.ndarray
    priority: np.ndarray
    rule: PostingRule | None = None

    def prune(
        self, problem: Problem, reduction: float, scale: float | None, unit: str
    ) -> tuple[np.ndarray, WeightedCollection]:
        """Return float32[V] values for ``reduction``, and the index they make at ``scale``.

        Values are whole multiples of 1 / scale; ``scale`` None is the real-valued model.
        """
        weights = whole_multiples(self.weights[nearest(self.trained_at, reduction)], scale)
        doc_freq, cut = problem.matrix.doc_freq, None
        if unit == "posting":
            tdv, cut = self.rule.drop(weights, self.priority, doc_freq, reduction)
        else:
            tdv, _ = drop_terms(
                weights, self.priority, doc_freq, problem.postings_by_tf, reduction, scale
            )
        return tdv, apply_values(problem.matrix, tdv, scale, cut)
