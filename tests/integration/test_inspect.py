"""Inspection: counts, kinds of norms, bytes by kind, and what can be pruned."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from command_line import run_command
from lucene_indexes import Doc, open_writer
from lucene_reading import default_codec
from pruning_inputs import index_bytes
from tiny_collection import TINY_TEXTS, tiny_segments

from tdv_lucene import TdvError, extract_matrix, inspect_index, prune_index

pytestmark = pytest.mark.jvm

TOKENS = [text.split() for text in TINY_TEXTS]


def _field(found: dict, name: str = "contents") -> dict:
    return next(field for field in found["fields"] if field["name"] == name)


def test_counts_of_a_plain_index(tiny_index: Path) -> None:
    found = inspect_index(tiny_index)
    assert found["path"] == str(tiny_index)
    assert (found["documents"], found["deleted"], found["locked"]) == (10, 0, False)
    on_disk = sum(path.stat().st_size for path in tiny_index.iterdir())
    assert found["bytes"] == sum(found["bytes_by_kind"].values()) == on_disk
    assert [segment["documents"] for segment in found["segments"]] == [4, 4, 2]
    assert found["stored_fields"] == ["id", "raw"]
    assert found["can_be_pruned"] and found["why_not"] == ""
    field = _field(found)
    assert field["index_options"] == "DOCS_AND_FREQS"
    assert field["norms"] == "default"
    assert field["documents"] == 10
    assert field["terms"] == len(set().union(*TOKENS))
    assert field["postings"] == sum(len(set(tokens)) for tokens in TOKENS)
    assert field["tokens"] == sum(map(len, TOKENS))
    assert "no term frequencies" in _field(found, "id")["why_not_pruned"]
    assert _field(found, "raw")["why_not_pruned"] == "it is not indexed"


def test_everything_beside_the_postings(make_index) -> None:
    docs = [Doc("a", ["x"], ["t"]), Doc("b", ["y"], deleted=True), Doc("c", ["x"])]
    index = make_index(
        [docs], options="DOCS_AND_FREQS_AND_POSITIONS", vectors="vp", extras=True, sort=True,
        soft_deletes=True,
    )  # fmt: skip
    found = inspect_index(index)
    assert (found["documents"], found["deleted"]) == (2, 1)
    (segment,) = found["segments"]
    assert (segment["documents"], segment["soft_deleted"]) == (2, 1)
    assert segment["codec"] == default_codec()
    assert "deleted         1, 1 of them soft-deleted" in _shown(index)
    assert "rank" in segment["sort"]
    assert _field(found)["vectors"] is True
    assert _field(found, "rank")["doc_values"] == "NUMERIC"
    assert _field(found, "year")["point_dimensions"] == 1
    assert _field(found, "embedding")["knn_dimensions"] == 3
    kinds = found["bytes_by_kind"]
    assert all(kinds[kind] > 0 for kind in kinds)


def test_compound_files_count_by_what_is_in_them(make_index) -> None:
    plain = index_bytes(make_index(tiny_segments(), name="plain"))
    compound_index = make_index(tiny_segments(), name="compound", compound=True)
    compound = index_bytes(compound_index)
    assert inspect_index(compound_index)["segments"][0]["compound"] is True
    for kind in plain:
        if kind != "other":
            assert compound[kind] == plain[kind]
    on_disk = [path.stat().st_size for path in compound_index.glob("*") if path.name[0] in "_s"]
    assert sum(compound.values()) == sum(on_disk)


def test_locked_index_is_described_but_not_prunable(make_index, tmp_path) -> None:
    index = make_index([[Doc("a", ["x"])]])
    writer = open_writer(index)
    try:
        found = inspect_index(index)
        for stage in (partial(prune_index, index, None), partial(extract_matrix, index)):
            with pytest.raises(TdvError, match="locked"):
                stage(tmp_path / "out")
        assert not (tmp_path / "out").exists()
    finally:
        writer.close()
    assert found["locked"] and not found["can_be_pruned"]
    assert "close it" in found["why_not"]
    assert inspect_index(index)["can_be_pruned"]


def _shown(index: Path) -> str:
    return run_command("inspect", "--index", index).output


def test_the_command_names_what_can_be_pruned_and_why_all_else_cannot(make_index) -> None:
    shown = _shown(make_index([]))
    assert "documents       0" in shown and "can be pruned   no" in shown
    shown = _shown(make_index([[Doc("a", ["x"], title=["y"])]], name="fields"))
    assert "can be pruned   yes: contents, title\n" in shown
    assert "cannot be pruned" not in shown, "every healthy index has ids without frequencies"
    shown = _shown(make_index([[Doc("a", None)]], name="ids-only"))
    assert "id cannot be pruned: index options DOCS" in shown


def test_ids_that_are_not_unique_are_told(make_index) -> None:
    docs = [Doc("a", ["x"]), Doc("a", ["y"]), Doc("b", ["x"])]
    (note,) = inspect_index(make_index([docs, [Doc("b", ["z"])]], name="twice"))["notes"]
    assert note.startswith("2 documents have the id of another")
    updated = [Doc("a", ["x"], deleted=True), Doc("b", ["y"])]
    assert inspect_index(make_index([updated], name="updated"))["notes"] == []
