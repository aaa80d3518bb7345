"""Which operating point is recommended: a rule a user can repeat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def recommend(points: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the reduction of the smallest index that loses nothing, None where none is sure to.

    A point loses nothing when the 95 % interval of its held-out difference from the tuned full
    index is not below 0 anywhere in nDCG@5, and not wholly below 0 in R@1000. With few queries
    intervals are wide, and little or nothing is recommended: pruning then asks.
    """
    lossless = [point for point in points if loses_nothing(point)]
    if not lossless:
        return None
    return float(min(lossless, key=lambda point: point["posting_bytes"])["reduction"])


def loses_nothing(point: Mapping[str, Any]) -> bool:
    """Whether :func:`recommend` may choose this point."""
    low = point["difference"]["nDCG@5"]["ci95"][0]
    return bool(low >= 0 and point["difference"]["R@1000"]["ci95"][1] >= 0)
