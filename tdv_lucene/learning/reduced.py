"""What a recipe leaves at one reduction, and how its folds rank there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..values.dropped_postings import PostingRule
from ..values.weighted_collection import WeightedCollection
from .measures import MEASURES
from .problem import Left, Problem
from .term_scores import TermScores


@dataclass(frozen=True, eq=False)
class Reduced:
    """A problem at one reduction, by the final scores and by those of each fold.

    Attributes
    ----------
    problem : Problem
    final : TermScores
    of_folds : list of TermScores
        Of each fold's training, which its queries took no part in.
    folds : list of int64[n] query numbers
    reduction : float
    unit : str
        ``"term"`` or ``"posting"``.
    """

    problem: Problem
    final: TermScores
    of_folds: Sequence[TermScores]
    folds: Sequence[np.ndarray]
    reduction: float
    unit: str
    _left: dict[PostingRule | None, Left] = field(default_factory=dict, repr=False)

    def left(self, scores: TermScores) -> Left:
        """Return what ``scores`` leave; those with the same rule share it."""
        if scores.rule not in self._left:
            self._left[scores.rule] = scores.left(self.problem, self.reduction, self.unit)
        return self._left[scores.rule]

    def prune(self, scale: float | None) -> tuple[Problem, WeightedCollection]:
        """Return what the final scores leave, and the index they make of it at ``scale``."""
        left = self.left(self.final)
        return left.problem, self.final.prune(left, self.reduction, scale, self.unit)

    def held_out(self, scales: Sequence[float | None]) -> np.ndarray:
        """Return float64[Q, 3]: each query measured on the index that the training of the fold it
        is held out of makes, at that fold's scale (None: the real-valued model)."""
        measured = np.zeros((len(self.problem.queries), len(MEASURES)))
        for scores, fold, scale in zip(self.of_folds, self.folds, scales):
            left = self.left(scores)
            collection = scores.prune(left, self.reduction, scale, self.unit)
            measured[fold] = left.problem.measure(collection, fold)
        return measured
