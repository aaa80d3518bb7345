"""The scale of frequencies, and the order of postings, that make an index small and rank best.

At as many bytes an index holds many postings with small frequencies, or fewer with fine ones; and
many rare terms, each with an entry in the dictionary, or more of the postings of others. The better
one depends on the queries: those by topic want the common order and fine frequencies, questions
about details of short texts want words to be there at all.

TF-IDF's scale is chosen by how it ranks, since TF-IDF counts every occurrence in full. A scale
below 1 leaves most frequencies at 1, and only those of words that a document repeats often above
it: that is the saturation that TF-IDF lacks.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..evaluation.runs import overlap
from ..progress import Progress
from ..simulation.bytes import estimate_bytes, estimate_dictionary_bytes, estimate_posting_bytes
from ..simulation.collection import rule_of_order
from ..simulation.problem import Problem, PrunedByFold, TermScores
from ..values.posting_rule import constants_of
from .selection import clearly_best, deciding

RANKING_SCALES = (0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 3)
"""The scales that :func:`best_ranking_scale` tries."""
KEPT_OVERLAP = 0.9  # the mean share of the ten best documents that the scale must keep
KEPT_WHERE_LITTLE_IS_DROPPED = 0.95
_LITTLE = 0.15  # up to this reduction the ranking matters first, and bytes second
_QUERIES = 300  # queries that the agreement is measured on, at most


class ChosenScale(NamedTuple):
    """A scale for one operating point."""

    table: list[dict[str, Any]]  # The scales tried, from the smallest, see :func:`describe_scale`
    entry: dict[str, Any]  # The table's entry of the scale chosen
    of_folds: list[float]  # The scale that each fold is measured at


ScaleChoice = Callable[[PrunedByFold], ChosenScale]
"""Chooses the scale at one reduction."""


def faithful_scale(at: PrunedByFold, *, least: float = 0.0, most: float = math.inf) -> ChosenScale:
    """Return the scale that keeps the real-valued ranking in the fewest bytes.

    Bytes and agreement grow with the scale, so the smallest scale that agrees is found by binary
    search. None below ``least`` or above ``most`` is tried, unless the index would be larger than
    the full one: then it is the largest scale at which it is not.
    """
    table: dict[float, dict[str, Any]] = {}
    best = best_documents(at)
    wanted = KEPT_WHERE_LITTLE_IS_DROPPED if at.reduction <= _LITTLE else KEPT_OVERLAP

    def tried(scale: float) -> dict[str, Any]:
        if scale not in table:
            table[scale] = describe_scale(at, scale, best)
        return table[scale]

    every = constants_of(at.problem.model).scales
    scales = [scale for scale in every if least <= scale <= most]
    bisect_left(scales, True, key=lambda scale: tried(scale)["overlap_at_10"] >= wanted)
    if faithful := [entry for entry in table.values() if entry["overlap_at_10"] >= wanted]:
        chosen = min(faithful, key=lambda entry: (entry["posting_bytes"], entry["scale"]))
    else:
        chosen = max(table.values(), key=lambda entry: (entry["overlap_at_10"], -entry["scale"]))
    if _is_larger(at.problem, chosen):
        smaller = [scale for scale in every if scale < chosen["scale"]]
        fitting = bisect_left(smaller, True, key=lambda scale: _is_larger(at.problem, tried(scale)))
        chosen = tried(smaller[fitting - 1] if fitting else every[0])
    of_folds = [chosen["scale"]] * len(at.folds)
    return ChosenScale([table[scale] for scale in sorted(table)], chosen, of_folds)


def best_ranking_scale(
    at: PrunedByFold, *, first: float, others: Sequence[float] = RANKING_SCALES
) -> ChosenScale:
    """Return the scale that ranks best, in no more bytes than the full index.

    It is the ``first``, unless one of the ``others`` serves held-out queries clearly better. Each
    fold is measured at the one that the other folds choose.
    """
    best = best_documents(at)
    table = {scale: describe_scale(at, scale, best) for scale in sorted({first, *others})}
    fitting = (scale for scale in others if not _is_larger(at.problem, table[scale]))
    scales = [first, *(scale for scale in fitting if scale != first)]
    served_by = np.array([deciding(at.held_out([scale] * len(at.folds))) for scale in scales])
    if len(at.folds) > 1:
        of_folds = [clearly_best(np.delete(served_by, fold, axis=1)) for fold in at.folds]
    else:  # nobody else could choose
        of_folds = [0]
    return ChosenScale(
        table=list(table.values()),
        entry=table[scales[clearly_best(served_by)]],
        of_folds=[scales[number] for number in of_folds],
    )


def _is_larger(problem: Problem, entry: Mapping[str, Any]) -> bool:
    size: int = entry["posting_bytes"] + entry["dictionary_bytes"]
    return size > problem.full.judged.plain_bytes


def describe_scale(at: PrunedByFold, scale: float, best: np.ndarray) -> dict[str, Any]:
    """Return the effect of rounding at this scale on the ranking.

    ``overlap_at_10`` is the mean share of the real-valued model's ten ``best`` documents that the
    integer index (with its recounted statistics and length bytes) also has among its ten best;
    ``posting_bytes`` and ``dictionary_bytes`` are estimates.
    ``best`` is from :func:`best_documents`.
    """
    sample = _sample(at.problem)
    here, collection = at.prune(scale)
    terms = here.matrix.vocabulary.terms
    found = here.postings.top(here.impacts(collection, sample), 10, sample)
    pairs = [(a[a >= 0].tolist(), b[b >= 0].tolist()) for a, b in zip(best, found)]
    pairs = [(a, b) for a, b in pairs if a]
    return {
        "scale": scale,
        "overlap_at_10": float(np.mean([overlap(*pair) for pair in pairs] or 1.0)),
        "posting_bytes": estimate_posting_bytes(here.matrix, collection),
        "dictionary_bytes": estimate_dictionary_bytes(terms, collection.statistics),
        "removed": 1 - (collection.postings or 0) / max(1, at.problem.matrix.collection_postings),
    }


def best_documents(at: PrunedByFold) -> np.ndarray:
    """Return int64[sampled queries, 10], the best documents of the real-valued model."""
    sample = _sample(at.problem)
    here, real = at.prune(None)
    return here.postings.top(here.impacts(real, sample), 10, sample)


def _sample(problem: Problem) -> np.ndarray:
    return np.unique(np.linspace(0, len(problem.queries) - 1, _QUERIES).astype(int))


class Tradeoff(NamedTuple):
    """A way to make an index small: with fewer rare terms, or coarser frequencies."""

    # How much a term's bytes count, see :func:`..values.posting_rule.order_terms`
    per_byte: float = 0.0
    finest: float = np.inf  # Scales are no larger than this where postings are dropped


TRADEOFFS = Tradeoff(), Tradeoff(0.0, 1.0), Tradeoff(0.5, 1.0), Tradeoff(1.0, 1.0)
"""The first is taken unless another is clearly better."""
SHARES = (0.85, 0.7, 0.55, 0.4)  # shares of the full index's bytes at which trade-offs are compared
_REDUCTIONS = (0.15, 0.45, 0.7)
"""Learning has points there, so their scales need not be found again."""
_IF_COARSE = (0.1, 0.45, 0.7)  # with small frequencies less need be dropped for as many bytes
_FEWEST_QUERIES = 100  # fewer cannot distinguish trade-offs


def choose_tradeoffs(
    problem: Problem,
    final: TermScores,
    queries: np.ndarray,
    folds: Sequence[np.ndarray],
    choose_scale: ScaleChoice,
    progress: Progress,
) -> list[Tradeoff]:
    """Return the trade-off that all ``queries`` choose, and for each fold that of the others.

    Nothing where there is no choice, or too few queries to choose by.

    Its worth to a query is the mean of :func:`.selection.deciding` at each of ``SHARES``. The first
    of ``TRADEOFFS`` stays unless the best is clearly better. ``final`` is of all queries, with the
    rule of the first: all have the same TDVs, so that these saw the queries favours none.
    """
    if not constants_of(problem.model).worth_per_byte or len(problem.queries) < _FEWEST_QUERIES:
        return []
    whole, worth = problem.full.judged.plain_bytes, []
    for number, tradeoff in enumerate(TRADEOFFS):
        progress("choose an order of postings", number, len(TRADEOFFS))
        scores, points = final, []
        if tradeoff.per_byte:
            rule = rule_of_order(
                problem.matrix, problem.model, problem.parameters, _IF_COARSE, tradeoff.per_byte
            )
            scores = TermScores(final.weights, rule)
        fine = np.isinf(tradeoff.finest)
        for reduction in _REDUCTIONS if fine else _IF_COARSE:
            at = PrunedByFold.in_one_fold(problem, scores, reduction)
            left, pruned = at.prune(choose_scale(at).entry["scale"] if fine else tradeoff.finest)
            size = estimate_bytes(left.matrix, pruned) / whole
            points.append((size, deciding(left.measure(pruned, queries))))
        worth.append(_at_shares(points))
    served = np.array(worth)
    voters = [np.flatnonzero(~np.isin(queries, fold)) for fold in (queries[:0], *folds)]
    return [TRADEOFFS[clearly_best(served[:, of])] if len(of) else TRADEOFFS[0] for of in voters]


def _at_shares(points: Sequence[tuple[float, np.ndarray]]) -> np.ndarray:
    """Return float64[n], the mean over ``SHARES`` of lines between (bytes, float64[n])."""
    by_size = sorted(points, key=lambda point: point[0])
    sizes, worth = [point[0] for point in by_size], np.array([point[1] for point in by_size])
    weights = [np.interp(SHARES, sizes, one).mean() for one in np.eye(len(sizes))]
    return np.asarray(weights @ worth)


def limit_scale(
    choose_scale: ScaleChoice, of_all: Tradeoff, of_folds: Sequence[Tradeoff]
) -> ScaleChoice:
    """Return the choice of scales, limited by the trade-offs where postings are dropped."""
    if np.isinf([of_all.finest, *(each.finest for each in of_folds)]).all():
        return choose_scale

    def choose(at: PrunedByFold) -> ChosenScale:
        if at.reduction == 0:
            return choose_scale(at)
        found = faithful_scale(at, most=of_all.finest)
        held = [min(s, each.finest) for s, each in zip(found.of_folds, of_folds)]
        return found._replace(of_folds=held)

    return choose
