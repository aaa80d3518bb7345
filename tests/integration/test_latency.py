"""Latency: believed only when the timed search finds what the run holds."""

from __future__ import annotations

import numpy as np
import pytest
from index_facts import recorded_parameters
from lucene_indexes import Doc, write_index

from tdv_lucene import TdvError, search_index
from tdv_lucene.timing.latency import LatencyPlan, TimedIndex, measure_latency

pytestmark = pytest.mark.jvm

TOPICS = {"q1": "quick fox", "q2": "pruned index term", "q3": "nothing zyzzy"}


def timed(index, folder, name="run"):
    search_index(index, TOPICS, folder / name)
    return TimedIndex(index, recorded_parameters(index), folder / name)


def test_every_measurement_is_kept(tiny_index, tmp_path):
    timed_index = timed(tiny_index, tmp_path)
    latency = measure_latency(
        {"a": timed_index, "b": timed_index}, TOPICS, LatencyPlan(5, 1.0), raw=tmp_path / "raw.npy"
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
    assert latency.setup["gc_collections"] >= 0 <= latency.setup["gc_ms"]


def test_the_order_of_the_queries_is_seeded(tiny_index, tmp_path):
    topics = {f"q{i:02}": text for i, text in enumerate(["fox", "dog", "index term", "sleep"] * 5)}
    search_index(tiny_index, topics, tmp_path / "run")
    timed_index = TimedIndex(tiny_index, recorded_parameters(tiny_index), tmp_path / "run")
    one, again, other = [
        measure_latency(
            {"a": timed_index}, topics, LatencyPlan(5, 0.2, seed), raw=tmp_path / f"{i}.npy"
        ).queries
        for i, seed in enumerate((1, 1, 2))
    ]
    assert one == again != other
    assert set(one) <= set(topics) and one != sorted(one)


@pytest.fixture(scope="module")
def skippable(tmp_path_factory):
    """Documents of which the first are the best, and too many for a search to visit them all."""
    docs = [Doc(f"d{i:04}", ["common"] * (9 if i < 50 else 1) + ["odd"] * (i % 2))
            for i in range(3000)]  # fmt: skip
    return write_index(tmp_path_factory.mktemp("skippable") / "index", [docs[:2500], docs[2500:]])


def test_postings_visited_are_counted(skippable, tmp_path):
    """Exhaustive scoring stops at every posting, skipping at some; both do so again."""
    topics = {"one": "common", "two": "common odd", "none": "zyzzy"}
    search_index(skippable, topics, tmp_path / "run")
    timed_index = TimedIndex(skippable, recorded_parameters(skippable), tmp_path / "run")
    latency = measure_latency(
        {"a": timed_index, "b": timed_index}, topics, LatencyPlan(5, 1.0), raw=tmp_path / "raw.npy"
    )
    visited = {
        mode: dict(zip(latency.queries, counts[0], strict=True))
        for mode, counts in latency.postings_visited.items()
    }
    assert visited["exhaustive"] == {"one": 3000, "two": 3000 + 1500, "none": 0}
    for mode in ("top10", "top1000"):
        for query in topics:
            assert visited[mode][query] <= visited["exhaustive"][query]
    assert 1000 < visited["top10"]["one"] < 3000, "blocks after the best documents are skipped"
    for counts in latency.postings_visited.values():
        np.testing.assert_array_equal(counts[0], counts[1])


@pytest.mark.parametrize("spoil", [lambda lines: lines[1:], lambda lines: lines[::-1]])
def test_other_hits_than_the_runs_are_not_timed(tiny_index, tmp_path, spoil):
    timed_index = timed(tiny_index, tmp_path)
    timed_index.run.write_text(
        "".join(spoil(timed_index.run.read_text().splitlines(keepends=True)))
    )
    with pytest.raises(RuntimeError, match="other hits"):
        measure_latency({"a": timed_index}, TOPICS, LatencyPlan(5, 1.0), raw=tmp_path / "raw.npy")


@pytest.mark.parametrize(
    "wrong, named", [({"rounds": 4}, "rounds .* 4"), ({"budget_seconds": 0.0}, "latency_budget")]
)
def test_plans_out_of_range(wrong, named):
    with pytest.raises(TdvError, match=named):
        LatencyPlan(**wrong)
