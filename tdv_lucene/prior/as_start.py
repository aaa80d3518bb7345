"""Learning that starts from the prior: where it begins, and how far it moves away."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..core import tdv
from ..evaluation.significance import t_test
from ..matrix.first_positions import describe_boost
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..ranking import ranking_function
from ..simulation.choice_of_scale import ScaleChoice
from ..simulation.measures import MEASURES
from ..simulation.posting_rules import RuleRecipe, rule_of_order
from ..simulation.problem import Problem
from ..simulation.reduced import Reduced
from ..simulation.term_scores import TermScores
from .prior import Prior, Settings

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

    @classmethod
    def of(cls, problem: Problem, prior: Prior, settings: Settings) -> PriorStart:
        """Return the start for a problem that has the prior's parameters and boost."""
        base = prior.weights(problem.matrix, settings.slope)
        return cls(prior, settings, replace(problem, base=base))

    def linear(self, matrix: TermDocumentMatrix, features: tdv.Features) -> tdv.Linear:
        """Return the network that training begins with."""
        return self.prior.linear(matrix, features, self.settings.slope)

    def moved(self, to: Reduced, choose_scale: ScaleChoice) -> dict[str, Any]:
        """Return how far learning moved away from the prior, and what that gained.

        ``parameters``, ``lead`` (the first-position boost) and ``reduction`` are the prior's own.
        ``values`` is the mean over tokens of |tdv - prior's tdv|, both of mean 1. ``gain`` is what
        held-out queries gain in nDCG@5 over the prior alone, at the prior's reduction, with its
        95 % interval (see :func:`..evaluation.significance.t_test`). It is that of the real-valued
        models, but for TF-IDF, whose scale does more than round.
        """
        problem = to.problem
        tokens = np.asarray(problem.matrix.total_term_freq, np.float64)
        away = np.abs(to.final.weights - self.problem.base_values)
        reduction = self.settings.reduction or 0.0
        learned = replace(to, reduction=reduction, unit="posting")
        alone = Reduced.untuned(self.problem, self._scores(reduction), reduction)
        if ranking_function(problem.model).scale_ranks:
            ours = learned.held_out(choose_scale(learned).of_folds)
            differences = ours - alone.held_out([self.settings.scale_at(reduction)])
        else:
            differences = learned.held_out([None] * len(to.folds)) - alone.held_out([None])
        gains = differences[:, MEASURES.index(_MEASURE)]
        return {
            **self.prior.describe(),
            "parameters": self.problem.parameters.values(),
            "lead": describe_boost(self.problem.matrix.position_boost),
            "reduction": reduction,
            "values": float(tokens @ away / max(1.0, tokens.sum())),
            "gain": {
                "measure": _MEASURE,
                "mean": float(gains.mean()),
                "interval": t_test(gains)[1],
            },
        }

    def _scores(self, reduction: float) -> TermScores:
        """Return the scores of the prior alone."""
        problem = self.problem
        rule = rule_of_order(
            problem.matrix, None, problem.model, problem.parameters, RuleRecipe(), (reduction,)
        )
        return TermScores.by_rule(problem.base_values, rule)
