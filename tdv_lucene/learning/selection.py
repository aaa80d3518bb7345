"""Careful choices: what operating points lose, which one to take, and when to stay put."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arguments import checked_share
from ..errors import TdvError
from ..evaluation.tuning import OBJECTIVE
from ..simulation.retrieval import MEASURES as MEASURED
from ..values.term_values import MEASURE

RECALL = "R@1000"
MEASURES = (MEASURE, "nDCG@10", "RR@10", "R@100", RECALL)  # measures that points may be chosen by
FIRST_TEN = MEASURES[:3]  # those of the first ten answers
MOST_LOST = 0.02
"""The share of the tuned full index's measure, and of its R@1000, that an index may lose which is
recommended beyond the prior's reduction. What known collections lose at that is bounded by as much
(see :meth:`.prior.Prior.settings`)."""
ABOVE, BEST, NO_RECALL, TOO_FEW = "above", "best", "recall", "few"
"""Why a reduction is recommended: its index is the smallest that ranks above the tuned full one;
none does, and it ranks best; none keeps R@1000; or the queries are too few, and it is the prior's.
"""
_SIGNIFICANCE = 0.05
_CHOSEN_BY = (OBJECTIVE, "nDCG@1000")
"""Their mean decides how far TDVs are trusted and what is dropped.

The objective alone tunes k1, b, mu and the boost, which leave every posting: whatever has a query's
term is still found. TDVs and orders can lose what only some terms find, far below the first five,
and that must count too.
"""

Point = Mapping[str, Any]


class Recommended(NamedTuple):
    """A reduction, and why it is recommended: ``ABOVE``, ``BEST``, ``NO_RECALL`` or ``TOO_FEW``;
    None where nothing was compared."""

    reduction: float
    because: str | None


def loss_of(point: Point, measure: str = MEASURE) -> float:
    """Return the share of the tuned full index's ``measure`` lost on held-out queries, below 0
    for a gain; of points measured by a query log, the bound of that (see :mod:`.log`)."""
    full = point["full"][measure]
    return 1 - point["measures"][measure] / full if full > 0 else 0.0


def most_loss_of(point: Point, measure: str = MEASURE) -> float:
    """Return the largest :func:`loss_of` within the 95 % interval of the difference."""
    full = point["full"][measure]
    return -point["difference"][measure]["ci95"][0] / full if full > 0 else 0.0


def within_loss(points: Sequence[Point], max_loss: float, measure: str = MEASURE) -> list[Point]:
    """Return the points whose :func:`most_loss_of` is allowed. By a query log, so must be the share
    of the whole's ten best that are no longer among the first 1,000: R@1000 is not in the bound.

    Other queries may lose more than the held-out ones did on average; the interval says how much.
    """
    return [p for p in points if most_loss_of(p, measure) <= max_loss and _kept(p) >= 1 - max_loss]


def _kept(point: Point) -> float:
    kept: Mapping[str, float] = point.get("kept", {})
    return kept.get("1000", 1.0)


def point_within_loss(points: Sequence[Point], max_loss: float, measure: str = MEASURE) -> Point:
    """Return the validated point of the largest reduction that is :func:`within_loss`."""
    checked_share(max_loss, "max_loss")
    validated = [point for point in points if measure in point.get("difference", ())]
    if not validated:
        raise TdvError(
            "max_loss needs reductions that 'learn' has measured, with intervals, "
            "and these TDVs have none: pass reduction, or TDVs from 'tdv-lucene "
            "learn' of this version"
        )
    if borne := within_loss(validated, max_loss, measure):
        return max(borne, key=lambda point: float(point["reduction"]))

    def lost(point: Point) -> float:
        return max(most_loss_of(point, measure), 1 - _kept(point))

    best = min(validated, key=lost)
    most = lost(best)
    enough = math.ceil(most * 1000) / 1000
    more = "pass a longer log" if "kept" in best else "learn from more judged queries"
    raise TdvError(
        f"no measured reduction is sure to lose at most {max_loss:.1%} of {measure}: at the best, "
        f"{best['reduction']:g}, the worse end of the 95 % interval loses {most:.1%}; "
        f"pass max_loss {enough:g} or reduction, or {more}"
    )


def recommend(
    points: Sequence[Point], measure: str = MEASURE, prior_reduction: float = 0.0
) -> Recommended:
    """Return the reduction of the smallest index that :func:`ranks_above` the tuned full one; if
    there is none, that of the index that ranks best.

    Without a margin luck would choose; with the 95 % interval as margin, 150 queries would hardly
    ever let anything be dropped. Nothing that :func:`doubts` speak against is recommended; 0, to
    drop nothing, if all indexes are wholly below 0 in R@1000.
    """
    if not any(map(keeps_recall, points)):
        return Recommended(0.0, NO_RECALL)
    trusted = [p for p in points if not doubts(p, measure, prior_reduction)]
    above = [point for point in trusted if ranks_above(point, measure)]
    if above:
        chosen = min(above, key=lambda point: float(point["posting_bytes"]))
        return Recommended(float(chosen["reduction"]), ABOVE)
    best = max(  # of equals the first, which drops least
        trusted,
        key=lambda point: float(point["difference"][measure]["mean"]),
        default={"reduction": 0.0},
    )
    return Recommended(float(best["reduction"]), BEST)


def smallest_level(points: Sequence[Point], measure: str = MEASURE) -> float | None:
    """Return the reduction of the smallest index that ranks its first answers level with the tuned
    full one, whatever R@1000; None if there is none.

    Level: not below on the mean, and by at most ``MOST_LOST`` a standard error below that.
    """
    level = [
        point
        for point in points
        if point["difference"][measure]["mean"] >= 0
        and -_lower(point, measure) <= MOST_LOST * point["full"][measure]
    ]
    smallest = min(level, key=lambda point: float(point["posting_bytes"]), default=None)
    return None if smallest is None else float(smallest["reduction"])


def doubts(point: Point, measure: str = MEASURE, prior_reduction: float = 0.0) -> set[str]:
    """Return the measures that speak against a point.

    R@1000 does if it is wholly below 0. Of few queries a standard error is no margin: it is large,
    and as little known as the mean. So beyond ``prior_reduction``, which other collections bore, an
    index must surely lose little: at most ``MOST_LOST`` of ``measure``, even at the worse end of
    its 95 % interval, and of R@1000 on the mean. Not being significantly below is easy for few
    queries, and so is that none has changed: then there is no interval to speak of.
    """
    found, beyond = set(), point["reduction"] > prior_reduction
    low, high = point["difference"][measure]["ci95"]
    if beyond and not (low < high and most_loss_of(point, measure) <= MOST_LOST):
        found.add(measure)
    lost_recall = -point["difference"][RECALL]["mean"]
    if not keeps_recall(point) or beyond and lost_recall > MOST_LOST * point["full"][RECALL]:
        found.add(RECALL)
    return found


def ranks_above(point: Point, measure: str = MEASURE) -> bool:
    """Tell whether the held-out difference from the tuned full index is above 0 by half of its 95 %
    interval's half, about one standard error. No difference at all, of any query, is not above."""
    return _lower(point, measure) > 0


