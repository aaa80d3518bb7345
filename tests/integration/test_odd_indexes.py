"""Indexes of other programs: pruned rightly, or refused alike by all that look at them."""

from __future__ import annotations

import logging
import multiprocessing
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from command_line import run_command
from impact_documents import LAYOUT, impact_documents
from lucene_indexes import Doc, _directory, text_field, write_index
from lucene_reading import open_reader

from tdv_lucene.errors import TdvError
from tdv_lucene.index.index import Index
from tdv_lucene.index.inspection import inspect_index
from tdv_lucene.jvm import java_class
from tdv_lucene.learning.from_index import learn_from_index
from tdv_lucene.pruning.prune import prune_index
from tdv_lucene.pruning.verify import verify_pruned
from tdv_lucene.searching.search import search_index

pytestmark = pytest.mark.jvm

LUCENE = "org.apache.lucene."
POSITIONS = "DOCS_AND_FREQS_AND_POSITIONS"
WORDS = "Running indexes ranked Documents café pruned weights naïve queries terms".split()
CHAINS = {
    "keywordRepeat": ["lowercase", "keywordRepeat", "porterStem", "removeDuplicates"],
    "few": ["lowercase", "asciiFolding"],
    "shingles": ["lowercase", "shingle"],
}


def _chain(filters: list[str]):
    """An analyzer that puts several tokens at one position."""
    place = java_class("java.nio.file.Paths").get(".")
    builder = java_class(LUCENE + "analysis.custom.CustomAnalyzer").builder(place)
    signature = (
        "(Ljava/lang/String;Ljava/util/Map;)"
        f"L{LUCENE.replace('.', '/')}analysis/custom/CustomAnalyzer$Builder;"
    )

    def settings(name: str):
        found = java_class("java.util.HashMap")()
        if name == "asciiFolding":
            found.put("preserveOriginal", "true")
        return found

    builder.withTokenizer("standard", settings(""), signature=signature)
    for name in filters:
        builder.addTokenFilter(name, settings(name), signature=signature)
    return builder.build()


def _write_overlaps(path: Path, chain: str, options: str = POSITIONS) -> Path:
    rng = random.Random(chain)
    config = java_class(LUCENE + "index.IndexWriterConfig")(_chain(CHAINS[chain]))
    writer = java_class(LUCENE + "index.IndexWriter")(_directory(path), config)
    for number in range(60):
        document = java_class(LUCENE + "document.Document")()
        weights = [1 if word.isascii() else 0.1 for word in WORDS]
        text = " ".join(rng.choices(WORDS, weights, k=rng.randint(1, 90)))
        document.add(text_field("body", text, options))
        stored = java_class(LUCENE + "document.StoredField")
        document.add(stored("body", text))
        document.add(stored("url", f"d{number}"))
        writer.addDocument(document)
        if number == 30:
            writer.flush()
    writer.close()
    return path


def _norms(index: Path) -> list[int]:
    with open_reader(index) as reader:
        norms = java_class(LUCENE + "index.MultiDocValues").getNormValues(reader, "body")
        return [norms.longValue() for doc in range(reader.maxDoc()) if norms.advanceExact(doc)]


@pytest.mark.parametrize("chain", CHAINS)
def test_norms_that_do_not_count_overlaps_are_kept(chain: str, tmp_path: Path) -> None:
    source = _write_overlaps(tmp_path / "source", chain)
    kept = {"field": "body", "reduction": 0.0, "tf": "original", "search_as": "recorded"}
    prune_index(source, None, tmp_path / "kept", **kept)
    assert _norms(tmp_path / "kept") == _norms(source)
    assert verify_pruned(source, tmp_path / "kept")["equal"]
    pruned = tmp_path / "pruned"
    prune_index(source, None, pruned, field="body", reduction=0.4, search_as="recorded")
    assert verify_pruned(source, pruned)["equal"]
    (body,) = (f for f in inspect_index(source)["fields"] if f["name"] == "body")
    assert body["norms"] == ("default" if chain == "few" else "overlaps")
    (said,) = inspect_index(source)["analyses"].values()
    assert chain == "few" or "exactly the terms" not in said["evidence"]


