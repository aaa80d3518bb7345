"""What an index records of its fields comes back, whatever the fields are called."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from small_problem import make_matrix

from tdv_lucene import PruneConfig, unlearned_values
from tdv_lucene.index.parameters import Searcher
from tdv_lucene.index.record import FieldRecord, as_user_data, carried_over, read_records
from tdv_lucene.pruning.planning import plan_field


def _described(field: str, commit: str = "now") -> dict:
    return {
        "field": field,
        "plan_sha256": f"sum of {field}",
        "source_commit": commit,
        "requested_reduction": 0.3,
        "baked": None,
        "search": {"k1": 0.9},
    }


@pytest.mark.parametrize(
    "fields",
    [
        ["contents"],
        ["contents", "title"],
        ["title", "a", "a.b", "a.search", "fields", "fields.a", "plan_sha256", ""],
    ],
)
def test_fields_come_back_with_their_own_entries(fields: list[str]) -> None:
    data = as_user_data([_described(field) for field in fields])
    assert data["tdv.field"] == fields[0]
    records = read_records("index", {"made by": "another", **data})
    assert [record.field for record in records] == [fields[0], *sorted(fields[1:])]
    for record in records:
        assert record.is_pruned and record.plan_sha256 == f"sum of {record.field}"
        assert record.content["search.k1"] == "0.9" and record.baked is None
        assert data[f"{record.prefix}source_commit"] == "now"


def test_a_field_that_was_searched_is_carried_over_unless_it_is_pruned_again() -> None:
    data = as_user_data([_described("contents", "then"), _described("title", "then")])
    both = carried_over(data, ["title"]) | as_user_data([_described("title")])
    assert FieldRecord.of(both).field == "title" and FieldRecord.of(both).source_commit == "now"
    kept = FieldRecord.of(both, "contents")
    assert kept.plan_sha256 == "sum of contents" and kept.source_commit == "then"
    assert carried_over(data, ["contents"]) == carried_over({"made by": "another"}, ["x"]) == {}


def test_every_fact_of_a_plan_is_read_by_its_name() -> None:
    values = unlearned_values(make_matrix(np.eye(3, dtype=int) + 1), "df")
    index = SimpleNamespace(fields={}, searcher=Searcher())
    plan, point = plan_field(values, 0.3, PruneConfig(search_as="lucene"), index)
    record = plan.record()
    read = FieldRecord.of(as_user_data([record]))
    assert read.field == plan.field and read.plan_sha256 == plan.sha256 and read.is_pruned
    assert read.learned_from == "nothing (the peer df)"
    assert (read.scale, read.tf, read.requested_reduction) == (plan.scale, "scaled", 0.3)
    assert read.model == values.model and read.known_model is None and read.version
    assert read.baked == plan.norms.held and plan.scale == point.scale
    assert read.parameters("bm25") == {"k1": 1.2, "b": 0.75}
    unread = {*record} - {name for name in record if hasattr(read, name)}
    assert unread <= {"search", "unit", "lead"}, "what is recorded is read"
