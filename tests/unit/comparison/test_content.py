"""What a comparison warns of: indexes of other sources, models, numbers of documents, tuning on the
queries that measure. And which systems it tests against which.
"""

from __future__ import annotations

import pytest

from tdv_lucene.comparison.content import notes, notes_on_tuning
from tdv_lucene.comparison.inputs import QuerySet, System, pairs_to_test
from tdv_lucene.ranking import SearchParameters


def described(commit: str = "p", source: str | None = "s", **changes):
    made_from = {} if source is None else {"tdv.source_commit": source, "tdv.model": "bm25"}
    return {"commit": commit, "deleted": 0, "documents": 9, "user_data": made_from, **changes}


FULL = described("s", None)


def test_nothing_is_said_of_an_index_and_what_was_made_from_it():
    indexes = {"full": FULL, "pruned": described(), "bare": described(source=None)}
    assert notes(indexes, "bm25") == []


def test_indexes_of_another_source_are_named_together():
    stranger = described(source="t")
    found = notes({"full": FULL, "a": stranger, "b": described(), "c": stranger}, "bm25")
    assert found == ["not of the same source as 'full', by their commits: 'a', 'c'"]


@pytest.mark.parametrize(
    ("first", "other", "said"),
    [
        (described("p", "s"), described("q", "s"), False),
        (described("p", "s"), described("s", None), False),
        (described("p", "s"), described("t", None), True),
        (described("p", "s"), described("q", "t"), True),
        (described("s", None), described("t", None), False),  # nothing tells
    ],
)
def test_commits_tell_indexes_of_different_sources(first, other, said):
    """Also where it is the first that was pruned, of a collection whose ids the other's are."""
    found = notes({"first": first, "other": other}, "bm25")
    assert found == ["not of the same source as 'first', by their commits: 'other'"] * said


def test_other_models_document_numbers_and_deletions_are_said():
    found = notes({"full": {**FULL, "deleted": 1200}, "pruned": described(documents=8)}, "qld")
    assert found == [
        "the TDVs of 'pruned' were learned for bm25, this comparison ranks with qld",
        "the indexes hold different numbers of documents: 9 ('full') and 8 ('pruned')",
        "the postings of 'full' include those of 1,200 deleted documents",
    ]


BM25 = SearchParameters("bm25", k1=0.9, b=0.4)


def test_a_name_makes_no_tuned_baseline():
    """An index that is called like one is tested once, and corrected for no more tests."""
    systems = {name: System("I", BM25) for name in ("full", "full-tuned", "small")}
    assert pairs_to_test(systems) == [("full", "full-tuned"), ("full", "small")]
    systems["best"] = System("I", BM25, is_tuned=True)
    assert pairs_to_test(systems) == [
        ("full", "full-tuned"), ("full", "small"), ("full", "best"),
        ("best", "full-tuned"), ("best", "small"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("tuned_on", "of_text", "of_id"),
    [
        ({"a": "one", "b": "two"}, 2, 0),
        ({"x": " ONE ", "y": "another"}, 1, 0),
        ({"a": "another", "x": "two"}, 1, 1),
        ({"x": "another"}, 0, 0),
    ],
)
def test_queries_are_known_by_text_then_by_id(tuned_on, of_text, of_id):
    notes = notes_on_tuning([QuerySet("test", {"a": "one", "b": "two"}, {})], tuned_on)
    said = [" ".join(note.split()[:7]) for note in notes]
    assert said == [f"{n} of the 2 queries of 'test'" for n in (of_text, of_id) if n]


def test_tuning_on_the_test_queries_is_said():
    test = QuerySet("test", {f"q{i}": f"text {i}" for i in range(1300)}, {})
    more = QuerySet("more", {f"m{i}": f"more {i}" for i in range(9)}, {})
    assert notes_on_tuning([test, more], {}) == []
    tuned_on = {f"q{i}": f"Text  {i}" for i in range(1200)} | {"m0": "other", "m1": "another"}
    assert notes_on_tuning([test, more], tuned_on) == [
        "1,200 of the 1,300 queries of 'test' are among those the baseline was tuned on: on them "
        "its tuned figures are too high",
        "2 of the 9 queries of 'more' have the id of a tuning query with another text: are they "
        "variants of one question?",
    ]