def _odd(kind: str, path: Path) -> Path:
    if kind == "overlaps without positions":
        return _write_overlaps(path, "keywordRepeat", "DOCS_AND_FREQS")
    docs = {
        "some ids": [Doc("a", ["x"]), Doc("", ["x"])],
        "emptied": [Doc("a", []), Doc("b", [])],
        "deleted": [Doc("a", ["x"], deleted=True), Doc("b", [])],
        "sound": [Doc("a", ["x"]), Doc("b", ["y"])],
        "features": [],
    }[kind]
    return write_index(path, [docs, [Doc("z", None, title=["t"])]])


@pytest.mark.parametrize(
    "kind", ["overlaps without positions", "some ids", "emptied", "deleted", "sound"]
)
def test_inspect_and_prune_answer_alike(kind: str, tmp_path: Path) -> None:
    index = _odd(kind, tmp_path / "index")
    field = "body" if "overlaps" in kind else "contents"
    found = inspect_index(index)
    (of_field,) = (each for each in found["fields"] if each["name"] == field)
    of_ids = found["why_not"] if found["why_not"].startswith("document") else ""
    why = of_field["why_not_pruned"] or of_ids
    assert bool(why) == (kind != "sound")
    with Index.open(index) as opened:
        if not why:
            opened.require_prunable(field)
            return
        with pytest.raises(TdvError) as refused:
            opened.require_prunable(field)
    told = str(refused.value)
    assert why in told and "\ufdd0" not in why + told
    with pytest.raises(TdvError) as again:
        prune_index(index, None, tmp_path / "pruned", field=field)
    assert str(again.value) == told


def test_vectors_without_positions_are_told_before_anything_is_learned(
    make_index: Callable[..., Path], tmp_path: Path
) -> None:
    docs = [Doc(f"d{n}", ["all", f"w{n}"]) for n in range(20)]
    index = make_index([docs], options=POSITIONS, vectors="v")
    (tmp_path / "topics").write_text("q\tall\n")
    (tmp_path / "qrels").write_text("q 0 d1 1\n")
    files = tmp_path / "topics", tmp_path / "qrels"
    for refused in (
        lambda: learn_from_index(index, *files, tmp_path / "tdv"),
        lambda: prune_index(index, None, tmp_path / "pruned", reduction=0.1),
    ):
        with pytest.raises(TdvError, match=r"--no-lead.*vectors"):
            refused()
    learn_from_index(index, None, None, tmp_path / "tdv", no_judgements=True, lead=False)
    prune_index(index, tmp_path / "tdv", tmp_path / "pruned", reduction=0.1)


