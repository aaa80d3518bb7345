"""What a recipe leaves at one reduction, and how its folds rank there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..values.dropped_postings import PostingRule
from .measures import MEASURES
from .problem import Left, Problem, Tuned
from .term_scores import TermScores
from .weighted_collection import WeightedCollection


@dataclass(frozen=True, eq=False)
class Reduced:
    """A problem at one reduction, by the final scores and by those of each fold.

    Attributes
    ----------
    tuned : Tuned
        Of each fold the problem with the parameters that its queries took no part in choosing.
    final : TermScores
    of_folds : list of TermScores
        Of each fold's training, which its queries took no part in.
    folds : list of int64[n] query numbers
    reduction : float
    unit : str
        ``"term"`` or ``"posting"``.
    """

    tuned: Tuned
    final: TermScores
    of_folds: Sequence[TermScores]
    folds: Sequence[np.ndarray]
    reduction: float
    unit: str
    _left: dict[tuple[Problem, PostingRule | None], Left] = field(
        init=False, default_factory=dict, repr=False
    )

    @classmethod
    def untuned(cls, problem: Problem, scores: TermScores, reduction: float) -> Reduced:
        """Return single postings dropped of a problem as it is, by scores that no query chose: one
        fold of all queries."""
        everyone = [np.arange(len(problem.queries))]
        tuned = Tuned.untuned(problem, everyone)
        return cls(tuned, scores, [scores], everyone, reduction, "posting")

    def at(self, reduction: float) -> Reduced:
        """Return the same at another reduction."""
        return replace(self, reduction=reduction)

    @property
    def problem(self) -> Problem:
        """That of all queries."""
        return self.tuned.of_all

    def left(self, problem: Problem, scores: TermScores) -> Left:
        """Return what ``scores`` leave of a problem; those with the same rule share it.

        What the final ones leave is kept, and one other: each is as large as the matrix.
        """
        key = problem, scores.rule
        if key not in self._left:
            final = self.problem, self.final.rule
            for other in [other for other in self._left if other != final]:
                del self._left[other]
            self._left[key] = scores.left(problem, self.reduction, self.unit)
        return self._left[key]

    def prune(self, scale: float | None) -> tuple[Problem, WeightedCollection]:
        """Return what the final scores leave, and the index they make of it at ``scale``."""
        left = self.left(self.problem, self.final)
        return left.problem, self.final.prune(left, self.reduction, scale, self.unit)

    def held_out(self, scales: Sequence[float | None]) -> np.ndarray:
        """Return float64[Q, measures]: each query measured on the index that the training of the
        fold it is held out of makes, at that fold's scale (None: the real-valued model)."""
        measured = np.zeros((len(self.problem.queries), len(MEASURES)))
        for problem, scores, fold, scale in zip(
            self.tuned.of_folds, self.of_folds, self.folds, scales
        ):
            left = self.left(problem, scores)
            collection = scores.prune(left, self.reduction, scale, self.unit)
            measured[fold] = left.problem.measure(collection, fold)
        return measured
