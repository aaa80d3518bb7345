"""Ratios of latencies, and which queries make a stratum."""

from __future__ import annotations

import numpy as np
import pytest

from tdv_lucene.timing.latency import Latency, QueryTerms, paired_ratio, summarise_speed


def test_the_interval_is_paired():
    """Queries that differ by a thousand times, each exactly twice as fast: nothing is uncertain."""
    before = np.geomspace(0.01, 10, 50)
    found = paired_ratio(before, before / 2)
    assert found["ratio"] == pytest.approx(2.0)
    assert found["ci95"] == pytest.approx([2.0, 2.0])


DOC_FREQ = {
    "full": {"a": 10, "b": 5, "c": 2, "new": 0},
    "pruned": {"a": 0, "b": 4, "c": 2, "new": 0},
    "tuned": {"a": 10, "b": 5, "c": 2, "new": 0},
}


def test_terms_of_a_query():
    terms = QueryTerms(("a", "b", "new"), DOC_FREQ)
    assert terms.terms_gone("full", "pruned") == 1 / 2, "a term neither has was not dropped"
    assert terms.thinned("full", "pruned") == {"a": 1.0, "b": pytest.approx(0.2)}
    assert terms.postings_gone("full", "pruned") == pytest.approx(11 / 15)
    assert QueryTerms(("new",), DOC_FREQ).postings_gone("full", "pruned") == 0.0


def test_strata_and_work():
    queries = {
        "q1": QueryTerms(("b",), DOC_FREQ),
        "q2": QueryTerms(("a", "b", "c"), DOC_FREQ),
        "q3": QueryTerms(("a",), DOC_FREQ),
    }
    rounds = np.ones((5, 4, 3, 3))
    rounds[:, :, 0, 1] = 3.0
    visited = {"top10": np.array([[5, 9, 7], [4, 5, 0], [5, 9, 7]])}
    latency = Latency(("full", "pruned", "tuned"), ("q1", "q2", "q3"), rounds, visited, {})
    found = summarise_speed(latency, queries)
    of_tuned = {
        name: sum(row["queries"] for row in rows if row["index"] == "tuned")
        for name, rows in found["latency_strata"].items()
    }
    assert of_tuned == {"by_length": 3, "by_dropped": 0, "by_gone": 0}, "it dropped nothing"
    by_length = {
        row["stratum"]: row
        for row in found["latency_strata"]["by_length"]
        if row["index"] == "pruned"
    }
    assert {label: row["queries"] for label, row in by_length.items()} == {
        "1 to 2 terms": 2, "3 to 4 terms": 1
    }  # fmt: skip
    assert by_length["3 to 4 terms"]["top10"]["ratio"] == pytest.approx(3.0)
    by_dropped = {row["stratum"]: row["queries"] for row in found["latency_strata"]["by_dropped"]}
    assert by_dropped == {"no term dropped": 1, "over 0% to 50% dropped": 1,
                          "over 50% to 100% dropped": 1}  # fmt: skip
    by_gone = {row["stratum"]: row["queries"] for row in found["latency_strata"]["by_gone"]}
    assert by_gone == {"0% to 25% gone": 1, "50% to 75% gone": 1, "90% to 100% gone": 1}
    assert found["latency_ratio"]["pruned"]["top10"]["ratio"] == pytest.approx(5 / 3)
    of_each = {"full": {"top10": 7.0}, "pruned": {"top10": 3.0}, "tuned": {"top10": 7.0}}
    assert found["postings_per_query"] == of_each
