"""The recommended point, by its rule."""

from __future__ import annotations

import pytest

from tdv_lucene.learning.learned_values import loses_nothing, recommend


def point(reduction: float, ndcg: tuple[float, float], recall: tuple[float, float]):
    """A point by the intervals of its differences; it is the smaller the more it removes."""
    ends = {"nDCG@5": ndcg, "R@1000": recall}
    return {
        "reduction": reduction,
        "posting_bytes": int(1000 * (1 - reduction)),
        "difference": {k: {"mean": sum(v) / 2, "ci95": list(v)} for k, v in ends.items()},
    }


def test_the_smallest_that_loses_nothing_is_recommended():
    path = [
        point(0.0, (0.02, 0.06), (0.0, 0.01)),
        point(0.45, (0.01, 0.05), (-0.01, 0.01)),
        point(0.6, (0.0, 0.04), (-0.02, 0.001)),
        point(0.7, (-0.001, 0.03), (-0.01, 0.01)),
    ]
    assert recommend(path) == 0.6
    assert recommend(path[:2]) == 0.45
    assert recommend(path[::-1]) == 0.6


@pytest.mark.parametrize(
    ("ndcg", "recall", "nothing"),
    [
        ((0.0, 0.1), (-0.1, 0.0), True),
        ((-0.01, 0.1), (0.0, 0.1), False),  # may lose: better on average is not enough
        ((0.01, 0.1), (-0.02, -0.01), False),  # recall surely goes
    ],
)
def test_what_loses_nothing(ndcg, recall, nothing):
    assert loses_nothing(point(0.3, ndcg, recall)) is nothing


def test_where_every_point_may_lose_none_is_recommended():
    assert recommend([point(0.45, (-0.05, 0.2), (-0.1, 0.1))]) is None
    assert recommend([]) is None
