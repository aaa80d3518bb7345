"""What a comparison warns of: indexes of other sources, models, numbers of documents, tuning on the
queries that measure. And which systems it tests against which.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from tdv_lucene.comparison.content import notes, notes_on_tuning
from tdv_lucene.comparison.inputs import QuerySet, System, pairs_to_test
from tdv_lucene.index.record import FieldRecord
from tdv_lucene.ranking import SearchParameters

BM25, QLD = SearchParameters("bm25", k1=0.9, b=0.4), SearchParameters("qld", mu=1000.0)


@dataclass(frozen=True)
class Index:
    """What an index says of itself: its commit, and that it was pruned from ``source``."""

    commit: str = "p"
    source: str | None = "s"
    documents: int = 9
    deleted: int = 0

    def record(self, field: str) -> FieldRecord:
        said = {"tdv.source_commit": self.source, "tdv.model": "bm25"}
        return FieldRecord.of(said if self.source else {}, field)


FULL = Index("s", None)


def noted(parameters: SearchParameters = BM25, **indexes: Index) -> list[str]:
    return notes({name: System(index, parameters) for name, index in indexes.items()})


def test_nothing_is_said_of_an_index_and_what_was_made_from_it():
    assert noted(full=FULL, pruned=Index(), bare=Index(source=None)) == []


def test_indexes_of_another_source_are_named_together():
    stranger = Index(source="t")
    (note,) = noted(full=FULL, a=stranger, b=Index(), c=stranger)
    assert "'full'" in note and note.endswith("'a', 'c'")


@pytest.mark.parametrize(
    ("first", "other", "said"),
    [
        (Index("p", "s"), Index("q", "s"), False),
        (Index("p", "s"), Index("s", None), False),
        (Index("p", "s"), Index("t", None), True),
        (Index("p", "s"), Index("q", "t"), True),
        (Index("s", None), Index("t", None), False),  # nothing tells
    ],
)
def test_commits_tell_indexes_of_different_sources(first, other, said):
    """Also where it is the first that was pruned, of a collection whose ids the other's are."""
    assert len(noted(first=first, other=other)) == said


def test_other_models_document_numbers_and_deletions_are_said():
    found = noted(QLD, full=replace(FULL, deleted=1200), pruned=Index(documents=8))
    for note, said in zip(
        found, (("'pruned'", "bm25", "qld"), ("9", "8"), ("1,200",)), strict=True
    ):
        assert all(part in note for part in said)


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
