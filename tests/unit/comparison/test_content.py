"""What a comparison warns of, which systems it tests, the terms it shows, and ratios of times."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from tdv_lucene.comparison.explain import list_changes
from tdv_lucene.comparison.inputs import QuerySet, System, pairs_to_test
from tdv_lucene.comparison.results import _judged, notes, notes_on_tuning
from tdv_lucene.evaluation.runs import Run
from tdv_lucene.index.record import FieldRecord
from tdv_lucene.ranking import SearchParameters
from tdv_lucene.timing.latency import Latency, paired_ratio
from tdv_lucene.vocabulary import ByteStrings

BM25, QLD = SearchParameters("bm25", k1=0.9, b=0.4), SearchParameters("qld", mu=1000.0)


@dataclass(frozen=True)
class Index:
    """What an index says of itself: its commit, and that it was pruned from ``source``."""

    commit: str = "p"
    source: str | None = "s"
    documents: int = 9
    deleted: int = 0
    user_data: dict[str, str] = field(default_factory=dict)

    def __fspath__(self) -> str:
        return f"/{self.commit}"

    def record(self, field: str) -> FieldRecord:
        said = {"tdv.source_commit": self.source, "tdv.model": "bm25"}
        return FieldRecord.of(said if self.source else {}, field)


FULL = Index("s", None)


def noted(parameters: SearchParameters = BM25, **indexes: Index) -> list[str]:
    return [*notes({name: System(index, parameters) for name, index in indexes.items()})]


@pytest.mark.parametrize(
    ("first", "other", "said"),
    [
        (Index("p", "s"), Index("q", "s"), False),
        (Index("s", None), Index("p", "s"), False),
        (Index("p", "s"), Index("s", None), False),  # the source comes second: it is refused
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
    ("tuned_on", "number"),
    [({"a": "one", "b": "two"}, 2), ({"x": " ONE ", "y": "another"}, 1), ({"a": "another"}, 0)],
)
def test_queries_are_known_by_their_text(tuned_on, number):
    notes = notes_on_tuning([QuerySet("test", {"a": "one", "b": "two"}, {})], tuned_on)
    said = [" ".join(note.split()[:7]) for note in notes]
    assert said == [f"{n} of the 2 queries of 'test'" for n in [number] if n]


BEFORE = {"gone": (50, 60), "rare": (2, 2), "up": (20, 40), "down": (30, 40), "same": (10, 10)}
AFTER = {"up": (20, 240), "down": (15, 40), "same": (10, 40)}


def test_lists():
    tdvs = {b"up": 1.5, b"down": 0.25, b"same": 1.0}
    terms = sorted(BEFORE)
    counts = np.array([(*BEFORE[term], *AFTER.get(term, (0, 0))) for term in terms])
    found = list_changes(ByteStrings.of(map(str.encode, terms)), counts, 100, tdvs.get)
    assert found["dropped"] == 2
    assert [row["term"] for row in found["most_dropped"]] == ["gone", "rare"]
    assert found["most_dropped"][0] == {"term": "gone", "tdv": 0.0, "df_before": 50, "df_after": 0}
    assert [row["term"] for row in found["raised"]] == ["up"]
    assert [(row["term"], row["tdv"]) for row in found["lowered"]] == [("down", 0.25)]
    many = ByteStrings.of(b"t%03d" % n for n in range(1, 101))
    found = list_changes(many, np.array([(n, n, 0, 0) for n in range(1, 101)]), 1000, {}.get)
    assert found["dropped"] == 100
    assert [row["df_before"] for row in found["most_dropped"]] == list(range(100, 80, -1))


@pytest.mark.parametrize("grade", [-2, -1])
def test_a_grade_below_zero_is_a_judgement(grade: int) -> None:
    """Spam, as TREC's Web tracks have it, is no more relevant than what is graded 0."""
    names = [f"d{n}" for n in range(10)]
    scores = np.arange(10.0)[::-1]
    run = Run(["q"], names, np.array([0, 10]), np.arange(10, dtype=np.int32), scores)
    best = {"full": run.best(["q"], 10)}
    of_spam, of_none = ({"q": {"d1": low, "d4": 2, "d6": 1}} for low in (grade, 0))
    found = _judged({"full": run}, best, of_spam)
    assert found == _judged({"full": run}, best, of_none)
    assert found["share_in_ten"]["full"] == 0.3 and found["nDCG@10"]["full"] < 1


def test_the_interval_is_paired():
    """Queries that differ by a thousand times, each exactly twice as fast: nothing is uncertain."""
    before = np.geomspace(0.01, 10, 50)
    found = paired_ratio(before, before / 2)
    assert found["ratio"] == pytest.approx(2.0)
    assert found["ci95"] == pytest.approx([2.0, 2.0])


def test_how_much_faster_than_the_first_index():
    rounds = np.ones((5, 2, 3, 3))
    rounds[:, :, 0, 1] = 3.0
    found = Latency(("full", "pruned", "tuned"), ("q1", "q2", "q3"), rounds, {}).ratios()
    assert found.keys() == {"pruned", "tuned"}
    assert found["pruned"]["top10"]["ratio"] == pytest.approx(5 / 3)
