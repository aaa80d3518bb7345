"""Latency: believed only when the timed search finds what the run holds."""

from __future__ import annotations

import numpy as np
import pytest

from tdv_lucene.end_to_end import measure_end_to_end
from tdv_lucene.errors import TdvError
from tdv_lucene.latency import LatencyPlan, TimedIndex, measure_latency
from tdv_lucene.search import recorded_parameters, search_index

pytestmark = pytest.mark.jvm

TOPICS = {"q1": "quick fox", "q2": "pruned index term", "q3": "nothing zyzzy"}


def timed(index, folder, name="run"):
    search_index(index, TOPICS, folder / name)
    return TimedIndex(index, recorded_parameters(index), folder / name)


def test_every_measurement_is_kept(tiny_index, tmp_path):
    of = timed(tiny_index, tmp_path)
    latency = measure_latency(
        {"a": of, "b": of}, TOPICS, LatencyPlan(5, 1.0), raw=tmp_path / "raw.npy"
    )
    assert latency.rounds_ms.shape == (5, 4, 2, 3)
    assert set(latency.queries) == set(TOPICS)
    assert (latency.rounds_ms > 0).all()
    middle = np.median(latency.rounds_ms[:, 2, 1], axis=0)
    np.testing.assert_array_equal(latency.per_query_ms("top10_exhaustive", "b"), middle)
    summary = latency.summary("b", exhaustive=True)["top10"]
    assert summary["mean"] == pytest.approx(middle.mean())
    assert summary["p50"] == pytest.approx(np.median(middle))
    assert latency.setup["queries_timed"] == 3 and latency.setup["warmup_rounds"] >= 3


def test_the_sample_is_seeded(tiny_index, tmp_path):
    of = timed(tiny_index, tmp_path)
    orders = [
        measure_latency(
            {"a": of}, TOPICS, LatencyPlan(5, 0.2, seed), raw=tmp_path / f"{i}.npy"
        ).queries
        for i, seed in enumerate((1, 1))
    ]
    assert orders[0] == orders[1]


@pytest.mark.parametrize("spoil", [lambda lines: lines[1:], lambda lines: lines[::-1]])
def test_other_hits_than_the_runs_are_not_timed(tiny_index, tmp_path, spoil):
    of = timed(tiny_index, tmp_path)
    of.run.write_text("".join(spoil(of.run.read_text().splitlines(keepends=True))))
    with pytest.raises(RuntimeError, match="returns other hits than the run"):
        measure_latency({"a": of}, TOPICS, LatencyPlan(5, 1.0), raw=tmp_path / "raw.npy")


def test_plans_out_of_range():
    with pytest.raises(TdvError, match="rounds=4 is out of range"):
        LatencyPlan(rounds=4)
    with pytest.raises(TdvError, match="latency budget 0.0 s is out of range"):
        LatencyPlan(budget_seconds=0.0)


@pytest.mark.pyserini
def test_end_to_end_through_pyserini(tiny_index, tmp_path):
    of = timed(tiny_index, tmp_path)
    found = measure_end_to_end({"a": of, "b": of}, TOPICS)
    assert found["queries"] == 3
    for ms in found["ms"].values():
        assert 0 < ms["p50"] <= ms["p99"]
