"""Values derived from two indexes, and the terms worth showing."""

from __future__ import annotations

import pytest

from tdv_lucene.term_changes import Pruned, list_changes

BEFORE = {"gone": (50, 60), "rare": (2, 2), "up": (20, 40), "down": (30, 40), "same": (10, 10)}
AFTER = {"up": (20, 240), "down": (15, 40), "same": (10, 40)}


def test_values_from_counts():
    made = Pruned.of({"tdv.scale": "4.0", "tdv.tf": "scaled", "tdv.reduction": "0.45"})
    assert made.reduction == 0.45
    assert made.value(BEFORE["up"], AFTER["up"]) == pytest.approx(1.5)
    assert made.value(BEFORE["gone"], (0, 0)) == 0.0
    kept = Pruned.of({"tdv.tf": "original", "tdv.scale": "4.0"})
    assert kept.value((10, 20), (10, 20)) is None, "frequencies do not tell"
    assert Pruned.of({}).value((10, 20), (10, 10)) == 0.5


def test_lists():
    made = Pruned(4.0, False, None)
    found = list_changes(
        BEFORE, AFTER, 100, lambda t: made.value(BEFORE[t], AFTER.get(t, (0, 0)))
    )
    assert found["dropped"] == 2
    assert [row["term"] for row in found["most_dropped"]] == ["gone", "rare"]
    assert found["most_dropped"][0] == {"term": "gone", "tdv": 0.0, "df_before": 50, "df_after": 0}
    assert [row["term"] for row in found["raised"]] == ["up"]
    assert [(row["term"], row["tdv"]) for row in found["lowered"]] == [("down", 0.25)]
