"""The demonstration collection: documents, topics and their qrels."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdv_lucene.demo import collection as demo_collection
from tdv_lucene.demo.collection import DemoCollection, unpack_wikipedia
from tdv_lucene.demo.words import example_tables
from tdv_lucene.evaluation.topics import read_qrels, read_topics


@pytest.fixture(scope="module")
def wikipedia(tmp_path_factory: pytest.TempPathFactory) -> DemoCollection:
    return unpack_wikipedia(tmp_path_factory.mktemp("demo") / "wikipedia")


def test_every_judged_article_is_there_and_most_are_of_no_query(wikipedia: DemoCollection) -> None:
    titles = wikipedia.titles()
    assert len(titles) == 4000 and all(titles.values())
    for part in (wikipedia.train, wikipedia.test):
        topics, qrels = read_topics(part.topics), read_qrels(part.qrels)
        assert len(topics) == 300 and topics.keys() == qrels.keys()
        assert {name for judged in qrels.values() for name in judged} <= titles.keys()
        assert all(any(grade > 0 for grade in judged.values()) for judged in qrels.values())


def test_no_query_is_both_learned_from_and_measured(wikipedia: DemoCollection) -> None:
    train, test = (read_topics(part.topics) for part in (wikipedia.train, wikipedia.test))
    assert not train.keys() & test.keys()
    assert not {text.lower() for text in train.values()} & {text.lower() for text in test.values()}


def test_the_package_data_is_small_and_names_its_licences() -> None:
    folder = Path(demo_collection.__file__).with_name("wikipedia")
    assert sum(path.stat().st_size for path in folder.iterdir()) < 3_000_000
    notice = (folder / "README.md").read_text(encoding="utf-8")
    assert "CC BY-SA 3.0" in notice and "Apache License 2.0" in notice and "MIT" in notice


def test_examples_are_the_queries_that_changed_most(
    wikipedia: DemoCollection, tmp_path: Path
) -> None:
    qrels = read_qrels(wikipedia.test.qrels)
    queries = list(qrels)[:3]
    relevant = next(name for name, grade in qrels[queries[0]].items() if grade > 0)
    lines = ["query\tnDCG@5 full\tnDCG@5 learned"]
    lines += [f"{q}\t{v}" for q, v in zip(queries, ("0.1\t0.9", "0.5\t0.5", "0.4\t0.2"))]
    (tmp_path / "per_query.tsv").write_text("\n".join(lines) + "\n")
    (tmp_path / "runs").mkdir()
    for name in ("full", "learned"):
        (tmp_path / "runs" / f"{name}.run").write_text(
            f"{queries[0]} Q0 {relevant} 1 2.0 x\n{queries[2]} Q0 {relevant} 1 2.0 x\n"
        )
    texts = read_topics(wikipedia.test.topics)
    better, worse = example_tables(wikipedia, tmp_path)
    assert better.title == f"Ranked better: {texts[queries[0]]}"
    assert worse.title == f"Ranked worse: {texts[queries[2]]}"
    assert better.rows[0][1].startswith("* ") and better.rows[1][1:] == ("", "")
