"""The demonstration: its collection, and what it says at its end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tdv_lucene.demo.collection import DemoCollection, unpack_wikipedia
from tdv_lucene.demo.words import kinds_table
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
    lines = (tmp_path / "catalogue" / "documents.jsonl").read_text(encoding="utf-8").splitlines()
    titles = wikipedia.titles()
    documents = {each["id"]: each["contents"].split("\n") for each in map(json.loads, lines)}
    assert {name: text[0] for name, text in documents.items()} == titles
    assert {len(text) for text in documents.values()} == {2}
    assert sum(len(" ".join(text).split()) for text in documents.values()) < 35 * len(titles)
    topics, qrels = read_topics(files.topics), read_qrels(files.qrels)
    assert len(topics) == 160 and topics.keys() == qrels.keys()


def test_kinds_are_averaged_apart(tmp_path) -> None:
    path = tmp_path / "per_query.tsv"
    path.write_text(
        "query\tnDCG@5 full\tnDCG@5 pruned\tMAP full\n"
        "names-1\t0.5\t1.0\t0\nnames-2\t0.0\t0.5\t0\nsummary-3\t0.25\t0.75\t0\n"
    )
    table = kinds_table(tmp_path)
    assert table.columns == ("", "queries", "full", "pruned")
    assert table.rows == [("names", "2", "0.2500", "0.7500"), ("summary", "1", "0.2500", "0.7500")]
