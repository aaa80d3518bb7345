"""Terms, ids and names of any characters: passed through whole, or refused with the remedy."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import write_judged
from lucene_indexes import Doc, write_index

from tdv_lucene.comparison.compare import compare_indexes
from tdv_lucene.jvm import searcher

pytestmark = pytest.mark.jvm

TERMS = [b"\xff\xfe", b"new\nline", b"tab\tbed", b"nul\x00", "\U0001f98a".encode(), b"\xc3("]


@pytest.fixture(scope="module")
def indexes(tmp_path_factory) -> tuple[Path, Path]:
    """An index with strange terms in each document, and one that has only half of them."""
    folder = tmp_path_factory.mktemp("strange")
    rng = np.random.default_rng(2)
    plain = [[f"t{t}" for t in rng.integers(0, 9, 12)] for _ in range(40)]
    full = [Doc(f"d{i}", [*tokens, *TERMS]) for i, tokens in enumerate(plain)]
    half = [Doc(f"d{i}", [*tokens, *TERMS[::2] * 3]) for i, tokens in enumerate(plain)]
    write_index(folder / "full", [full[:20], full[20:]])
    write_index(folder / "half", [half[:20], half[20:]])
    return folder / "full", folder / "half"


def test_every_term_comes_as_its_bytes(indexes) -> None:
    with searcher.every_pair(*indexes, "contents") as (found, counts):
        terms = list(found)
    assert terms == sorted(terms)
    assert {*TERMS} <= {*terms} and len(terms) == len(TERMS) + 9
    only_in_full = [term for term, row in zip(terms, counts) if row[0] and not row[2]]
    assert {*only_in_full} == {*TERMS[1::2]}


def test_compare_shows_strange_terms(indexes, tmp_path: Path) -> None:
    full, half = indexes
    topics = {f"q{i}": f"t{i} t{i + 1}" for i in range(8)}
    topics, qrels = write_judged(tmp_path, topics, {qid: f"d{qid[1:]}" for qid in topics})
    output = tmp_path / "report"
    compare_indexes(full, half, topics, qrels, output, latency_budget_seconds=0.2)
    terms = json.loads((output / "report.json").read_text())["terms"]
    assert {row["term"] for row in terms["most_dropped"]} == {"new\nline", "nul\x00", "\\xc3("}
    shown = {row["term"]: row for row in terms["raised"]}
    assert {"\\xff\\xfe", "tab\tbed", "\U0001f98a"} <= shown.keys()
    assert shown["tab\tbed"]["df_before"] == 40


def test_counts_of_terms_with_newlines(indexes) -> None:
    asked = ["new\nline", "tab\tbed", "absent\n", ""]
    found = searcher.count_terms(indexes[0], "contents", asked)
    assert found == {"new\nline": (40, 40), "tab\tbed": (40, 40), "absent\n": (0, 0), "": (0, 0)}


def test_postings_of_documents_with_any_id(make_index) -> None:
    ids = ["two words", "new\nline", "caf\u00e9 \U0001f98a"]
    index = make_index([[Doc(doc_id, [b"new\nline", "x"]) for doc_id in ids]])
    assert searcher.known_documents(index, [*ids, "new", "line"]) == ids
    asked = ["new\nline"], [*ids, "none"]
    matching, found = searcher.query_postings(index, "contents", *asked)
    assert matching == 3
    assert found == {doc_id: {"new\nline": 1} for doc_id in ids}
