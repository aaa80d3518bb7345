"""Ratios of latencies."""

from __future__ import annotations

import numpy as np
import pytest

from tdv_lucene.timing.latency import Latency, paired_ratio


def test_the_interval_is_paired():
    """Queries that differ by a thousand times, each exactly twice as fast: nothing is uncertain."""
    before = np.geomspace(0.01, 10, 50)
    found = paired_ratio(before, before / 2)
    assert found["ratio"] == pytest.approx(2.0)
    assert found["ci95"] == pytest.approx([2.0, 2.0])


def test_how_much_faster_than_the_first_index():
    rounds = np.ones((5, 2, 3, 3))
    rounds[:, :, 0, 1] = 3.0
    found = Latency(("full", "pruned", "tuned"), ("q1", "q2", "q3"), rounds, {}).ratios()
    assert found.keys() == {"pruned", "tuned"}
    assert found["pruned"]["top10"]["ratio"] == pytest.approx(5 / 3)
