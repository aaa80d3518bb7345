"""What pruning did to one query, on an index pruned with known values."""

from __future__ import annotations

import numpy as np
import pytest
from command_line import json_of, run_command
from lucene_indexes import Doc, write_index

from tdv_lucene import TdvError, explain_query

pytestmark = pytest.mark.jvm


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """An index, and one without "fox" in which "dog" has lost a posting."""
    folder = tmp_path_factory.mktemp("explain")
    texts = ["fox dog dog", "fox cat", "dog cat cat", "cat"]
    after = ["dog dog", "cat", "cat cat", "cat"]
    for name, contents in (("full", texts), ("pruned", after)):
        write_index(
            folder / name, [[Doc(f"d{i}", text.split()) for i, text in enumerate(contents)]]
        )
    return folder / "full", folder / "pruned"


def test_terms(pair):
    terms = explain_query(*pair, "The fox, a dog, a dog and zebra")["terms"]
    assert terms == [
        {"term": "fox", "in_query": 1, "tdv": 0.0,
         "df_before": 2, "df_after": 0, "postings_removed": 2},
        {"term": "dog", "in_query": 2, "tdv": None,
         "df_before": 2, "df_after": 1, "postings_removed": 1},
        {"term": "zebra", "in_query": 1, "tdv": None,
         "df_before": 0, "df_after": 0, "postings_removed": 0},
    ]  # fmt: skip


def test_hits_side_by_side(pair):
    found = explain_query(*pair, "fox dog", hits=2)
    assert [hit["document"] for hit in found["hits"]["before"]] == ["d0", "d1"]
    assert [hit["other_rank"] for hit in found["hits"]["before"]] == [1, None]
    (only,) = found["hits"]["after"]
    assert (only["rank"], only["document"], only["other_rank"]) == (1, "d0", 1)
    assert found["parameters"]["before"] == {"model": "bm25", "k1": 0.9, "b": 0.4}
    idf = np.log(1 + (4 - 1 + 0.5) / (1 + 0.5))
    average = (2 + 1 + 2 + 1) / 4
    expected = idf * 2 / (2 + 0.9 * (1 - 0.4 + 0.4 * 2 / average))
    assert only["score"] == pytest.approx(expected, rel=1e-5)


def test_hits_tell_which_postings_they_lost(pair):
    found = explain_query(*pair, "fox cat zebra dog", hits=4)
    by_document = {hit["document"]: hit for hit in found["hits"]["before"]}
    assert {doc: hit["lost"] for doc, hit in by_document.items()} == {
        "d0": ["fox"], "d1": ["fox"], "d2": ["dog"], "d3": []
    }  # fmt: skip
    assert by_document["d0"]["tf"] == {"fox": [1, 0], "dog": [2, 2]}
    assert by_document["d2"]["tf"] == {"cat": [2, 2], "dog": [1, 0]}
    after = {hit["document"]: hit["lost"] for hit in found["hits"]["after"]}
    assert after == {doc: by_document[doc]["lost"] for doc in after}
    assert found["matching"] == {"before": 4, "after": 4}
    assert explain_query(*pair, "fox")["matching"] == {"before": 2, "after": 0}


def test_refusals(pair):
    arguments = {"index": pair[0], "pruned": pair[1], "query": "fox"}
    for changes, named in (
        ({"query": "the of"}, "'the of'"), ({"hits": 0}, "hits .* 0"), ({"pruned": "/no"}, "/no"),
    ):  # fmt: skip
        with pytest.raises(TdvError, match=named):
            explain_query(**{**arguments, **changes})


def test_command_line(pair):
    words = ["explain", "--index", pair[0], "--pruned", pair[1], "--query", "fox dog"]
    assert json_of(*words) == explain_query(*pair, "fox dog")
    shown = run_command(*words).output
    assert "all postings" in shown and "d1" in shown
    assert "3 documents held a term of the query, 1 still do." in shown
