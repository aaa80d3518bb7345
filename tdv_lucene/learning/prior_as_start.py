"""Learning that starts from the prior: where it begins, and how far it moves away."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..core import tdv
from ..evaluation.significance import t_test
from ..matrix.first_positions import describe_boost
from ..matrix.term_document_matrix import TermDocumentMatrix
from .measures import MEASURES
from .prior import Prior, Settings
from .problem import Problem
from .recipes import DefaultRecipe
from .term_scores import TermScores, rule_of_order

_MEASURE = "nDCG@5"


class PriorStart(NamedTuple):
    """Where learning begins.

    Attributes
    ----------
    prior : Prior
    settings : Settings
        For the collection at hand.
    problem : Problem
        With the prior's parameters, boost and TDVs.
    """

    prior: Prior
    settings: Settings
    problem: Problem

    def linear(self, matrix: TermDocumentMatrix, features: tdv.Features) -> tdv.Linear:
        """Return the network that training begins with."""
        return self.prior.linear(matrix, features, self.settings.slope)

    def moved(
        self,
        problem: Problem,
        final: TermScores,
        of_folds: list[TermScores],
        folds: list[np.ndarray],
    ) -> dict[str, Any]:
        """Return how far learning moved away from the prior, and what that gained.

        ``parameters`` and ``lead`` (the first-position boost) are the prior's own. ``values`` is
        the mean over tokens of |tdv - prior's tdv|, both of mean 1. ``gain`` is what held-out
        queries gain in nDCG@5 over the prior alone, at the prior's reduction, with its 95 %
        interval (see :func:`..evaluation.significance.t_test`).
        """
        tokens = np.asarray(problem.matrix.total_term_freq, np.float64)
        away = np.abs(final.weights - self.problem.base_values)
        boost = self.problem.matrix.position_boost
        reduction = self.settings.reduction
        learned = _measure(problem, of_folds, folds, reduction)
        everyone = [np.arange(len(problem.queries))]
        gains = learned - _measure(self.problem, [self._scores()], everyone, reduction)
        return {
            **self.prior.describe(),
            "parameters": self.problem.parameters.values(),
            "lead": describe_boost(boost),
            "values": float(tokens @ away / max(1.0, tokens.sum())),
            "gain": {
                "measure": _MEASURE,
                "mean": float(gains.mean()),
                "interval": t_test(gains)[1],
            },
        }

    def _scores(self) -> TermScores:
        """Return the scores of the prior alone."""
        problem, at = self.problem, (self.settings.reduction,)
        order, rule = rule_of_order(
            problem.matrix, self.prior.order, problem.model, problem.parameters, DefaultRecipe(), at
        )
        return TermScores(problem.base_values, order, rule)


def start_from_prior(problem: Problem, prior: Prior, settings: Settings) -> PriorStart:
    """Return the start for a problem that has the prior's parameters and boost."""
    base = prior.weights(problem.matrix, settings.slope)
    return PriorStart(prior, settings, replace(problem, base=base))


def _measure(
    problem: Problem, of_folds: list[TermScores], folds: list[np.ndarray], reduction: float
) -> np.ndarray:
    """Return float64[n]: nDCG@5 of each query, by the scores of the fold it is held out of."""
    found, left, rule = np.zeros(len(problem.queries)), None, None
    for scores, fold in zip(of_folds, folds):
        if left is None or scores.rule is not rule:  # scores of one rule leave the same
            left, rule = scores.left(problem, reduction, "posting"), scores.rule
        collection = scores.prune(left, reduction, None, "posting")
        found[fold] = left.problem.measure(collection, fold)[:, MEASURES.index(_MEASURE)]
    return found
