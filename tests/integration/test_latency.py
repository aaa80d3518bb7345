"""Latency: every measurement is kept, and the order of the queries is seeded."""

from __future__ import annotations

import numpy as np
import pytest
from index_facts import recorded_parameters

from tdv_lucene import TdvError
from tdv_lucene.timing.latency import LatencyPlan, measure_latency

pytestmark = pytest.mark.jvm

TOPICS = {"q1": "quick fox", "q2": "pruned index term", "q3": "nothing zyzzy"}


@pytest.mark.parametrize("exhaustive", [False, True])
def test_every_measurement_is_kept(tiny_index, tmp_path, exhaustive):
    timed_index = tiny_index, recorded_parameters(tiny_index)
    plan = LatencyPlan(5, 1.0, exhaustive=exhaustive)
    latency = measure_latency(
        {"a": timed_index, "b": timed_index}, TOPICS, plan, raw=tmp_path / "raw.npy"
    )
    assert latency.rounds_ms.shape == (5, 2, 2, 3)
    assert set(latency.queries) == set(TOPICS)
    assert (latency.rounds_ms > 0).all()
    middle = np.median(latency.rounds_ms[:, 0, 1], axis=0)
    np.testing.assert_array_equal(latency.per_query_ms("top10", "b"), middle)
    summary = latency.summary("b")["top10"]
    assert summary["mean"] == pytest.approx(middle.mean())
    assert summary["p50"] == pytest.approx(np.median(middle))
    assert latency.setup["queries_timed"] == 3 and latency.setup["warmup_rounds"] >= 3


def test_the_order_of_the_queries_is_seeded(tiny_index, tmp_path):
    topics = {f"q{i:02}": text for i, text in enumerate(["fox", "dog", "index term", "sleep"] * 5)}
    timed_index = tiny_index, recorded_parameters(tiny_index)
    one, again, other = [
        measure_latency(
            {"a": timed_index}, topics, LatencyPlan(5, 0.2, seed), raw=tmp_path / f"{i}.npy"
        ).queries
        for i, seed in enumerate((1, 1, 2))
    ]
    assert one == again != other
    assert set(one) <= set(topics) and one != sorted(one)


@pytest.mark.parametrize(
    "wrong, named", [({"rounds": 4}, "rounds .* 4"), ({"budget_seconds": 0.0}, "latency_budget")]
)
def test_plans_out_of_range(wrong, named):
    with pytest.raises(TdvError, match=named):
        LatencyPlan(**wrong)
