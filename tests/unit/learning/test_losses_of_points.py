"""What points lose, and the choice of one by that."""

from __future__ import annotations

import pytest

from tdv_lucene.errors import TdvError
from tdv_lucene.learning.selection import (
    ABOVE,
    BEST,
    MOST_LOST,
    NO_RECALL,
    doubts,
    point_within_loss,
    recommend,
    smallest_level,
    within_loss,
)


def points(*measured: tuple[float, float], half: float = 0.0):
    """(reduction, nDCG@5) pairs with an interval of ``half`` either way; the full index has .5."""
    return [
        {
            "reduction": r,
            "measures": {"nDCG@5": m},
            "full": {"nDCG@5": 0.5},
            "difference": {"nDCG@5": {"mean": m - 0.5, "ci95": [m - 0.5 - half, m - 0.5 + half]}},
        }
        for r, m in measured
    ]


def test_the_largest_reduction_within_the_loss():
    path = points((0, 0.52), (0.3, 0.49), (0.45, 0.496), (0.6, 0.45))
    assert point_within_loss(path, 0.0)["reduction"] == 0
    assert point_within_loss(path, 0.01)["reduction"] == 0.45  # a share of .5, not .01 itself
    assert point_within_loss(path, 0.1)["reduction"] == 0.6


def test_where_every_point_loses_more_the_least_is_named():
    with pytest.raises(
        TdvError, match=r"best, 0.3, the worse end of the 95 % interval loses 2.0%.*max_loss 0.02"
    ):
        point_within_loss(points((0.3, 0.49), (0.6, 0.4)), 0.01)


def point(reduction: float, ndcg: tuple[float, float], recall: tuple[float, float]):
    """A point by the intervals of its differences; it is the smaller the more it removes."""
    ends = {"nDCG@5": ndcg, "R@1000": recall}
    return {
        "reduction": reduction,
        "posting_bytes": int(1000 * (1 - reduction)),
        "full": {"nDCG@5": 0.5, "R@1000": 0.9},
        "difference": {k: {"mean": sum(v) / 2, "ci95": list(v)} for k, v in ends.items()},
    }


def test_the_smallest_that_ranks_above_by_an_error_is_recommended():
    path = [
        point(0.0, (0.02, 0.06), (0.0, 0.01)),
        point(0.45, (0.01, 0.05), (-0.01, 0.01)),
        point(0.6, (-0.009, 0.03), (-0.02, 0.001)),
        point(0.7, (-0.011, 0.03), (-0.01, 0.01)),
    ]
    assert recommend(path) == (0.6, ABOVE)
    assert recommend(path[:2]) == (0.45, ABOVE)
    assert recommend(path[::-1]) == (0.6, ABOVE)
    path[2] = point(0.6, (-0.009, 0.03), (-0.02, -0.001))  # recall surely goes
    assert recommend(path, prior_reduction=0.8) == (0.45, ABOVE)


@pytest.mark.parametrize(
    ("ndcg", "recall", "beyond"),
    [
        ((-0.01, 0.05), (-0.018, -0.018), True),  # 2 % of the full index's .5 and .9
        ((-0.011, 0.06), (-0.018, -0.018), False),  # more cannot be excluded
        ((-0.1, 0.5), (-0.1, 0.1), False),  # as five queries are: far above, by luck or not
        ((-0.01, 0.05), (-0.06, 0.02), False),  # not significantly below, but below
        ((0.0, 0.0), (0.0, 0.0), False),  # no query has changed
    ],
)
def test_beyond_the_priors_reduction_a_loss_must_be_excluded(ndcg, recall, beyond):
    chosen = point(0.6, ndcg, recall)
    recall_lost = recall[1] < 0
    assert (not doubts(chosen)) is (beyond and not recall_lost)
    assert doubts(chosen, prior_reduction=0.6) == ({"R@1000"} if recall_lost else set())
    worse = point(0.3, (-0.4, 0.2), (-0.1, 0.1))
    assert recommend([worse, chosen], prior_reduction=0.3).reduction == (
        0.6 if beyond and not recall_lost else 0.3
    )
    known = recommend([worse, chosen], prior_reduction=0.6).reduction
    assert known == (0.3 if recall_lost else 0.6)


def test_where_no_point_ranks_above_the_best_is_recommended():
    unsure = [
        point(0.0, (-0.1, 0.09), (0.0, 0.01)),
        point(0.45, (-0.1, 0.15), (-0.1, 0.1)),
        point(0.6, (-0.1, 0.2), (-0.1, -0.01)),  # recall surely goes
    ]
    assert recommend(unsure, prior_reduction=0.6) == (0.45, BEST)
    assert recommend(unsure, prior_reduction=0.3) == (0.0, BEST)
    worse = [point(0.0, (-0.1, 0.09), (0.0, 0.01)), point(0.45, (-0.2, 0.1), (-0.1, 0.1))]
    assert recommend(worse, prior_reduction=0.6) == (0.0, BEST)
    lost = recommend([point(0.45, (0.1, 0.2), (-0.1, -0.01))], prior_reduction=0.6)
    assert lost == (0.0, NO_RECALL), "nothing is to be dropped"
    assert recommend([point(0.45, (-0.1, 0.2), (-0.1, 0.1))]).reduction == 0, "none is trusted"


def test_another_measure_chooses_another_point():
    path = [point(0.0, (0.02, 0.06), (0.0, 0.01)), point(0.45, (0.01, 0.05), (-0.01, 0.01))]
    for each, low, high in zip(path, (0.0, -0.02), (0.2, 0.02)):
        each["full"]["R@100"] = 0.5
        each["difference"]["R@100"] = {"mean": (low + high) / 2, "ci95": [low, high]}
    assert recommend(path, "nDCG@5").reduction == 0.45
    assert recommend(path, "R@100").reduction == 0
    assert point_within_loss(path, 0.03, "R@100")["reduction"] == 0
    assert point_within_loss(path, 0.05, "R@100")["reduction"] == 0.45


def test_the_smallest_whose_first_answers_are_level_may_lose_recall():
    far = (-0.3, -0.2)  # R@1000
    path = [
        point(0.0, (0.02, 0.06), (0.0, 0.01)),
        point(0.45, (-0.01, 0.03), far),
        point(0.6, (-0.02, 0.02), far),  # a standard error below 0 lie 2 % of .5
        point(0.7, (-0.03, 0.03), far),  # 3 %
        point(0.8, (-0.011, 0.01), far),
    ]
    assert smallest_level(path) == 0.6 and MOST_LOST == 0.02
    assert smallest_level(path[3:]) is None, "few queries tell nothing"


def test_a_log_also_excludes_what_leaves_the_first_thousand():
    path = points((0, 0.5), (0.3, 0.5), (0.6, 0.5))
    for each, share in zip(path, (0.99, 0.98, 0.5)):
        each["kept"] = {"10": 0.5, "1000": share}
    chosen = [point_within_loss(path, loss)["reduction"] for loss in (0.01, 0.02, 0.49, 0.5)]
    assert chosen == [0, 0.3, 0.3, 0.6] and within_loss(path, 0.0) == []
    with pytest.raises(TdvError, match=r"best, 0, .* loses 1.0%.*max_loss 0.01"):
        point_within_loss(path, 0.0)
