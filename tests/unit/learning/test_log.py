"""Operating points by a query log."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from small_problem import make_collection

from tdv_lucene.errors import TdvError
from tdv_lucene.learning.log import (
    CALIBRATION,
    MAX_LOSS,
    _recommended,
    drawn,
    loss_by,
    values_by_log,
)
from tdv_lucene.prior.prior import prior_values
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.simulation.problem import JudgedMatrix, Problem
from tdv_lucene.simulation.retrieval import unjudged_queries
from tdv_lucene.values.losses import loss_of, most_loss_of, point_within_loss


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
        best.append(left.postings.top(left.impacts(pruned), 5))
    expected = [
        next((1 / np.log2(rank + 2) for rank, doc in enumerate(row) if doc == first), 0)
        for first, row in zip(best[0][:, 0], best[1])
    ]
    by_reduction = {point["reduction"]: point for point in found.points}
    assert by_reduction[0]["measures"]["nDCG@5"] > 0.9 and by_reduction[0]["scale"] == 1
    point = by_reduction[0.45]
    assert point["measures"]["nDCG@5"] == pytest.approx(np.mean(expected))
    assert np.mean(expected) < 1 and point["posting_bytes"] > 0


def test_the_largest_within_the_loss_is_recommended(collection):
    matrix, topics, values = collection
    found = values_by_log(values, matrix, topics)
    chosen = point_within_loss(found.points, MAX_LOSS)
    assert found.recommended_reduction == chosen["reduction"] == _recommended(found.points)
    assert most_loss_of(chosen) <= MAX_LOSS and most_loss_of(chosen) >= loss_of(chosen)
    larger = [p for p in found.points if p["reduction"] > chosen["reduction"]]
    assert all(most_loss_of(point) > MAX_LOSS for point in larger)
    np.testing.assert_array_equal(found.weights, values.weights)


def test_a_pool_measures_nearly_the_same(collection):
    matrix, topics, values = collection
    whole, pooled = (values_by_log(values, matrix, topics, pool=pool) for pool in (0, 200))
    for one, other in zip(whole.points, pooled.points):
        ours, theirs = one["measures"]["nDCG@5"], other["measures"]["nDCG@5"]
        assert ours == pytest.approx(theirs, abs=0.2)


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


def test_a_sure_log_loses_its_bound_and_an_unsure_one_gains():
    line = {"certain": 1.2, "unsure": 3.0, "gain": 0.2}
    assert loss_by(line, 0.1, 1.0) == pytest.approx(0.12)
    assert loss_by(line, 0.1, 0.8) == pytest.approx(0.06 - 0.04)
    assert loss_by(line, 0.1, 0.4) == loss_by(line, 0.1, 0.6)  # no set was less sure


def test_a_log_without_sure_answers_lets_not_everything_be_dropped():
    line = json.loads(CALIBRATION.read_text(encoding="utf-8"))["loss_at_most"]
    assert loss_by(line, 0.6, 0.3) > MAX_LOSS
    assert loss_by(line, 0.6, 0.3) > loss_by(line, 0.3, 0.3)


def test_the_lines_of_the_package_never_expect_less_than_the_worst():
    lines = json.loads(CALIBRATION.read_text(encoding="utf-8"))
    for bound in np.linspace(0, 0.35, 8):
        for same in np.linspace(0.5, 1, 6):
            losses = [loss_by(lines[name], bound, same) for name in ("loss", "loss_at_most")]
            assert losses[0] <= losses[1] + 0.002


def test_points_keep_their_scales_and_first_answers_are_those_of_the_largest(collection):
    matrix, topics, values = collection
    points = [{**p, "scale": 4.0 if p["reduction"] else 0.01} for p in values.points]
    other = replace(values, manifest={**values.manifest, "points": points})
    found = values_by_log(other, matrix, topics).points
    assert [point["scale"] for point in found] == [0.01, *[4.0] * (len(found) - 1)]
    unsure = [{**point, "expected": {"loss": 0.1, "loss_at_most": 0.2}} for point in found]
    assert _recommended(unsure) == 0, "nothing is surely borne: nothing is dropped"
    assert (
        loss_of({**found[0], "expected": {"loss": -found[0]["difference"]["nDCG@5"]["mean"]}}) > 0
    )
