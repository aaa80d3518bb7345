"""Verification: right indexes pass, and each kind of damage is found where it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import json_of, run_command
from lucene_indexes import Doc, open_writer, say, write_index
from pruning_inputs import field_plan, read_user_data, values_of

from tdv_lucene import TdvError, extract_matrix, prune_index, verify_pruned
from tdv_lucene.jvm import java_class, rewriter

pytestmark = pytest.mark.jvm

POSITIONS = "DOCS_AND_FREQS_AND_POSITIONS"


def _compare(source: Path, other: Path, scratch: Path, weights: dict[bytes, float] | None = None):
    """Compare with the source where all values are 1, except those given; None where equal."""
    matrix = extract_matrix(source, scratch, overwrite=True)
    tdv = np.ones(matrix.shape[0], np.float32)
    for term, value in (weights or {}).items():
        tdv[matrix.vocabulary.find([term])] = value
    plan = field_plan(matrix.vocabulary, tdv, None)
    found = rewriter.prove_pruned(source, other, [plan], threads=2)
    return found.get("difference")


def _changed(docs: list[Doc], place: int, **changes: object) -> list[Doc]:
    return [*docs[:place], replace(docs[place], **changes), *docs[place + 1 :]]


BASE = [
    Doc("d0", ["a", "b", "a", "c"], ["t", "u"]),
    Doc("d1", ["b", "c", "e"], ["t"]),
    Doc("d2", ["a", "c"] * 30, ["u"]),
    Doc("d3", ["c", "d"]),
]


@pytest.mark.parametrize(
    ("docs", "expected"),
    [
        (_changed(BASE, 0, tokens=["a", "b", "a", "a", "c"]),
         {"what": "frequency", "expected": "2", "found": "3", "term": "'a'", "document": "d0",
          "segment": "_0", "field": "contents"}),
        (_changed(BASE, 2, tokens=["c"] * 30),
         {"what": "posting", "expected": "frequency 30", "found": "none", "term": "'a'",
          "document": "d2", "segment": "_1"}),
        (_changed(BASE, 1, tokens=["a", "b", "c", "e"]),
         {"what": "posting", "expected": "none", "found": "frequency 1", "term": "'a'",
          "document": "d1", "segment": "_0"}),
        (_changed(BASE, 3, tokens=["c", "d", "bb"]),
         {"what": "term", "expected": "gone", "term": "'bb'", "document": "d3"}),
        (_changed(BASE, 3, tokens=["c", "d", "z"]),
         {"what": "term", "expected": "gone", "term": "'z'", "document": "d3"}),
        (_changed(BASE, 3, tokens=["c"]),
         {"what": "term", "found": "no such term", "term": "'d'", "document": "d3"}),
        (_changed(BASE, 0, title=["u", "t"]),
         {"what": "occurrence 0", "field": "title", "term": "'t'", "document": "d0"}),
        (_changed(BASE, 1, id="other"),
         {"what": "id of document number 1", "expected": "d1", "found": "other"}),
        (BASE[:3], {"what": "documents", "expected": "4", "found": "3"}),
        ([*BASE, Doc("gone", ["a"], deleted=True)], {"what": "deleted documents"}),
    ],
)  # fmt: skip
def test_differences_are_found(docs, expected: dict, make_index, tmp_path: Path) -> None:
    source = make_index([BASE[:2], BASE[2:]], raw=False)
    assert _compare(source, source, tmp_path / "matrix") is None
    other = make_index([docs[:2], docs[2:]], name="other", raw=False)
    difference = _compare(source, other, tmp_path / "matrix")
    assert {name: difference.get(name) for name in expected} == expected


VECTORS = {"vectors": "v", "options": POSITIONS}


@pytest.mark.parametrize(
    ("before", "layout", "expected"),
    [
        ({}, {"norms": "accurate"}, {"what": "norm", "document": "d2", "found": "60"}),
        ({}, {"norms": "none"}, {"what": "description of field 'contents'"}),
        ({}, {"options": POSITIONS}, {"what": "description of field 'contents'"}),
        ({}, {"vectors": "v"}, {"what": "description of field 'contents'"}),
        ({}, {"title": "DOCS"}, {"what": "description of field 'title'"}),
        ({}, {"extras": True}, {"what": "fields"}),
        (VECTORS, {"vectors": "vo"}, {"what": "has offsets in the vector", "field": "contents"}),
    ],
)
def test_differences_of_layout_are_found(before, layout, expected, make_index, tmp_path) -> None:
    before = {"raw": False, **before}
    source, other = make_index([BASE], **before), make_index([BASE], "other", **before | layout)
    difference = _compare(source, other, tmp_path / "matrix")
    assert {name: difference.get(name) for name in expected} == expected


def test_changed_stored_text_is_found(make_index, tmp_path: Path) -> None:
    """The same words in another order: the same postings, another text."""
    source = make_index([BASE])
    other = make_index([_changed(BASE, 0, tokens=["b", "a", "a", "c"])], name="other")
    difference = _compare(source, other, tmp_path / "matrix")
    assert (difference["what"], difference["document"]) == ("stored field", "d0")
    assert "b a a c" in difference["found"] and "a b a c" in difference["expected"]


def test_changed_columns_are_found(make_index, tmp_path: Path) -> None:
    layout = {"raw": False, "extras": True, "vectors": "vp", "options": POSITIONS}
    source = make_index([BASE], **layout)
    assert _compare(source, source, tmp_path / "matrix") is None
    # Documents written one later have other numbers in their columns and points.
    shifted = [Doc("first", ["a"], deleted=True), *BASE]
    other = make_index([shifted], name="shifted", **layout)
    merged = tmp_path / "merged"
    matrix = extract_matrix(other, tmp_path / "other-matrix")
    merged.mkdir()
    ones = field_plan(matrix.vocabulary, 1, None)
    rewriter.rewrite_index(other, merged, [ones], threads=1, user_data={})
    difference = _compare(source, merged, tmp_path / "matrix")
    assert (difference["what"], difference["field"]) == ("doc values", "rank")


def test_source_changed_since_is_found(make_index, tmp_path: Path) -> None:
    source = make_index([[Doc("a", ["x", "y"]), Doc("b", ["x"])]])
    values = values_of(extract_matrix(source, tmp_path / "matrix"))
    prune_index(source, values, tmp_path / "pruned", reduction=0)
    write_index(source, [[Doc("c", ["x"])]])
    found = verify_pruned(source, tmp_path / "pruned")
    assert found["difference"]["what"] == "pruned from another index, or another state of it"
    done = run_command("verify", "--index", source, "--pruned", tmp_path / "pruned", status=1)
    assert "'tdv-lucene update'" in done.output
    assert "documents" not in done.output and "postings" not in done.output


def test_index_that_was_not_pruned_is_refused(tiny_index: Path) -> None:
    with pytest.raises(TdvError, match=f"{tiny_index} does not say how it was pruned"):
        verify_pruned(tiny_index, tiny_index)


def test_command_ends_with_status_1_on_a_difference(tiny_index: Path, tmp_path: Path) -> None:
    values = values_of(extract_matrix(tiny_index, tmp_path / "matrix"))
    pruned = tmp_path / "pruned"
    report = prune_index(tiny_index, values, pruned, reduction=0.3)
    words = ["verify", "--index", tiny_index, "--pruned", pruned]
    assert json_of(*words)["postings"] == report["postings"]
    user_data, writer = read_user_data(pruned), open_writer(pruned)
    writer.addDocument(java_class("org.apache.lucene.document.Document")())
    say(writer, user_data)  # behind its back
    writer.close()
    done = run_command(*words, status=1)
    shown = dict(line.split(maxsplit=1) for line in done.output.splitlines())
    assert (shown["what"], shown["expected"], shown["found"]) == ("documents", "10", "11")
