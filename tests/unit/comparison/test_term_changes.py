"""Values derived from two indexes, and the terms worth showing."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from tdv_lucene.comparison.term_changes import frequency_ratio, list_changes
from tdv_lucene.index.record import FieldRecord
from tdv_lucene.vocabulary import ByteStrings

BEFORE = {"gone": (50, 60), "rare": (2, 2), "up": (20, 40), "down": (30, 40), "same": (10, 10)}
AFTER = {"up": (20, 240), "down": (15, 40), "same": (10, 40)}


def test_values_from_counts():
    made = FieldRecord.of({"tdv.scale": "4.0", "tdv.tf": "scaled"})
    assert frequency_ratio(made, "up", BEFORE["up"], AFTER["up"]) == pytest.approx(1.5)
    assert frequency_ratio(made, "gone", BEFORE["gone"], (0, 0)) == 0.0
    kept = FieldRecord.of({"tdv.tf": "original", "tdv.scale": "4.0"})
    assert frequency_ratio(kept, "t", (10, 20), (10, 20)) is None, "frequencies do not tell"
    assert frequency_ratio(FieldRecord.of({}), "t", (10, 20), (10, 10)) == 0.5


def test_lists():
    made = partial(frequency_ratio, FieldRecord.of({"tdv.scale": "4.0"}))
    terms = sorted(BEFORE)
    counts = np.array([(*BEFORE[term], *AFTER.get(term, (0, 0))) for term in terms])
    found = list_changes(ByteStrings.of(map(str.encode, terms)), counts, 100, made)
    assert found["dropped"] == 2
    assert [row["term"] for row in found["most_dropped"]] == ["gone", "rare"]
    assert found["most_dropped"][0] == {"term": "gone", "tdv": 0.0, "df_before": 50, "df_after": 0}
    assert [row["term"] for row in found["raised"]] == ["up"]
    assert [(row["term"], row["tdv"]) for row in found["lowered"]] == [("down", 0.25)]


def test_only_the_twenty_largest_are_shown():
    terms = ByteStrings.of(b"t%03d" % n for n in range(1, 101))
    counts = np.array([(n, n, 0, 0) for n in range(1, 101)])
    found = list_changes(terms, counts, 1000, partial(frequency_ratio, FieldRecord.of({})))
    assert found["dropped"] == 100
    assert [row["df_before"] for row in found["most_dropped"]] == list(range(100, 80, -1))
