"""Operating points by a query log."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_problem import make_collection

from tdv_lucene import TdvError, prior_values
from tdv_lucene.evaluation.topics import drawn
from tdv_lucene.learning.log import MAX_LOSS, values_by_log
from tdv_lucene.learning.selection import most_loss_of
from tdv_lucene.learning.validate import interval_of, interval_of_log
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.simulation.problem import JudgedMatrix, Problem
from tdv_lucene.simulation.retrieval import unjudged_queries


@pytest.fixture(scope="module")
def collection():
    matrix, topics, _ = make_collection()
    return matrix, {**topics, "unknown": ["nowhere"]}, prior_values(matrix, quiet=True)


def test_the_first_answers_with_nothing_dropped_are_the_relevant_ones(collection):
    matrix, topics, values = collection
    found = values_by_log(values, matrix, topics)
    assert found.manifest["log"]["queries"] == len(topics) - 1 and found.manifest["queries"] == 0
    queries = unjudged_queries(matrix, topics)
    problem = Problem(
        JudgedMatrix(matrix, queries), None, "bm25", Parameters().with_values(values.parameters)
    )
    best = []
    for reduction in (0, 0.45):
        left, pruned = problem.pruned(replace(values.at_reduction(reduction), scale=3.0))
        best.append(left.postings.top(left.impacts(pruned), 1000))
    expected = [
        next((1 / np.log2(rank + 2) for rank, doc in enumerate(row[:5]) if doc == first), 0)
        for first, row in zip(best[0][:, 0], best[1])
    ]
    by_reduction = {point["reduction"]: point for point in found.points}
    assert by_reduction[0]["measures"]["nDCG@5"] > 0.9 and by_reduction[0]["scale"] == 1
    point = by_reduction[0.45]
    assert point["measures"]["nDCG@5"] == pytest.approx(np.mean(expected))
    assert np.mean(expected) < 1 and point["posting_bytes"] > 0
    for depth in (10, 100, 1000):
        pairs = [
            (set(row[row >= 0]), set(other[:depth])) for row, other in zip(best[0][:, :10], best[1])
        ]
        shares = [len(ten & found) / len(ten) for ten, found in pairs]
        assert point["kept"][f"{depth}"] == pytest.approx(np.mean(shares))
    assert point["kept"]["10"] < 1


def test_the_largest_within_the_loss_is_recommended(collection):
    matrix, topics, values = collection
    found = values_by_log(values, matrix, topics)
    chosen = found.recommended_reduction
    larger = [p for p in found.points if p["reduction"] > chosen]
    assert larger, "not everything is dropped"
    assert all(most_loss_of(p) > MAX_LOSS or p["kept"]["1000"] < 1 - MAX_LOSS for p in larger)
    np.testing.assert_array_equal(found.weights, values.weights)


def test_a_log_without_a_change_may_still_lose_one_more_query(collection):
    matrix, topics, values = collection
    point = values_by_log(values, matrix, topics).points[0]
    change = point["difference"]["R@1000"]
    assert change["mean"] == 0 and change["ci95"][0] < -1 / len(topics)


def test_a_bound_holds_for_as_many_other_queries():
    """The interval of the mean alone would be broken more than twice as often."""
    logs, others = -np.random.default_rng(1).beta(0.5, 2, (2, 1000, 100))
    lost = -others.mean(axis=1)

    def broken(interval):
        return np.mean([-interval(log)[0] < loss for log, loss in zip(logs, lost)])

    assert broken(interval_of) > 0.05 > broken(interval_of_log)


def test_a_log_that_finds_nothing_is_refused(collection):
    matrix, _, values = collection
    with pytest.raises(TdvError, match="none of the 2 queries has a term of the field 'contents'"):
        values_by_log(values, matrix, {"a": ["nowhere"], "b": []})


def test_a_log_of_few_queries_chooses_nothing(collection):
    """Two or three of which none changes tell nothing."""
    matrix, topics, values = collection
    few = dict([*topics.items()][:3])
    with pytest.raises(TdvError, match=r"too few queries .* \(3\): at least 17"):
        values_by_log(values, matrix, few)


def test_long_logs_are_drawn_from():
    log = {f"q{n}": "x" for n in range(2500)}
    some = drawn(log, 0)
    assert len(some) == 1000 and list(some) == [name for name in log if name in some]
    assert some == drawn(log, 0) != drawn(log, 1)
    assert drawn({"a": "x", "b": "y"}, 3) == {"a": "x", "b": "y"}


def test_points_keep_their_scales_and_first_answers_are_those_of_the_largest(collection):
    matrix, topics, values = collection
    points = [{**p, "scale": 4.0 if p["reduction"] else 0.01} for p in values.points]
    other = replace(values, manifest={**values.manifest, "points": points})
    found = values_by_log(other, matrix, topics).points
    assert [point["scale"] for point in found] == [0.01, *[4.0] * (len(found) - 1)]