def test_what_pyserini_takes_otherwise_is_told(
    make_index: Callable[..., Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An emptied first document, a name of one of its own indexes, and weights of fields."""
    rng = np.random.default_rng(0)
    docs = [Doc("d0", ["all"], title=["t"])]
    docs += [Doc(f"d{n}", ["all", *rng.choice(WORDS, 20)]) for n in range(1, 40)]
    index = make_index([docs], vectors="v")
    said = {"set_rm3": "emptied", "its own": "msmarco-v1-passage-slim"}
    for output in ("emptied", "msmarco-v1-passage-slim", "msmarco-v1-passage-pruned"):
        caplog.clear()
        report = prune_index(
            index, None, tmp_path / output, reduction=0.5 if output == "emptied" else 0.0
        )
        told = {words for words in said if words in caplog.text}
        assert told == {words for words, of in said.items() if of == output}
        assert report["other_fields"] == ["title"]
    words = ("--index", index, "--output", tmp_path / "command", "--reduction", 0)
    lines = run_command("prune", *words).stdout.splitlines()
    assert any(line.startswith("Searches of contents together with title") for line in lines)


def test_impact_indexes_have_no_kind_of_queries(tmp_path: Path) -> None:
    index = write_index(tmp_path / "index", [impact_documents()], LAYOUT)
    with pytest.raises(TdvError, match="expect"):
        prune_index(index, None, tmp_path / "pruned", expect="details")


def test_sizes_below_what_stays_are_refused_at_once(
    make_index: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = make_index([[Doc(f"d{n}", [f"w{n}", "all"]) for n in range(30)]])
    monkeypatch.setattr("tdv_lucene.pruning.writing.write_index", lambda *_, **__: pytest.fail())
    with pytest.raises(TdvError, match="max_bytes 900 .*stored"):
        prune_index(index, None, tmp_path / "pruned", max_bytes=900)


def test_an_empty_query_costs_no_other(
    make_index: Callable[..., Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    index = make_index([[Doc(f"d{n}", [f"w{n}", "all"]) for n in range(5)]])
    forms = {
        "tsv": "a\tw1\nb\t\nc\tw2\n",
        "jsonl": '{"id": "a", "text": "w1"}\n{"id": "b", "text": ""}\n{"id": "c", "text": "w2"}\n',
        "json": '[{"id": "a", "vector": {"w1": 2}}, {"id": "b", "vector": {}}, '
        '{"id": "c", "vector": {"w2": 1}}]',
    }
    for ending, text in forms.items():
        topics = tmp_path / f"topics.{ending}"
        topics.write_text(text)
        caplog.clear()
        found = search_index(index, topics, tmp_path / f"{ending}.run")
        assert (found["hits"], found["queries_without_hits"]) == (2, ["b"])
        assert "'b'" in caplog.text


@pytest.mark.slow
def test_norms_that_hold_parameters_are_told_to_other_models(
    make_index: Callable[..., Path], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    docs = [Doc(f"d{n}", [f"w{n}", *rng.choice(WORDS, 40)]) for n in range(30)]
    index = make_index([docs])
    prune_index(index, None, tmp_path / "pruned", reduction=0.1)
    (tmp_path / "topics").write_text("".join(f"q{n}\tw{n} terms\n" for n in range(9)))
    (tmp_path / "qrels").write_text("".join(f"q{n} 0 d{n} 1\n" for n in range(9)))
    report = run_command(
        "compare", "--index", index, "--pruned", tmp_path / "pruned", "--topics",
        tmp_path / "topics", "--qrels", tmp_path / "qrels", "--output", tmp_path / "report",
        "--latency-budget", "0.1", "--model", "qld",
    )  # fmt: skip
    assert report.exit_code == 0 and "hold BM25's k1 and b" in report.output


def _call_in_child(index: Path, told: multiprocessing.Queue) -> None:
    logging.disable()
    try:
        inspect_index(index)
    except TdvError as error:
        told.put(str(error))


def test_a_forked_process_is_refused_java(tiny_index: Path) -> None:
    inspect_index(tiny_index)
    forking = multiprocessing.get_context("fork")
    told = forking.Queue()
    child = forking.Process(target=_call_in_child, args=(tiny_index, told))
    child.start()
    try:
        assert "spawn" in told.get(timeout=300)
    finally:
        child.join(10)
        child.kill()


def test_what_is_no_index_is_named(make_index: Callable[..., Path], tmp_path: Path) -> None:
    """The folder above one, as Elasticsearch's and Solr's; an archive; vectors of Faiss."""
    for name in ("one", "other"):
        (tmp_path / "data" / "indices" / name / "0").mkdir(parents=True)
        make_index([[Doc("a", ["x"])]], name=f"data/indices/{name}/0/index")
    one, data = tmp_path / "data" / "indices" / "one", tmp_path / "data"
    (tmp_path / "index.tar.gz").write_bytes(b"")
    (tmp_path / "faiss").mkdir()
    for name in ("index", "docid"):
        (tmp_path / "faiss" / name).touch()
    for path, named in (
        (one, f"{one}/0/index$"), (data, "0/index, and more"),
        (tmp_path / "index.tar.gz", "unpack"), (tmp_path / "faiss", "Faiss"),
        (tmp_path / "nowhere", "folder$"),
    ):  # fmt: skip
        with pytest.raises(TdvError, match=named):
            inspect_index(path)
