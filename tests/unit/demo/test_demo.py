"""The demonstration: its collection, and what it says at its end."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tdv_lucene.demo.collection import DemoCollection, unpack_wikipedia
from tdv_lucene.demo.words import kinds_table, tell_outcome, tell_outcomes
from tdv_lucene.evaluation.topics import read_qrels, read_topics


@pytest.fixture(scope="module")
def wikipedia(tmp_path_factory: pytest.TempPathFactory) -> DemoCollection:
    return unpack_wikipedia(tmp_path_factory.mktemp("demo") / "wikipedia")


def test_no_query_is_both_learned_from_and_measured(wikipedia: DemoCollection) -> None:
    train, test = (read_topics(part.topics) for part in (wikipedia.train, wikipedia.test))
    assert not train.keys() & test.keys()
    assert not {text.lower() for text in train.values()} & {text.lower() for text in test.values()}


def test_the_catalogue_has_titles_with_a_sentence_and_all_keywords(
    wikipedia: DemoCollection, tmp_path: Path
) -> None:
    files = wikipedia.write_catalogue(tmp_path / "catalogue")
    lines = (files.documents / "documents.jsonl").read_text(encoding="utf-8").splitlines()
    titles = wikipedia.titles()
    documents = {each["id"]: each["contents"].split("\n") for each in map(json.loads, lines)}
    assert {name: text[0] for name, text in documents.items()} == titles
    assert {len(text) for text in documents.values()} == {2}
    assert sum(len(" ".join(text).split()) for text in documents.values()) < 35 * len(titles)
    topics, qrels = read_topics(files.topics), read_qrels(files.qrels)
    assert len(topics) == 160 and topics.keys() == qrels.keys()


def _measure(difference: float, p: float | None, width: float = 0.1) -> dict[str, Any]:
    around = [difference - width, difference + width]
    tests = [
        {"baseline": base, "treatment": name, "difference": difference, "ci95": ci, "p_value": p}
        for base, name, ci in (("full", "pruned", around), ("full", "full-tuned", [7, 8]))
    ]
    return {"full": 0.5, "pruned": 0.5 + difference, "full-tuned": 0.9, "tests": tests}


REPORT = {
    "queries": {"judged": 300},
    "parameters": {"comparisons": 12},
    "indexes": {
        "full": {"postings": 200, "bytes": 1000, "bytes_by_kind": {"positions": 100}},
        "pruned": {"postings": 150, "bytes": 800, "bytes_by_kind": {}},
    },
    "latency_ratio": {"pruned": {"top10": {"ratio": 1.2, "ci95": [1.1, 1.3]}}},
    "measures": {"nDCG@5": _measure(0.02, 0.2), "R@1000": _measure(-0.03, 0.2, 0.02)},
}


def test_each_finding_stands_where_its_interval_or_test_puts_it() -> None:
    assert tell_outcome(REPORT, "pruned").splitlines() == [
        "Won:       postings -25.0 %",
        "           bytes -20.0 % (positions alone -10.0 %: weighted frequencies go without them)",
        "           speed of the ten best x1.20 (95 %: 1.10 to 1.30)",
        "Lost:      R@1000 -0.0300, 0.5000 (full) to 0.4700 (95 %: -0.050 to -0.010)",
        "Undecided: nDCG@5 +0.0200, 0.5000 (full) to 0.5200 (95 %: -0.080 to +0.120)",
    ]


def test_every_pruned_index_is_told_of() -> None:
    report = copy.deepcopy(REPORT)
    report["indexes"]["smaller"] = {"postings": 20, "bytes": 900, "bytes_by_kind": {"positions": 1}}
    report["latency_ratio"]["smaller"] = {"top10": {"ratio": 3.0, "ci95": None}}
    for entry in report["measures"].values():
        more = {"baseline": "full-tuned", "treatment": "smaller", "difference": -0.4, "ci95": None}
        entry["tests"].append({**more, "p_value": 0.001})
        entry["smaller"] = 0.3
    first, second, rule = tell_outcomes(report).split("\n\n")
    assert "all 12 comparisons" in rule
    assert first == "pruned against full\n" + tell_outcome(REPORT, "pruned")
    assert "Lost:      nDCG@5 -0.4000, 0.9000 (full-tuned) to 0.3000" in second
    assert "Undecided: speed of the ten best x3.00" in second, "without an interval"


def test_kinds_are_averaged_apart(tmp_path) -> None:
    path = tmp_path / "per_query.tsv"
    path.write_text(
        "query\tnDCG@5 full\tnDCG@5 pruned\tMAP full\n"
        "names-1\t0.5\t1.0\t0\nnames-2\t0.0\t0.5\t0\nsummary-3\t0.25\t0.75\t0\n"
    )
    table = kinds_table(tmp_path)
    assert table.columns == ("", "queries", "full", "pruned")
    assert table.rows == [("names", "2", "0.2500", "0.7500"), ("summary", "1", "0.2500", "0.7500")]