def _lower(point: Point, measure: str) -> float:
    """Return the difference less half of its interval's half, about one standard error."""
    difference = point["difference"][measure]
    return float(difference["mean"] + difference["ci95"][0]) / 2


def keeps_recall(point: Point) -> bool:
    """Tell whether the difference in R@1000 is not wholly below 0."""
    return bool(point["difference"][RECALL]["ci95"][1] >= 0)


def deciding(measured: np.ndarray) -> np.ndarray:
    """Return float64[n], the worth of each query's ranking, from all ``MEASURED``."""
    chosen = measured[:, [MEASURED.index(name) for name in _CHOSEN_BY]]
    return np.asarray(chosen.mean(axis=1))


def clearly_better(one: np.ndarray, other: np.ndarray) -> bool:
    """Tell whether ``one`` float64[n] is above ``other`` by a two-tailed paired t-test (p < .05).

    ``one`` must have the larger mean.
    """
    if len(one) < 2:
        return False
    if np.ptp(one - other) == 0:  # no spread, no test
        return bool(one[0] > other[0])
    from scipy import stats  # takes longer to import than all else here

    return bool(stats.ttest_rel(one, other).pvalue < _SIGNIFICANCE)


def first_of_the_best(served_by: Sequence[np.ndarray]) -> int:
    """Return the first choice that the best does not significantly beat.

    With the mildest first it is the one that goes no further than the queries make sure: the best
    for one kind of query goes too far for others, and few queries would choose it by chance.

    ``served_by`` holds float64[n] for each choice: the worth to each query.
    """
    best = max(served_by, key=np.mean)
    return next(k for k, served in enumerate(served_by) if not clearly_better(best, served))


def clearly_best(served_by: np.ndarray) -> int:
    """Return the best row of float64[ways, queries] if it is clearly better than the first.

    The first suits all kinds of query well enough; a few queries of one kind would move away from
    it by chance.
    """
    best = int(np.argmax(served_by.mean(axis=1)))
    return best if best and clearly_better(served_by[best], served_by[0]) else 0
