"""What operating points lose of a measure, and the choice of a point by that."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..arguments import checked_share
from ..errors import TdvError, argument

MEASURE = "nDCG@5"
"""What points are chosen by, unless learning was told another."""
MEASURES = (MEASURE, "nDCG@10", "RR@10", "R@100", "R@1000")
"""What they may be chosen by."""

Point = Mapping[str, Any]


def loss_of(point: Point, measure: str = MEASURE) -> float:
    """Return the share of the tuned full index's ``measure`` lost on held-out queries; a gain is
    below 0. By a query log: what is expected of nDCG@5 against the full index as it is."""
    if "expected" in point:
        return float(point["expected"]["loss"])
    full = point["full"][measure]
    return 1 - point["measures"][measure] / full if full > 0 else 0.0


def most_loss_of(point: Point, measure: str = MEASURE) -> float:
    """Return the largest :func:`loss_of` within the 95 % interval of the difference, or by a
    query log the careful one (see :mod:`..learning.by_log`)."""
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
            f"{argument('max_loss')} needs points that were validated on held-out queries with "
            f"their intervals, and these TDVs have none: pass {argument('reduction')}, or TDVs "
            "from 'tdv-lucene learn' of this version"
        )
    borne = [point for point in validated if most_loss_of(point, measure) <= max_loss]
    if borne:
        return max(borne, key=lambda point: float(point["reduction"]))
    best = min(validated, key=lambda point: most_loss_of(point, measure))
    most = most_loss_of(best, measure)
    enough = math.ceil(most * 1000) / 1000
    raise TdvError(
        f"no validated point surely loses at most {max_loss:.1%} of {measure}: the interval of "
        f"the best, at a reduction of {best['reduction']:g}, reaches to {most:.1%}; "
        f"pass {argument('max_loss', f'{enough:g}')} or {argument('reduction')}, or learn from "
        "more queries"
    )


def recommend(points: Sequence[Point], measure: str = MEASURE) -> float:
    """Return the reduction of the smallest index that :func:`ranks_above` the tuned full one; if
    there is none, that of the index that ranks best.

    Without a margin luck would choose; with the 95 % interval as margin, 150 queries would hardly
    ever let anything be dropped. An index that is wholly below 0 in R@1000 is never recommended; 0,
    to drop nothing, if all are.
    """
    finding = [point for point in points if keeps_recall(point)]
    above = [point for point in finding if ranks_above(point, measure)]
    if above:
        chosen = min(above, key=lambda point: float(point["posting_bytes"]))
    else:
        chosen = max(
            finding,
            key=lambda point: float(point["difference"][measure]["mean"]),
            default={"reduction": 0.0},
        )
    return float(chosen["reduction"])


def ranks_above(point: Point, measure: str = MEASURE) -> bool:
    """Whether the held-out difference from the tuned full index is above 0 by half of its 95 %
    interval's half, about one standard error, and not wholly below 0 in R@1000."""
    difference = point["difference"][measure]
    by_an_error = (difference["mean"] + difference["ci95"][0]) / 2
    return bool(by_an_error >= 0 and keeps_recall(point))


def keeps_recall(point: Point) -> bool:
    """Whether the difference in R@1000 is not wholly below 0."""
    return bool(point["difference"]["R@1000"]["ci95"][1] >= 0)
