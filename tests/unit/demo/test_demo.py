"""The demonstration collection: documents, known-item topics and their qrels."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tdv_lucene import TdvError
from tdv_lucene.demo import topics as demo_topics
from tdv_lucene.demo.python_docs import read_documentation
from tdv_lucene.demo.run import (
    DemoCollection,
    JudgedTopics,
    _reductions,
    careful_reduction,
    make_collection,
)
from tdv_lucene.demo.topics import Documentation, choose_queries
from tdv_lucene.evaluation.topics import read_qrels, read_topics


@pytest.fixture(scope="module")
def documentation() -> dict[str, str]:
    return read_documentation()


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> DemoCollection:
    return make_collection(tmp_path_factory.mktemp("demo") / "collection", topics=30)


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
    again = make_collection(tmp_path / "again", topics=30)
    other = make_collection(tmp_path / "other", topics=30, seed=1)
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
        make_collection(tmp_path / "collection", topics=topics)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_collection_is_kept(tmp_path: Path) -> None:
    (tmp_path / "collection").mkdir()
    with pytest.raises(TdvError, match="exists: choose another output, or pass overwrite=True"):
        make_collection(tmp_path / "collection", topics=3)


@pytest.mark.parametrize(
    ("pruned", "expected"),
    [((0.4, 0.35, 0.2), 0.3), ((0.2, 0.2, 0.2), 0.0), ((0.3, 0.299, 0.298), 0.6)],
)
def test_demo_removes_the_most_that_held_out_queries_bear(
    pruned: tuple[float, ...], expected: float
) -> None:
    points = [_point(*figures) for figures in zip((0.0, 0.3, 0.6), pruned)]
    assert careful_reduction(points) == expected


def _point(reduction: float, value: float) -> dict[str, object]:
    """A point with a held-out nDCG@5 that is sure; the full index has .3."""
    difference = {"nDCG@5": {"mean": value - 0.3, "ci95": [value - 0.3] * 2}}
    measures = {"measures": {"nDCG@5": value}, "full": {"nDCG@5": 0.3}}
    return {"reduction": reduction, "difference": difference, **measures}


@pytest.mark.parametrize(
    ("recommended", "asked", "expected"),
    [(0.6, None, {"pruned": 0.3, "smaller": 0.6}), (0.3, None, {"pruned": 0.3}),
     (0.6, 0.45, {"pruned": 0.45}), (None, None, {"pruned": 0.3, "smaller": 0.45})],
)  # fmt: skip
def test_demo_prunes_carefully_and_as_recommended(
    recommended: float | None, asked: float | None, expected: dict[str, float]
) -> None:
    points = [_point(*figures) for figures in ((0.0, 0.31), (0.3, 0.30), (0.6, 0.2))]
    learned = SimpleNamespace(points=points, manifest={"recommended_reduction": recommended})
    assert _reductions(learned, asked) == expected
