"""What training queries say of the order of postings and of how fine frequencies are.

At as many bytes an index holds many postings with small frequencies, or fewer with fine ones; and
many rare terms, each with an entry in the dictionary, or more of the postings of others. Which is
better depends on what is asked: queries by topic want the common order and fine frequencies,
questions about details of short texts want words to be there at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..progress import Progress
from ..ranking import ranking_function
from ..simulation.choice_of_scale import ChosenScale, ScaleChoice, faithful_scale
from ..simulation.estimated_bytes import estimate_bytes
from ..simulation.measures import clearly_best, deciding
from ..simulation.posting_rules import rule_of_order
from ..simulation.problem import Problem
from ..simulation.reduced import Reduced, TermScores


class Way(NamedTuple):
    """How an index is made small.

    Attributes
    ----------
    per_byte : float
        How much a term's bytes count, see :func:`..values.term_orders.order_terms`.
    finest : float
        Scales are no larger than this where postings are dropped.
    """

    per_byte: float = 0.0
    finest: float = np.inf


WAYS = Way(), Way(0.0, 1.0), Way(0.5, 1.0), Way(1.0, 1.0)
"""The first is taken unless another is clearly better."""
SHARES = (0.85, 0.7, 0.55, 0.4)
"""Of the full index's bytes: where ways are compared."""
_REDUCTIONS = (0.15, 0.45, 0.7)
"""Learning has points there, so their scales need not be found again."""
_IF_COARSE = (0.1, 0.45, 0.7)
"""Where frequencies are small, less need be dropped for as many bytes."""
_FEWEST_QUERIES = 100
"""Fewer cannot tell ways apart."""


def may_choose(problem: Problem) -> bool:
    """Whether there is a choice: measured for BM25 alone."""
    return (
        ranking_function(problem.model).worth_per_byte and len(problem.queries) >= _FEWEST_QUERIES
    )


def choose_ways(
    problem: Problem,
    final: TermScores,
    some: np.ndarray,
    folds: Sequence[np.ndarray],
    choose_scale: ScaleChoice,
    progress: Progress,
) -> list[Way]:
    """Return the way that all of the queries ``some`` choose, and for each fold that of the others.

    A way's worth to a query is the mean of what decides, at each of ``SHARES``. The first of
    ``WAYS`` stays unless the best is clearly better.

    Parameters
    ----------
    final : TermScores
        Of all queries, with the rule of the first way. Ways have the same TDVs, so that these saw
        the queries favours none.
    """
    whole, of_way = problem.full.judged.plain_bytes, []
    for number, way in enumerate(WAYS):
        progress("choose an order of postings", number, len(WAYS))
        scores, points = _in_order(problem, final, way), []
        fine = np.isinf(way.finest)
        for reduction in _REDUCTIONS if fine else _IF_COARSE:
            at = Reduced.untuned(problem, scores, reduction)
            left, pruned = at.prune(choose_scale(at).entry["scale"] if fine else way.finest)
            size = estimate_bytes(left.matrix, pruned) / whole
            points.append((size, deciding(left.measure(pruned, some))))
        of_way.append(_at_shares(points))
    served = np.array(of_way)
    voters = [np.flatnonzero(~np.isin(some, fold)) for fold in (some[:0], *folds)]
    return [WAYS[clearly_best(served[:, of])] if len(of) else WAYS[0] for of in voters]


def _in_order(problem: Problem, final: TermScores, way: Way) -> TermScores:
    """Return the final scores with the rule of a way."""
    if way.per_byte == 0:
        return final
    rule = rule_of_order(
        problem.matrix, problem.model, problem.parameters, _IF_COARSE, way.per_byte
    )
    return TermScores.by_rule(final.weights, rule)


def _at_shares(points: Sequence[tuple[float, np.ndarray]]) -> np.ndarray:
    """Return float64[n], the mean over ``SHARES`` of lines between (bytes, float64[n])."""
    by_size = sorted(points, key=lambda point: point[0])
    sizes, worth = [point[0] for point in by_size], np.array([point[1] for point in by_size])
    weights = [np.interp(SHARES, sizes, one).mean() for one in np.eye(len(sizes))]
    return np.asarray(weights @ worth)


def no_finer(choose_scale: ScaleChoice, of_all: Way, of_folds: Sequence[Way]) -> ScaleChoice:
    """Return the choice of scales, held to what ways allow where postings are dropped."""
    if np.isinf([of_all.finest, *(way.finest for way in of_folds)]).all():
        return choose_scale

    def choose(at: Reduced) -> ChosenScale:
        if at.reduction == 0:
            return choose_scale(at)
        found = faithful_scale(at, most=of_all.finest)
        held = [min(s, way.finest) for s, way in zip(found.of_folds, of_folds)]
        return found._replace(of_folds=held)

    return choose
