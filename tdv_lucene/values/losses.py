"""What operating points lose of a measure, and the choice of a point by that."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..arguments import checked_share
from ..errors import TdvError, argument

MEASURE = "nDCG@5"
"""What points are chosen by, unless learning was told another."""
MEASURES = (MEASURE, "nDCG@10", "RR@10", "R@100", "R@1000")
"""What they may be chosen by."""
MOST_LOST = 0.02
"""The share of the tuned full index's measure, and of its R@1000, that an index may lose which is
recommended beyond the prior's reduction. What known collections lose at that is bounded by as much
(see :meth:`..prior.prior.Prior.settings`)."""
ABOVE, BEST, NO_RECALL, TOO_FEW = "above", "best", "recall", "few"
"""Why a reduction is recommended: its index is the smallest that ranks above the tuned full one;
none does, and it ranks best; none keeps R@1000; or the queries are too few, and it is the prior's.
"""

Point = Mapping[str, Any]


class Recommended(NamedTuple):
    """A reduction, and why it is recommended: ``ABOVE``, ``BEST``, ``NO_RECALL`` or ``TOO_FEW``;
    None where nothing was compared."""

    reduction: float
    because: str | None


def loss_of(point: Point, measure: str = MEASURE) -> float:
    """Return the share of the tuned full index's ``measure`` lost on held-out queries; a gain is
    below 0. By a query log: what is expected of nDCG@5 against the full index as it is."""
    if "expected" in point:
        return float(point["expected"]["loss"])
    full = point["full"][measure]
    return 1 - point["measures"][measure] / full if full > 0 else 0.0


def most_loss_of(point: Point, measure: str = MEASURE) -> float:
    """Return the largest :func:`loss_of` within the 95 % interval of the difference, or by a
    query log the careful one (see :mod:`..learning.log`)."""
    if "expected" in point:
        return float(point["expected"]["loss_at_most"])
    full = point["full"][measure]
    return -point["difference"][measure]["ci95"][0] / full if full > 0 else 0.0


def point_within_loss(points: Sequence[Point], max_loss: float, measure: str = MEASURE) -> Point:
    """Return the validated point of the largest reduction whose :func:`most_loss_of` is allowed.

    Other queries may lose more than the held-out ones did on average; the interval says how much.

    Raises :class:`TdvError` when ``max_loss`` is out of its range, nothing was validated, or every
    point may lose more.
    """
    checked_share(max_loss, "max_loss")
    validated = [point for point in points if measure in point.get("difference", ())]
    if not validated:
        raise TdvError(
            f"{argument('max_loss')} needs reductions that 'learn' has measured, with intervals, "
            f"and these TDVs have none: pass {argument('reduction')}, or TDVs from 'tdv-lucene "
            "learn' of this version"
        )
    borne = [point for point in validated if most_loss_of(point, measure) <= max_loss]
    if borne:
        return max(borne, key=lambda point: float(point["reduction"]))
    best = min(validated, key=lambda point: most_loss_of(point, measure))
    most = most_loss_of(best, measure)
    enough = math.ceil(most * 1000) / 1000
    is_estimate = "expected" in best
    worst = "careful estimate" if is_estimate else "worse end of the 95 % interval"
    more = "pass a longer log" if is_estimate else "learn from more judged queries"
    raise TdvError(
        f"no measured reduction is sure to lose at most {max_loss:.1%} of {measure}: at the best, "
        f"{best['reduction']:g}, the {worst} loses {most:.1%}; "
        f"pass {argument('max_loss', f'{enough:g}')} or {argument('reduction')}, or {more}"
    )


def recommend(
    points: Sequence[Point], measure: str = MEASURE, prior_reduction: float = 0.0
) -> Recommended:
    """Return the reduction of the smallest index that :func:`ranks_above` the tuned full one; if
    there is none, that of the index that ranks best.

    Without a margin luck would choose; with the 95 % interval as margin, 150 queries would hardly
    ever let anything be dropped. But of few queries a standard error is no margin either: it is
    large, and as little known as the mean. So only up to ``prior_reduction``, which other
    collections bore, need no more be shown; beyond, an index must be one that
    :func:`surely_loses_little`. An index that is wholly below 0 in R@1000 is never recommended; 0,
    to drop nothing, if all are.
    """
    finding = [point for point in points if keeps_recall(point)]
    if not finding:
        return Recommended(0.0, NO_RECALL)
    trusted = [
        point
        for point in finding
        if point["reduction"] <= prior_reduction or surely_loses_little(point, measure)
    ]
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


def ranks_above(point: Point, measure: str = MEASURE) -> bool:
    """Whether the held-out difference from the tuned full index is above 0 by half of its 95 %
    interval's half, about one standard error. No difference at all, of any query, is not above."""
    difference = point["difference"][measure]
    return bool((difference["mean"] + difference["ci95"][0]) / 2 > 0)


def surely_loses_little(point: Point, measure: str = MEASURE) -> bool:
    """Whether at most ``MOST_LOST`` is lost: of ``measure`` even at the worse end of its 95 %
    interval, of R@1000 on the mean. Not being significantly below is easy for few queries, and so
    is that none has changed: then there is no interval to speak of."""
    lost_recall = -point["difference"]["R@1000"]["mean"]
    low, high = point["difference"][measure]["ci95"]
    return bool(
        low < high
        and most_loss_of(point, measure) <= MOST_LOST
        and lost_recall <= MOST_LOST * point["full"]["R@1000"]
    )


def keeps_recall(point: Point) -> bool:
    """Whether the difference in R@1000 is not wholly below 0."""
    return bool(point["difference"]["R@1000"]["ci95"][1] >= 0)
