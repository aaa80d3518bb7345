"""The demonstration: its collection, and what it says at its end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tdv_lucene.demo import collection as demo_collection
from tdv_lucene.demo.collection import DemoCollection, unpack_wikipedia
from tdv_lucene.demo.words import example_tables, kinds_table
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


def test_kinds_are_averaged_apart(tmp_path) -> None:
    path = tmp_path / "per_query.tsv"
    path.write_text(
        "query\tnDCG@5 full\tnDCG@5 pruned\tMAP full\n"
        "names-1\t0.5\t1.0\t0\nnames-2\t0.0\t0.5\t0\nsummary-3\t0.25\t0.75\t0\n"
    )
    table = kinds_table(tmp_path)
    assert table.columns == ("", "queries", "full", "pruned")
    assert table.rows == [("names", "2", "0.2500", "0.7500"), ("summary", "1", "0.2500", "0.7500")]
