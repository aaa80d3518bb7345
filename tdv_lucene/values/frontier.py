"""Which operating point is recommended: a rule that a user can check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def recommend(points: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the reduction of the smallest index that surely ranks no worse; None if there is none.

    That is a point whose 95 % interval of the held-out difference from the tuned full index does
    not reach below 0 in nDCG@5, and is not wholly below 0 in R@1000. With few queries intervals
    are wide, and little or nothing is recommended: pruning then asks for a reduction.
    """
    lossless = [point for point in points if loses_nothing(point)]
    if not lossless:
        return None
    return float(min(lossless, key=lambda point: point["posting_bytes"])["reduction"])


def loses_nothing(point: Mapping[str, Any]) -> bool:
    """Whether :func:`recommend` may choose this point."""
    low = point["difference"]["nDCG@5"]["ci95"][0]
    return bool(low >= 0 and point["difference"]["R@1000"]["ci95"][1] >= 0)
