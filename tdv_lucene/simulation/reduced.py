"""What a recipe leaves at one reduction, and how its folds rank there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..values.dropped_postings import PostingRule
from ..values.dropped_terms import drop_terms
from .measures import MEASURES
from .problem import Problem, Tuned
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
    _left: dict[tuple[Problem, PostingRule], tuple[Problem, np.ndarray]] = field(
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

    def prune(self, scale: float | None) -> tuple[Problem, WeightedCollection]:
        """Return what the final scores leave, and the index they make of it at ``scale``; None is
        the real-valued model."""
        return self._pruned(self.problem, self.final, scale)

    def held_out(self, scales: Sequence[float | None]) -> np.ndarray:
        """Return float64[Q, measures]: each query measured on the index that the training of the
        fold it is held out of makes, at that fold's scale (None: the real-valued model)."""
        measured = np.zeros((len(self.problem.queries), len(MEASURES)))
        for problem, scores, fold, scale in zip(
            self.tuned.of_folds, self.of_folds, self.folds, scales
        ):
            left, collection = self._pruned(problem, scores, scale)
            measured[fold] = left.measure(collection, fold)
        return measured

    def _pruned(
        self, problem: Problem, scores: TermScores, scale: float | None
    ) -> tuple[Problem, WeightedCollection]:
        if self.unit == "posting":
            assert scores.rule is not None  # nothing else drops single postings
            left, factors = self._left_by(problem, scores.rule)
            tdv = scores.weights * factors
        else:
            left, doc_freq = problem, problem.matrix.doc_freq
            tdv, _ = drop_terms(scores.weights, scores.priority, doc_freq, self.reduction)
        return left, apply_values(left.matrix, tdv, scale, held=left.held(scale))

    def _left_by(self, problem: Problem, rule: PostingRule) -> tuple[Problem, np.ndarray]:
        """Return what a rule leaves of a problem, see :meth:`.Problem.left`.

        What the final scores leave is kept, and one other: each is as large as the matrix.
        """
        if (problem, rule) not in self._left:
            final = self.problem, self.final.rule
            for other in [other for other in self._left if other != final]:
                del self._left[other]
            self._left[problem, rule] = problem.left(rule, self.reduction)
        return self._left[problem, rule]
