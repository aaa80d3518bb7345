"""Indexes of other programs: pruned rightly, or refused alike by all that look at them."""

from __future__ import annotations

import logging
import multiprocessing
import random
import shutil
import zlib
from pathlib import Path

import numpy as np
import pytest
from command_line import run_command, search, write_judged
from lucene_indexes import Doc, _directory, open_writer, text_field, write_index
from lucene_reading import default_codec, open_reader, search_lucene
from oracle import byte4_to_int

import tdv_lucene as tdv
from tdv_lucene.jvm import java_class
from tdv_lucene.matrix.extract import extract_matrix, open_matrix
from tdv_lucene.simulation.collection import apply_values, keep_postings, plain_collection

pytestmark = pytest.mark.jvm

LUCENE = "org.apache.lucene."
POSITIONS = "DOCS_AND_FREQS_AND_POSITIONS"
WHITESPACE = LUCENE + "analysis.core.WhitespaceAnalyzer"
WORDS = "Running indexes ranked Documents café pruned weights naïve queries terms".split()
CHAINS = {
    "keywordRepeat": ["lowercase", "keywordRepeat", "porterStem", "removeDuplicates"],
    "few": ["lowercase", "asciiFolding"],
    "shingles": ["lowercase", "shingle"],
    "words": ["lowercase"],
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


def _write_overlaps(
    path: Path, chain: str, options: str = POSITIONS, most: int = 90, omit_norms: bool = False
) -> Path:
    rng = random.Random(chain)
    writer = open_writer(path, merges=True, analyzer=_chain(CHAINS[chain]))
    for number in range(60):
        document = java_class(LUCENE + "document.Document")()
        weights = [1 if word.isascii() else 0.1 for word in WORDS]
        text = " ".join(rng.choices(WORDS, weights, k=rng.randint(1, most)))
        document.add(text_field("body", text, options, omit_norms))
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


@pytest.mark.parametrize("words", [1, 90])
@pytest.mark.parametrize("chain", CHAINS)
def test_lengths_that_learning_sees_are_those_of_norms(chain, words, tmp_path) -> None:
    """Also where each document has one place, and norms are all 1 as those of weights are."""
    index = _write_overlaps(tmp_path / "source", chain, most=words)
    with open_matrix(index, field="body") as matrix:
        assert matrix.searched_by(None) == "bm25"
        expected = [byte4_to_int(norm) for norm in _norms(index)]
        np.testing.assert_array_equal(plain_collection(matrix).doc_len, expected)
        every = np.ones(matrix.shape[0])
        every[::2] = 0
        left = keep_postings(matrix, every, None)
        for of in (matrix, left):
            found = apply_values(of, every, scale=1).doc_len
            np.testing.assert_array_equal(found, apply_values(matrix, every, scale=1).doc_len)


@pytest.mark.parametrize("chain", CHAINS)
def test_norms_that_do_not_count_overlaps_are_kept(chain: str, tmp_path: Path) -> None:
    source = _write_overlaps(tmp_path / "source", chain)
    kept = {"field": "body", "reduction": 0.0, "tf": "original", "search_as": "recorded"}
    tdv.prune_index(source, None, tmp_path / "kept", **kept)
    assert _norms(tmp_path / "kept") == _norms(source)
    assert tdv.verify_pruned(source, tmp_path / "kept")["equal"]
    pruned = tmp_path / "pruned"
    tdv.prune_index(source, None, pruned, field="body", reduction=0.4, search_as="recorded")
    assert tdv.verify_pruned(source, pruned)["equal"]
    (body,) = (f for f in tdv.inspect_index(source)["fields"] if f["name"] == "body")
    is_plain = chain in ("few", "words")
    assert body["norms"] == ("default" if is_plain else "overlaps")
    (said,) = tdv.inspect_index(source)["analyses"].values()
    assert is_plain or "exactly the terms" not in said["evidence"]


@pytest.mark.parametrize("omit_norms", [False, True])
@pytest.mark.parametrize("options", ["DOCS_AND_FREQS", POSITIONS])
@pytest.mark.parametrize("chain", CHAINS)
def test_hits_are_those_of_lucenes_own_searcher(chain, options, omit_norms, tmp_path) -> None:
    """With all its defaults, and after a pruning that drops nothing; or what cannot be is told."""
    source, pruned = tmp_path / "source", tmp_path / "pruned"
    _write_overlaps(source, chain, options, omit_norms=omit_norms)
    terms = ["documents", "café", "ranked", "weights"]
    topics = {f"q{n}": f"{term} pruned" for n, term in enumerate(terms)}
    asked = {"field": "body", "id_field": "url", "analyzer": WHITESPACE}

    found = search(source, topics, tmp_path / "run", **asked)
    before = search_lucene(source, topics, field="body", name="url")
    assert found.keys() == before.keys()
    for query, hits in found.items():
        assert dict(hits) == pytest.approx(dict(before[query]), abs=1e-5)
    kept = {**asked, "reduction": 0.0, "tf": "original", "search_as": "recorded"}
    overlaps = chain not in ("few", "words")
    if overlaps and options == "DOCS_AND_FREQS" and not omit_norms:
        with pytest.raises(tdv.TdvError, match="'body'.*positions"):
            tdv.prune_index(source, None, pruned, **kept)
        shutil.rmtree(source)
        _write_overlaps(source, chain, POSITIONS)  # as the error says
    tdv.prune_index(source, None, pruned, **kept)
    own = [search_lucene(index, topics, field="body", name="url") for index in (source, pruned)]
    assert own[0] == own[1]


@pytest.mark.parametrize("segments", [[True, False], [False, True, False]])
def test_norms_that_some_segments_lack_are_told(segments: list[bool], tmp_path: Path) -> None:
    """As where norms were turned off in a mapping of Elasticsearch 7. Searches rank by what is."""
    if not default_codec().startswith("Lucene9"):
        pytest.skip("Lucene 10 reads no index in which a field may change")
    config = java_class(LUCENE + "index.IndexWriterConfig")()
    config.setIndexCreatedVersionMajor(8)
    config.setMergePolicy(java_class(LUCENE + "index.NoMergePolicy").INSTANCE)
    writer = java_class(LUCENE + "index.IndexWriter")(_directory(tmp_path / "index"), config)
    rng = random.Random(1)
    for has_norms in segments:
        for _ in range(20):
            document = java_class(LUCENE + "document.Document")()
            text = " ".join(rng.choices(["quick", "fox", "dog", "index"], k=rng.randint(1, 40)))
            document.add(text_field("body", text, POSITIONS, omit_norms=not has_norms))
            document.add(java_class(LUCENE + "document.StoredField")("url", f"{rng.random()}"))
            writer.addDocument(document)
        writer.flush()
    writer.close()
    index, asked = tmp_path / "index", {"field": "body", "no_judgements": True}
    for refused in (
        lambda: tdv.prune_index(index, None, tmp_path / "pruned", field="body"),
        lambda: tdv.learn_from_index(index, None, None, tmp_path / "tdv", **asked),
        lambda: tdv.tune_index(index, None, None, tmp_path / "tuned", field="body"),
    ):
        with pytest.raises(tdv.TdvError, match=r"'body'.*norms.*forceMerge"):
            refused()
    topics = {"q": "quick dog"}
    found = search(index, topics, tmp_path / "run", field="body", id_field="url")["q"]
    own = search_lucene(index, topics, field="body", name="url")["q"]
    assert dict(found) == pytest.approx(dict(own), abs=1e-5) and len(own) > 20
    writer = open_writer(index, merges=True)
    writer.forceMerge(1)
    writer.close()
    tdv.prune_index(index, None, tmp_path / "pruned", field="body", reduction=0.2)
    assert tdv.verify_pruned(index, tmp_path / "pruned")["equal"]


def test_formats_of_other_programs_are_named(make_index, tmp_path) -> None:
    """A codec that Lucene lacks, and a format of one field, as Elasticsearch's completion has."""
    for files, known in (("*.si segments_*", default_codec()), ("*.fnm", "Lucene90")):
        index = make_index([[Doc("a", ["x"])]], name=known)
        unknown = "ES" + known[2:]
        for path in (path for form in files.split() for path in index.glob(form)):
            content = path.read_bytes()[:-8].replace(known.encode(), unknown.encode())
            path.write_bytes(content + zlib.crc32(content).to_bytes(8, "big"))
        for refused in (
            tdv.inspect_index,
            lambda of: tdv.prune_index(of, None, tmp_path / "pruned"),
        ):
            with pytest.raises(tdv.TdvError, match=f"format of its own, '{unknown}'"):
                refused(index)


ODD = {
    "overlaps without positions": None,
    "some ids": [Doc("a", ["x"]), Doc("", ["x"])],
    "emptied": [Doc("a", []), Doc("b", [])],
    "deleted": [Doc("a", ["x"], deleted=True), Doc("b", [])],
    "sound": [Doc("a", ["x"]), Doc("b", ["y"])],
}


@pytest.mark.parametrize("kind", ODD)
def test_inspect_and_prune_answer_alike(kind: str, tmp_path: Path) -> None:
    if (docs := ODD[kind]) is None:
        field, index = "body", _write_overlaps(tmp_path / "i", "keywordRepeat", "DOCS_AND_FREQS")
    else:
        segments = [docs, [Doc("z", None, title=["t"])]]
        field, index = "contents", write_index(tmp_path / "i", segments)
    found = tdv.inspect_index(index)
    (of_field,) = (each for each in found["fields"] if each["name"] == field)
    of_ids = found["why_not"] if found["why_not"].startswith("document") else ""
    why = of_field["why_not_pruned"] or of_ids
    assert bool(why) == (kind != "sound")
    with tdv.Index.open(index) as opened:
        if not why:
            opened.require_prunable(field)
            return
        with pytest.raises(tdv.TdvError) as refused:
            opened.require_prunable(field)
    told = str(refused.value)
    assert why in told and "\ufdd0" not in why + told
    with pytest.raises(tdv.TdvError) as again:
        tdv.prune_index(index, None, tmp_path / "pruned", field=field)
    assert str(again.value) == told


def test_vectors_without_positions_are_told_before_anything_is_learned(make_index, tmp_path):
    docs = [Doc(f"d{n}", ["all", f"w{n}"]) for n in range(20)]
    index = make_index([docs], options=POSITIONS, vectors="v")
    files = write_judged(tmp_path, {"q": "all"}, {"q": "d1"})
    for refused in (
        lambda: tdv.learn_from_index(index, *files, tmp_path / "tdv"),
        lambda: tdv.prune_index(index, None, tmp_path / "pruned", reduction=0.1),
    ):
        with pytest.raises(tdv.TdvError, match=r"--no-lead.*vectors"):
            refused()
    tdv.learn_from_index(index, None, None, tmp_path / "tdv", no_judgements=True, lead=False)
    tdv.prune_index(index, tmp_path / "tdv", tmp_path / "pruned", reduction=0.1)


def test_what_pyserini_takes_otherwise_is_told(make_index, tmp_path, caplog) -> None:
    """An emptied first document, and weights of fields."""
    rng = np.random.default_rng(0)
    docs = [Doc("d0", ["all"], title=["t"])]
    docs += [Doc(f"d{n}", ["all", *rng.choice(WORDS, 20)]) for n in range(1, 40)]
    index = make_index([docs], vectors="v")
    for output, reduction in (("emptied", 0.5), ("whole", 0.0)):
        caplog.clear()
        report = tdv.prune_index(index, None, tmp_path / output, reduction=reduction)
        assert ("set_rm3" in caplog.text) == (output == "emptied")
        assert report["other_fields"] == ["title"]
    words = ("--index", index, "--output", tmp_path / "command", "--reduction", 0)
    lines = run_command("prune", *words).stdout.splitlines()
    assert any(line.startswith("Queries over contents and title need the") for line in lines)


def test_sizes_below_what_stays_are_refused_at_once(make_index, tmp_path, monkeypatch) -> None:
    index = make_index([[Doc(f"d{n}", [f"w{n}", "all"]) for n in range(30)]])
    monkeypatch.setattr("tdv_lucene.pruning.writing.write_index", lambda *_, **__: pytest.fail())
    with pytest.raises(tdv.TdvError, match="max_bytes 900 .*stored"):
        tdv.prune_index(index, None, tmp_path / "pruned", max_bytes=900)


def test_an_empty_query_costs_no_other(make_index, tmp_path, caplog) -> None:
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
        found = tdv.search_index(index, topics, tmp_path / f"{ending}.run")
        assert (found["hits"], found["queries_without_hits"]) == (2, ["b"])
        assert "'b'" in caplog.text


@pytest.mark.slow
def test_norms_that_hold_parameters_are_told_to_other_models(make_index, tmp_path) -> None:
    rng = np.random.default_rng(0)
    docs = [Doc(f"d{n}", [f"w{n}", *rng.choice(WORDS, 40)]) for n in range(30)]
    index = make_index([docs])
    tdv.prune_index(index, None, tmp_path / "pruned", reduction=0.1)
    asked = {f"q{n}": f"w{n} terms" for n in range(9)}
    files = write_judged(tmp_path, asked, {f"q{n}": f"d{n}" for n in range(9)})
    report = tdv.compare_indexes(
        index, tmp_path / "pruned", *files, tmp_path / "report", model="qld",
        latency_budget_seconds=0.1,
    )  # fmt: skip
    assert any("hold BM25's k1 and b" in note for note in report["notes"])


def _call_in_child(index: Path, told: multiprocessing.Queue) -> None:
    logging.disable()
    try:
        tdv.inspect_index(index)
    except tdv.TdvError as error:
        told.put(str(error))


def test_a_forked_process_is_refused_java(tiny_index: Path) -> None:
    tdv.inspect_index(tiny_index)
    forking = multiprocessing.get_context("fork")
    told = forking.Queue()
    child = forking.Process(target=_call_in_child, args=(tiny_index, told))
    child.start()
    try:
        assert "spawn" in told.get(timeout=300)
    finally:
        child.join(10)
        child.kill()


@pytest.mark.parametrize("known", ["contents", ""])
def test_a_field_that_is_not_there_is_told_with_the_option(known, make_index, tmp_path) -> None:
    kind = {"options": "DOCS_AND_FREQS" if known else "DOCS"}
    index = make_index([[Doc("a", ["x"], title=["t"])]], title="DOCS", **kind)
    remedy = f"--field.*: {known}$" if known else "none of its fields"
    for refused in (
        lambda: tdv.prune_index(index, None, tmp_path / "out", field="boddy"),
        lambda: tdv.search_index(index, {"q": "x"}, tmp_path / "out", field="boddy"),
        lambda: extract_matrix(index, tmp_path / "out", field="boddy"),
    ):
        with pytest.raises(tdv.TdvError, match=f"'boddy'.*{remedy}"):
            refused()


def test_what_is_no_index_is_named(make_index, tmp_path) -> None:
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
        with pytest.raises(tdv.TdvError, match=named):
            tdv.inspect_index(path)
