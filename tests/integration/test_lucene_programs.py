"""Indexes that Lucene itself wrote, without Anserini's ``id``: a field names documents, or nothing.

Everything works on them: the one here has several analysed fields, doc values of all kinds, points,
soft deletes and an index sort. Blocks of nested documents are apart.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import run_command, search, write_judged
from lucene_indexes import _bytes_ref, _directory, open_writer
from lucene_reading import search_lucene
from pruning_inputs import read_user_data

import tdv_lucene as tdv
from tdv_lucene import Index
from tdv_lucene.index.analysis import analysis_of
from tdv_lucene.jvm import java_class

pytestmark = pytest.mark.jvm

LUCENE = "org.apache.lucene."
STANDARD = LUCENE + "analysis.standard.StandardAnalyzer"
WORDS = "index postings terms documents ranking retrieval pruning query search weight".split()
DOCUMENTS = 24
GONE = (3, 17)
"""Soft-deleted."""
NAMES = {"url": "http://a/{}", "number": "{}", "key": "k{}", "isbn": "{}"}
"""Field -> what it calls a document: sorted, numeric and binary doc values, and stored only."""


def _text(number: int) -> str:
    """Of words that fewer documents have the later they come in the list."""
    words = [word for at, word in enumerate(WORDS) if number % (at + 1) == 0]
    return " ".join([*words, f"Word{number}", *["the"] * (number % 5)])


def _stored(name: str, value: str | int | bytes):
    kinds = {str: "Ljava/lang/String;", int: "J", bytes: "[B"}
    taken = f"(Ljava/lang/String;{kinds[type(value)]})V"
    return java_class(LUCENE + "document.StoredField")(name, value, signature=taken)


def _column(kind: str, name: str, value: bytes):
    return java_class(f"{LUCENE}document.{kind}DocValuesField")(name, _bytes_ref(value))


def _number(name: str, value: int):
    return java_class(LUCENE + "document.NumericDocValuesField")(name, value)


def _whole(name: str, value: str, stored: str = "YES", kind: str = "StringField"):
    keep = getattr(java_class(LUCENE + "document.Field$Store"), stored)
    return java_class(f"{LUCENE}document.{kind}")(name, value, keep)


def _words(name: str, value: str, stored: str = "YES"):
    return _whole(name, value, stored, "TextField")


def _of(*fields):
    document = java_class(LUCENE + "document.Document")()
    for field in fields:
        document.add(field)
    return document


def _document(number: int, names: bool = True):
    named = [
        _column("Sorted", "url", NAMES["url"].format(number).encode()),
        _column("Binary", "key", NAMES["key"].format(number).encode()),
        _number("number", number), _stored("isbn", str(number)),
    ]  # fmt: skip
    return _of(
        _words("body", _text(number)), _words("title", "日本語の本 " + WORDS[number % 10]),
        java_class(LUCENE + "document.LongPoint")("year", 1900 + number), _number("rank", -number),
        *(_column("SortedSet", "tags", tag) for tag in (b"x", b"y")), *(named if names else ()),
    )  # fmt: skip


def _writer(path: Path):
    fields = java_class("java.util.HashMap")()
    fields.put("title", java_class(LUCENE + "analysis.cjk.CJKAnalyzer")())
    per_field = java_class(LUCENE + "analysis.miscellaneous.PerFieldAnalyzerWrapper")
    analyzer = per_field(java_class(STANDARD)(), fields)
    config = java_class(LUCENE + "index.IndexWriterConfig")(analyzer)
    config.setMergePolicy(java_class(LUCENE + "index.NoMergePolicy").INSTANCE)
    config.setSoftDeletesField("gone")
    longs = java_class(LUCENE + "search.SortField$Type").LONG
    by = java_class(LUCENE + "search.SortField")("rank", longs)
    config.setIndexSort(java_class(LUCENE + "search.Sort")(by))
    return java_class(LUCENE + "index.IndexWriter")(_directory(path), config)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a Lucene program wrote: two segments, sorted by falling numbers."""
    path = tmp_path_factory.mktemp("program") / "index"
    writer = _writer(path)
    _add(writer, range(DOCUMENTS // 2))
    _add(writer, range(DOCUMENTS // 2, DOCUMENTS))
    mark = java_class(LUCENE + "document.NumericDocValuesField")("gone", 1)
    for number in GONE:
        writer.updateDocValues(java_class(LUCENE + "index.Term")("body", f"word{number}"), mark)
    writer.close()
    return path


def _add(writer, numbers: range) -> None:
    for number in numbers:
        writer.addDocument(_document(number))
    writer.flush()


@pytest.fixture(scope="module")
def pruned(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Without judgements, and for Lucene's defaults without being told."""
    made = tmp_path_factory.mktemp("pruned") / "pruned"
    tdv.prune_index(program, None, made, field="body", id_field="url", reduction=0.3)
    return made


def _run(index: Path, folder: Path, query: str = "ranking the postings", **options) -> list[tuple]:
    """(id, score) of the hits."""
    return search(index, {"q": query}, folder / "run", **{"field": "body", **options}).get("q", [])


def _by_lucene(
    index: Path, words: str = "ranking the postings", field: str = "body", similarity=None
) -> list[tuple]:
    """(isbn, score) of the hits of Lucene's own searcher."""
    return search_lucene(index, {"q": words}, similarity, field=field, name="isbn")["q"]


def test_numbers_name_documents_where_nothing_else_does(program, tmp_path: Path) -> None:
    """Living ones are counted; so they are the same in the pruned index."""
    in_order = [n for half in (range(12), range(12, 24)) for n in reversed(half) if n not in GONE]
    numbered = {str(place): f"http://a/{n}" for place, n in enumerate(in_order)}
    named = _run(program, tmp_path, id_field="url")
    for none in ({}, {"id_field": "none"}):
        found = _run(program, tmp_path, **none)
        assert [(numbered[name], score) for name, score in found] == named
    tdv.prune_index(program, None, tmp_path / "pruned", field="body", reduction=0.3)
    by_number = [numbered[name] for name, _ in _run(tmp_path / "pruned", tmp_path)]
    assert by_number == [name for name, _ in _run(tmp_path / "pruned", tmp_path, id_field="url")]


def test_a_pruned_index_keeps_its_names_and_all_else(program, pruned, tmp_path: Path) -> None:
    """It tells how its source is named, too."""
    assert read_user_data(pruned)["id_field"] == "url"
    found = tdv.verify_pruned(program, pruned)
    assert found["equal"], found
    found = _run(pruned, tmp_path)
    assert [(name.removeprefix("http://a/"), score) for name, score in found] == [
        (isbn, pytest.approx(score, abs=1e-5)) for isbn, score in _by_lucene(pruned)
    ]
    with pytest.raises(tdv.TdvError, match="records that its documents are named by 'url'"):
        _run(pruned, tmp_path, id_field="number")
    topics, qrels = write_judged(tmp_path, {"q": "ranking the postings"}, {"q": "http://a/20"})
    asked = {"field": "body", "latency_budget_seconds": 0.1}
    report = tdv.compare_indexes(program, pruned, topics, qrels, tmp_path / "report", **asked)
    assert report["measures"]["R@1000"]["full"] == 1
    explained = tdv.explain_query(program, pruned, "ranking", field="body")
    assert explained["hits"]["before"][0]["document"].startswith("http://a/")


def test_it_is_learned_from_and_followed(program, tmp_path: Path) -> None:
    texts = {f"{n}": f"ranking Word{n}" for n in range(5)}
    topics, qrels = write_judged(tmp_path, texts, {n: f"http://a/{n}" for n in texts})
    source = tmp_path / "source"
    writer = _writer(source)
    _add(writer, range(DOCUMENTS))
    writer.close()
    asked = {"field": "body", "term_values": False}
    with pytest.raises(tdv.TdvError, match="documents that another field names need"):
        tdv.learn_from_index(source, topics, qrels, tmp_path / "values", **asked)
    tdv.learn_from_index(source, topics, qrels, tmp_path / "values", **asked, id_field="url")
    tdv.prune_index(source, tmp_path / "values", tmp_path / "pruned", reduction=0.2)
    writer = _writer(source)
    _add(writer, range(DOCUMENTS, DOCUMENTS + 6))
    writer.close()
    assert tdv.update_index(tmp_path / "pruned")["segments_added"] == 1
    assert "http://a/28" in dict(_run(tmp_path / "pruned", tmp_path, "Word28"))


def test_inspect_proposes_fields(program: Path) -> None:
    found = tdv.inspect_index(program)
    assert found["can_be_pruned"] and found["named_by"] == "their numbers"
    assert found["id_fields"] == ["isbn", "key", "number", "rank", "url"]
    shown = run_command("inspect", "--index", program).output
    assert "their numbers; --id-field could be isbn, key, number, rank, url" in shown
    assert "title: Chinese (detected from stored text)" in shown  # CJKAnalyzer


def test_what_names_not_every_document_is_refused(program: Path, tmp_path: Path) -> None:
    nested = tmp_path / "nested"
    writer = _writer(nested)
    _add(writer, range(2))
    writer.addDocument(_document(2, names=False))
    writer.close()
    for index, field, why in (
        (program, "tags", "has no 'tags'"),
        (program, "title2", "no field 'title2'"),
        (nested, "url", "document 2 of .* has no 'url'"),
    ):
        with pytest.raises(tdv.TdvError, match=why):
            _run(index, tmp_path, id_field=field)
    with pytest.raises(tdv.TdvError, match="for an index in one folder"):
        _run(tdv.find_shards([str(program), str(nested)]), tmp_path, id_field="url")
    with pytest.raises(tdv.TdvError, match="their numbers, and Anserini and Pyserini"):
        tdv.open_searcher(program)


NO_TEXT = bytes([0xE3, 0x81])
"""The beginning of a character: Lucene's decoder runs over its end."""
READABLE = {
    "none": lambda n: [],
    "whole, stored": lambda n: [_whole("id", f"{n}")],
    "whole, sorted": lambda n: [_whole("id", f"{n}", "NO"), _column("Sorted", "id", b"%d" % n)],
    "whole, binary": lambda n: [_whole("id", f"{n}"), _column("Binary", "id", b"%d" % n)],
    "sorted": lambda n: [_column("Sorted", "id", b"%d" % n)],
    "binary": lambda n: [_column("Binary", "id", b"%d" % n)],
    "point": lambda n: [java_class(LUCENE + "document.LongPoint")("id", n), _stored("id", n)],
    "number": lambda n: [_number("id", n)],
    "words, stored": lambda n: [_words("id", f"{n}")],
    "stored": lambda n: [_stored("id", f"{n}")],
    "stored bytes": lambda n: [_stored("id", b"%d" % n)],
}
"""A field called ``id``, by what it is: of the document's number."""
UNREADABLE = {
    "whole, not stored": lambda n: [_whole("id", f"{n}", "NO")],
    "words, not stored": lambda n: [_words("id", f"document {n}", "NO")],
    "some": lambda n: [_whole("id", f"{n}")] * (n % 3 > 0),
    "several": lambda n: [_whole("id", f"{n}"), _whole("id", f"{n}b")],
    "stored, no text": lambda n: [_stored("id", NO_TEXT + bytes([n]))],
    "binary, no text": lambda n: [_column("Binary", "id", NO_TEXT[: 1 + n % 2])],
    "sorted, no text": lambda n: [_column("Sorted", "id", NO_TEXT + bytes([n]))],
}
KINDS = READABLE | UNREADABLE


def _random_program(path: Path, ids, field: str, seed: int) -> str:
    """Write documents of random words and lengths with these ids, one segment or several; return a
    query that most have a word of."""
    rng, writer = np.random.default_rng(seed), open_writer(path, analyzer=java_class(STANDARD)())
    for number in range(30):
        text = " ".join(rng.choice(WORDS, int(rng.integers(1, 40))))
        fields = *ids(number), _words(field, text, "NO"), _stored("isbn", f"{number}")
        writer.addDocument(_of(*fields))
        if rng.random() < 0.1:
            writer.flush()
    writer.close()
    return " ".join(rng.choice(WORDS, 3, replace=False))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "whole, binary"])
def test_a_field_called_id_does_not_make_an_index_anserinis(kind: str, tmp_path: Path) -> None:
    """Hits are those of Lucene's searcher with its defaults, or the remedy's are."""
    index = tmp_path / "index"
    query = _random_program(index, KINDS[kind], "contents", len(kind))
    asked = {"field": "contents", "analyzer": STANDARD}
    told = tdv.inspect_index(index)
    assert told["can_be_pruned"] == (kind in READABLE)
    assert told["defaults"].startswith("Lucene's k1 1.2, b 0.75 (")
    assert told["id_fields"].count("isbn") == (kind in UNREADABLE or kind == "none")
    if kind in UNREADABLE:
        assert "'id'" in told["why_not"] and "none" in told["id_fields"]
        with pytest.raises(tdv.TdvError, match=r"'id'.*id_field none"):
            _run(index, tmp_path, **asked)
        asked["id_field"] = "none"
    found, expected = _run(index, tmp_path, query, **asked), _by_lucene(index, query, "contents")
    assert [name for name, _ in found] == [name for name, _ in expected] and len(found) > 9
    assert [s for _, s in found] == pytest.approx([s for _, s in expected], abs=1e-5)


@pytest.mark.parametrize("field", ["body", "contents"])
def test_what_anserini_writes_makes_an_index_anserinis(field: str, tmp_path: Path) -> None:
    """Whichever field was asked for as the id: it is not what tells."""
    index = tmp_path / "index"
    query = _random_program(index, READABLE["whole, binary"], field, 3)
    is_anserinis = field == "contents"
    k1, b = (0.9, 0.4) if is_anserinis else (1.2, 0.75)
    similarity = java_class(LUCENE + "search.similarities.BM25Similarity")(k1, b)
    assert tdv.inspect_index(index)["defaults"].startswith("Anserini" if is_anserinis else "Lucene")
    expected = dict(_by_lucene(index, query, field, similarity))
    for named in ({}, {"id_field": "none"}, {"id_field": "isbn"}):
        found = dict(_run(index, tmp_path, query, field=field, analyzer=STANDARD, **named))
        assert found == pytest.approx(expected, abs=1e-4)
    pruned = tmp_path / "pruned"
    asked = {"field": field, "analyzer": STANDARD, "reduction": 0.3, "id_field": "isbn"}
    report = tdv.prune_index(index, None, pruned, **asked)
    assert (report["search"]["k1"], report["search"]["b"]) == (k1, b)
    for shown in (report, tdv.search_index(index, {"q": query}, tmp_path / "run2", field=field)):
        assert f"k1 {k1:g}, b {b:g}" in shown["defaults"]
    assert "defaults" not in tdv.search_index(pruned, {"q": query}, tmp_path / "run3", field=field)


@pytest.mark.parametrize("title", ["YES", "NO"])
def test_a_field_without_text_is_taken_for_like_another_and_told_of(
    title: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = java_class(LUCENE + "index.IndexWriterConfig")(java_class(STANDARD)())
    writer = java_class(LUCENE + "index.IndexWriter")(_directory(tmp_path / "index"), config)
    for number in range(DOCUMENTS):
        texts = _words("body", _text(number), "NO"), _words("title", _text(number), title)
        writer.addDocument(_of(_column("Sorted", "url", b"u%d" % number), *texts))
    writer.close()
    with Index.open(tmp_path / "index") as index:
        found = analysis_of(index, "body")
        analysis_of(index, "body")
    assert not found.is_certain
    taken = "English (Porter stemmer; assumed: Anserini's default)"
    if title == "YES":
        assert (found.analysis.stemmer, found.analysis.stopwords) == ("none", ())
        taken = "likeliest by the stored text of 'title', as its own is not stored; "
    assert taken in found.describe()
    (told,) = [one for one in caplog.messages if "was analysed cannot be told" in one]
    assert taken in told and "--analyzer CLASS" in told
