"""The demonstration collection: documents, known-item topics and their qrels."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tdv_lucene import TdvError
from tdv_lucene.demo import collection as demo_collection
from tdv_lucene.demo import topics as demo_topics
from tdv_lucene.demo.collection import (
    DemoCollection,
    JudgedTopics,
    document_python,
    unpack_wikipedia,
)
from tdv_lucene.demo.examples import example_tables
from tdv_lucene.demo.python_docs import read_documentation
from tdv_lucene.demo.topics import Documentation, choose_queries
from tdv_lucene.evaluation.topics import read_qrels, read_topics
from tdv_lucene.prior.prior import Prior


@pytest.fixture(scope="module")
def documentation() -> dict[str, str]:
    return read_documentation()


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> DemoCollection:
    return document_python(tmp_path_factory.mktemp("demo") / "collection", topics=30)


def _documents(collection: DemoCollection) -> dict[str, str]:
    lines = (collection.documents / "documents.jsonl").read_text(encoding="utf-8").splitlines()
    return {entry["id"]: entry["contents"] for entry in map(json.loads, lines)}


@pytest.mark.slow
def test_documentation_covers_sources_c_modules_and_help(documentation: dict[str, str]) -> None:
    assert "json.decoder.JSONDecoder.decode" in documentation  # parsed
    assert documentation["math.floor"] == __import__("math").floor.__doc__  # imported
    assert "with_stmt" in documentation["help:with"]
    assert len(documentation) > 5000


@pytest.mark.slow
def test_documentation_is_unique_sorted_and_fit_for_trec_files(
    documentation: dict[str, str],
) -> None:
    names = list(documentation)
    assert names == sorted(names)
    assert not any(re.search(r"\s", name) for name in names)
    assert len(set(documentation.values())) == len(documentation)


@pytest.mark.slow
def test_reading_the_documentation_imports_no_python_module_it_documents() -> None:
    code = (
        "import sys; from tdv_lucene.demo.python_docs import read_documentation as read;"
        "read();"
        "print(sorted({'antigravity', 'this', 'turtle', 'tkinter'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert done.stderr == ""


@pytest.mark.parametrize(("part", "count"), [("train", 20), ("test", 10)])
@pytest.mark.slow
def test_each_topic_is_of_its_kind(
    collection: DemoCollection, documentation: dict[str, str], part: str, count: int
) -> None:
    judged: JudgedTopics = getattr(collection, part)
    topics, qrels = read_topics(judged.topics), read_qrels(judged.qrels)
    documents = _documents(collection)
    assert len(topics) == count
    assert topics.keys() == qrels.keys()
    for number, text in topics.items():
        for name in qrels[number]:
            original = " ".join(documentation[name].split()).replace('"', "")
            title, _, left = documents[name].partition("\n")
            if number.startswith("names"):
                module, *names = text.split()
                assert name.partition(".")[0] == module and len(names) == 2
                assert set(names) <= set(re.findall(r"\w+", left))
                continue
            assert text in original
            assert len(left.split()) >= 25
            if number.startswith("heading"):
                assert name.startswith("help:") and not left.startswith(text)
            else:
                assert not any(text in other for other in documents.values())
            if number.startswith("summary"):
                assert text in original[: len(text) + 80]


@pytest.mark.slow
def test_all_kinds_are_asked_and_none_by_half(documentation: dict[str, str]) -> None:
    queries = choose_queries(Documentation.of(documentation), 100, random.Random(3))
    count = {kind: sum(q.kind == kind for q in queries) for kind in {q.kind for q in queries}}
    assert count == {"heading": 15, "names": 20, "sentence": 20, "summary": 45}


SMALL = {
    "help:with": 'The "with" statement\n********************\n\n' + "block " * 30,
    "help:compound.10": 'The "with" statement\n====================\n\n' + "wrap " * 30,
    "help:short": "Some other heading\n***\n\nToo little is left.",
    "pack.f": "Short.\n\n'alpha' -- one\n'beta' -- another\n",
    "pack.g": "Raises nothing. alpha beta gamma\n",
    "other.h": "alpha beta\n",
    "_private.f": "'alpha' -- one\n'beta' -- another\n",
    "pack.k": "k(a) -> b\n\nReturn what the caller asks for.\n\n" + "more " * 24
    + "\nThis is one more sentence that can be asked for.",
}  # fmt: skip


def test_small_documentation_gives_what_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The section under two names has two answers; names are looked for in their module alone."""
    small = Documentation.of(SMALL)
    with pytest.raises(TdvError, match="gives 3$"):
        choose_queries(small, 100, random.Random(0))
    kinds = [(find, 1.0) for find, _ in demo_topics._KINDS if "sentence" not in find.__name__]
    monkeypatch.setattr(demo_topics, "_KINDS", kinds)
    queries = choose_queries(small, 3, random.Random(0))
    found = {(q.kind, frozenset(q.text.split()), tuple(sorted(q.answers))) for q in queries}
    summary = "Return what the caller asks for."
    assert found == {
        ("heading", frozenset({"The", "with", "statement"}), ("help:compound.10", "help:with")),
        ("names", frozenset({"pack", "alpha", "beta"}), ("pack.f", "pack.g")),
        ("summary", frozenset(summary.split()), ("pack.k",)),
    }
    left = small.without(queries)
    assert left["help:with"] == " ".join(["block"] * 30)
    assert summary not in left["pack.k"] and left["pack.k"].startswith("k(a) -> b\n\nmore")
    assert left["pack.f"] == small.texts["pack.f"]


@pytest.mark.slow
def test_training_and_test_topics_share_no_document(collection: DemoCollection) -> None:
    train, test = (read_qrels(part.qrels).values() for part in (collection.train, collection.test))
    assert not {d for docs in train for d in docs} & {d for docs in test for d in docs}


@pytest.mark.slow
def test_same_seed_same_files_and_another_seed_other_topics(
    collection: DemoCollection, tmp_path: Path
) -> None:
    again = document_python(tmp_path / "again", topics=30)
    other = document_python(tmp_path / "other", topics=30, seed=1)
    for path in ("documents/documents.jsonl", "topics-test.tsv", "qrels-test.txt"):
        first = (collection.documents.parent / path).read_bytes()
        assert (again.documents.parent / path).read_bytes() == first
        assert (other.documents.parent / path).read_bytes() != first


@pytest.mark.parametrize(
    ("topics", "message"), [(2, "topics=2 is too few"), (10**6, r"topics=1000000 .* gives \d{4}")]
)
@pytest.mark.slow
def test_wrong_number_of_topics_is_refused_and_nothing_is_written(
    tmp_path: Path, topics: int, message: str
) -> None:
    with pytest.raises(TdvError, match=message):
        document_python(tmp_path / "collection", topics=topics)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_collection_is_kept(tmp_path: Path) -> None:
    (tmp_path / "collection").mkdir()
    with pytest.raises(TdvError, match="exists: choose another output, or pass overwrite=True"):
        document_python(tmp_path / "collection", topics=3)


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


def test_its_prior_is_another_than_the_package_has(wikipedia: DemoCollection) -> None:
    assert wikipedia.prior is not None
    assert Prior.load(wikipedia.prior).content["network"] != Prior.load().content["network"]


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
