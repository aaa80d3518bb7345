"""What an index records of its fields comes back, whatever the fields are called."""

from __future__ import annotations

import numpy as np
import pytest
from small_problem import make_matrix
from tdv_lucene.pruning.field_description import describe_field
from tdv_lucene.pruning.field_rule import point_at
from tdv_lucene.pruning.search_target import SearchTarget

from tdv_lucene.errors import TdvError
from tdv_lucene.indexes.user_data import FieldRecord, as_user_data, read_records
from tdv_lucene.peers.peers import unlearned_values
from tdv_lucene.pruning.config import PruneConfig
from tdv_lucene.ranking import ANSERINI_DEFAULTS
from tdv_lucene.store import FORMAT


def _described(field: str, commit: str = "now") -> dict:
    return {
        "field": field,
        "values_sha256": f"sum of {field}",
        "source_commit": commit,
        "requested_reduction": 0.3,
        "format": FORMAT,
        "search": {"k1": 0.9},
    }


@pytest.mark.parametrize(
    "fields",
    [
        ["contents"],
        ["contents", "title"],
        ["title", "a", "a.b", "a.search", "fields", "fields.a", "values_sha256", ""],
    ],
)
def test_fields_come_back_with_their_own_entries(fields: list[str]) -> None:
    data = as_user_data([_described(field) for field in fields])
    assert data["tdv.field"] == fields[0]
    records = read_records("index", {"made by": "another", **data})
    assert [record.field for record in records] == [fields[0], *sorted(fields[1:])]
    for record in records:
        assert record.content["values_sha256"] == f"sum of {record.field}"
        assert record.content["search.k1"] == "0.9"
        assert data[f"{record.prefix}source_commit"] == "now"


def test_fields_of_an_earlier_rewrite_are_left_out() -> None:
    earlier = as_user_data([_described("contents", "then"), _described("title", "then")])
    now = as_user_data([_described("contents")])
    assert [record.field for record in read_records("index", {**earlier, **now})] == ["contents"]


def test_index_that_says_nothing_is_refused() -> None:
    with pytest.raises(TdvError, match="folder does not say how it was pruned"):
        read_records("folder", {"made by": "another"})


def test_a_peer_is_told_by_its_name() -> None:
    values = unlearned_values(make_matrix(np.eye(3, dtype=int) + 1), "df")
    point = point_at(values, 0.3, tf="scaled", scale=None, unit=None)
    described = describe_field(
        values, point, PruneConfig(reduction=0.3), {"commit": "now"}, SearchTarget.of(None), None
    )
    assert described["learned_from"] == "nothing (the peer df)"


def test_a_fact_has_one_name_in_tdvs_and_in_an_index() -> None:
    values = unlearned_values(make_matrix(np.eye(3, dtype=int) + 1), "df")
    point = point_at(values, 0.3, tf="scaled", scale=None, unit=None)
    config, target = PruneConfig(reduction=0.3, min_doc_freq=2), SearchTarget.of(None)
    described = describe_field(values, point, config, {"commit": "now"}, target, None)
    assert {"field", "model", "vocabulary_sha256"} <= values.manifest.keys() & described.keys()
    record = FieldRecord.of(as_user_data([described]))
    facts = [name for name in described if hasattr(record, name)]
    assert {name: getattr(record, name) for name in facts} == {n: described[n] for n in facts}
    unread = {*described} - {*facts} - {*ANSERINI_DEFAULTS, "search", "format"}
    assert unread == set(), "what is recorded is read by its name"
    assert record.learned_parameters.values() == values.parameters
    record.require_current("index")


@pytest.mark.parametrize("spoilt", [{}, {"tdv.format": "1"}])
def test_a_record_of_a_development_version_is_refused(spoilt: dict[str, str]) -> None:
    with pytest.raises(TdvError, match="index was pruned by a development version"):
        FieldRecord.of({"tdv.field": "contents", **spoilt}).require_current("index")
