"""Runs are Pyserini's, with the parameters the index asks for: what it records of its values
decides how it is searched, and which values are its own."""

from __future__ import annotations

import json
import logging
import unicodedata
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from command_line import hits_of, run_apart, run_command, write_judged
from index_facts import analysis_of, recorded_parameters
from lucene_indexes import Doc, open_writer, say, write_index
from pruning_inputs import values_of

from tdv_lucene import (
    Index,
    TdvError,
    compare_indexes,
    explain_query,
    extract_matrix,
    make_peer_values,
    prune_index,
)
from tdv_lucene.comparison.explain import trade_off
from tdv_lucene.evaluation.measures import MEASURES, evaluate_run
from tdv_lucene.evaluation.runs import read_run
from tdv_lucene.jvm import java_class
from tdv_lucene.output import Output
from tdv_lucene.ranking import SearchParameters
from tdv_lucene.searching.search import open_searcher, search_index, search_with
from tdv_lucene.searching.tune import tune_parameters

pytestmark = pytest.mark.jvm

TOPICS = {
    "q2": "pruned index of terms",
    "q1": "quick fox",
    "q0": "nothing matches zyzzy",
    "q3": "the",
}


def read_lines(path):
    return [line.split() for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def tied_index(tmp_path_factory):
    """Many documents with equal and nearly equal scores; ids out of order."""
    rng = np.random.default_rng(1)
    docs = [
        Doc(f"d{i}", ["t1"] * int(rng.integers(1, 4)) + ["t2"] * int(rng.integers(1, 40)))
        for i in rng.permutation(300)
    ]
    return write_index(tmp_path_factory.mktemp("tied") / "index", [docs[:120], docs[120:]])


@pytest.mark.pyserini
@pytest.mark.parametrize("model", ["bm25", "qld"])
def test_the_run_is_plain_pyserinis(tied_index, tmp_path, model):
    """Ids, order and scores, when LuceneSearcher is given the printed parameters."""
    topics = {"a": "t1", "b": "t2 t1 t1"}
    used = search_index(tied_index, topics, tmp_path / "run", model=model, hits=250)
    java_class("java.lang.Object")  # our JVM first, then Pyserini, as users of both do
    from pyserini.search.lucene import LuceneSearcher

    searcher = LuceneSearcher(str(tied_index))
    if model == "bm25":
        searcher.set_bm25(used["k1"], used["b"])
    else:
        searcher.set_qld(used["mu"])
    run = (tmp_path / "run").read_text().splitlines()
    assert len(run) == used["hits"] == 500
    assert run == _by(searcher, topics, 250, f"tdv-lucene-{model}")


def _by(searcher, topics: dict[str, str], hits: int, tag: str) -> list[str]:
    """The lines of the run that a searcher of Pyserini's gives."""
    return [
        f"{qid} Q0 {hit.docid} {rank} {hit.score:.6f} {tag}"
        for qid, text in topics.items()
        for rank, hit in enumerate(searcher.search(text, hits), 1)
    ]


@pytest.mark.pyserini
@pytest.mark.parametrize("model", ["bm25", "qld", "tfidf"])
def test_open_searcher_ranks_as_the_run(tied_index, tmp_path, model):
    search_index(tied_index, {"a": "t1 t2"}, tmp_path / "run", model=model, hits=20, tag="x")
    expected = _by(open_searcher(tied_index, model), {"a": "t1 t2"}, 20, "x")
    assert (tmp_path / "run").read_text().splitlines() == expected


@pytest.mark.parametrize("model", ["bm25", "qld", "tfidf"])
def test_a_shorter_run_is_the_beginning_of_a_longer_one(tied_index, make_index, tmp_path, model):
    """However many documents are equal to the last one."""
    equal = make_index([[Doc(f"d{i}", ["t1"]) for i in (*range(90, 0, -1), *range(91, 200))]])
    for index in (tied_index, equal):
        topics = {"a": "t1", "b": "t2 t1 t1"}
        search_index(index, topics, tmp_path / "run", model=model, overwrite=True)
        whole = read_lines(tmp_path / "run")
        for hits in (1, 2, 40, 100, 190):
            search_index(index, topics, tmp_path / "run", model=model, hits=hits, overwrite=True)
            expected = [line for line in whole if int(line[3]) <= hits]
            assert read_lines(tmp_path / "run") == expected
    ids = [doc for query, _, doc, *_ in whole if query == "a"]
    assert ids == sorted(f"d{i}" for i in range(1, 200))


def test_summary_manifest_and_topic_order(tiny_index, tmp_path):
    summary = search_index(tiny_index, TOPICS, tmp_path / "run", hits=3)
    run = read_lines(tmp_path / "run")
    assert list(dict.fromkeys(line[0] for line in run)) == ["q2", "q1"]
    assert summary["queries_without_hits"] == ["q0", "q3"]  # 'the' is a stop word
    assert (summary["queries"], summary["hits"]) == (4, len(run))
    assert max(int(line[3]) for line in run) == 3
    manifest = json.loads((tmp_path / "run.manifest.json").read_text())
    assert manifest["kind"] == "run" and manifest["depth"] == 3
    assert {"commit", "path"} <= manifest["source"].keys()
    assert (manifest["model"], manifest["k1"], manifest["b"]) == ("bm25", 0.9, 0.4)


def record(index, **user_data: object) -> None:
    """Commit user data as the prune stage does."""
    writer = open_writer(index)
    say(writer, {f"tdv.{name.replace('__', '.')}": str(value) for name, value in user_data.items()})
    writer.commit()
    writer.close()


def test_other_parameters_than_the_recorded_ones_are_told(make_index, tmp_path, caplog):
    """As another model is; a value copied from what prune printed is no other."""
    index = make_index([[Doc("a", ["t1"]), Doc("b", ["t1", "t1"])]])
    search_index(index, {"q": "t1"}, tmp_path / "plain", k1=1.2)  # it records none
    record(index, search__k1=3.6000001, search__b=0.4, search__mu=4000.0)
    search_index(index, {"q": "t1"}, tmp_path / "copied", k1=3.6, b=0.4)
    assert not caplog.messages
    search_index(index, {"q": "t1"}, tmp_path / "other", k1=0.9)
    (warning,) = caplog.messages
    assert "k1 3.6" in warning and "k1 0.9" in warning


def test_a_query_of_too_many_terms_is_cut_and_told(make_index, tmp_path, caplog):
    """Lucene takes 1,024 different terms; the others of the batch are searched all the same."""
    words = [f"w{i}" for i in range(1500)]
    docs = [Doc("first", ["w3"]), Doc("last", ["w1023"]), Doc("beyond", ["w1024", "w1400"])]
    index = make_index([docs])
    topics = {"long": " ".join(["w0", *words]), "exact": " ".join(words[:1024]), "other": "w1400"}
    search_index(index, topics, tmp_path / "run")
    assert "'long' (1,500)" in caplog.messages[0]
    found = {query: dict(hits) for query, hits in hits_of(tmp_path / "run").items()}
    assert found["long"] == found["exact"] and found["long"].keys() == {"first", "last"}
    assert found["other"].keys() == {"beyond"}


@pytest.mark.parametrize(
    ("topics", "why"),
    [
        ({"a": "the", "b": "of and"}, "English (Porter"),
        ({"a": "planets", "b": "comet"}, "the field 'title' has 2"),
        ({"a": "zyzzy"}, "collection and language"),
        ({"a": "gone"}, "only deleted documents"),
    ],
)
def test_that_nothing_is_found_is_told_with_the_reason(topics, why, make_index, tmp_path, caplog):
    docs = [Doc("a", ["t1"], ["planet", "comet"]), Doc("b", ["gone"], deleted=True)]
    search_index(make_index([docs]), topics, tmp_path / "run")
    (warning,) = caplog.messages
    assert "the field 'contents'" in warning and why in warning


@pytest.mark.parametrize("queries", ["NFC", "NFD"])
def test_another_unicode_form_is_told(queries, make_index, tmp_path, caplog):
    """Searched as it is, as Pyserini does; a collection that has both forms loses nothing."""
    index_form = {"NFC": "NFD", "NFD": "NFC"}[queries]
    words = "un café très chaud"
    docs = [Doc("a", unicodedata.normalize(index_form, words).split()), Doc("b", ["chaud"])]
    index = make_index([docs])
    topics = {"q": unicodedata.normalize(queries, "café chaud"), "other": "chaud"}
    search_index(index, topics, tmp_path / "run")
    (warning,) = caplog.messages
    assert f"Write the queries in {index_form}" in warning and "1 of its terms" in warning
    caplog.clear()
    both = make_index([[*docs, Doc("c", unicodedata.normalize(queries, words).split())]], "both")
    search_index(both, topics, tmp_path / "again")
    assert not caplog.messages


@pytest.mark.pyserini
def test_recorded_parameters_are_used(make_index, tmp_path):
    index = make_index([[Doc("a", ["t1"]), Doc("b", ["t1", "t1"])]])
    assert recorded_parameters(index) == SearchParameters("bm25", k1=0.9, b=0.4)
    record(index, search__k1=3.6, search__b=0.4, search__mu=4000.0)
    assert recorded_parameters(index) == SearchParameters("bm25", k1=3.6, b=0.4)
    assert recorded_parameters(index, "qld") == SearchParameters("qld", mu=4000.0)
    assert recorded_parameters(index, k1=1.2) == SearchParameters("bm25", k1=1.2, b=0.4)
    assert recorded_parameters(index, "tfidf") == SearchParameters("tfidf")
    assert search_index(index, {"q": "t1"}, tmp_path / "run")["k1"] == 3.6
    hits = [(hit.docid, f"{hit.score:.6f}") for hit in open_searcher(index).search("t1")]
    assert {"q": hits} == hits_of(tmp_path / "run")


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"mu": 10.0}, "'mu'"),
        ({"b": 1.5}, "b .*1.5"),
        ({"k1": float("nan")}, "k1 .*nan"),
        ({"model": "qld", "mu": 0.0}, "mu .* 0"),
        ({"field": "body"}, "'body'"),
        ({"tag": "two words"}, "'two words'"),
        ({"index": "/nowhere"}, "/nowhere"),
        ({"topics": "/nowhere.tsv"}, "/nowhere.tsv"),
        ({"topics": {}}, "topics"),
    ],
)
def test_refusals_leave_nothing(tiny_index, tmp_path, changes, message):
    arguments = {"index": tiny_index, "topics": TOPICS, "output": tmp_path / "run", **changes}
    with pytest.raises(TdvError, match=message):
        search_index(**arguments)
    assert list(tmp_path.iterdir()) == []


def test_one_query_is_printed(tiny_index, tmp_path):
    search_index(tiny_index, {"query": "quick fox"}, tmp_path / "run", hits=10)
    done = run_command("search", "--index", tiny_index, "--query", "quick fox")
    assert done.stdout == (tmp_path / "run").read_text()
    both = ("--query", "x", "--topics", "y"), "--topics and --query exclude each other"
    for words, told in (both, ((), "pass --topics, or --query")):
        refused = run_command("search", "--index", tiny_index, *words, status=2)
        assert told in refused.stderr


def test_in_a_pipe(tiny_index, tmp_path):
    """Topics from standard input, the run and nothing else on standard output."""
    search_index(tiny_index, {"q1": "quick fox", "q2": "the"}, tmp_path / "run", tag="x")
    words = ["search", "--index", tiny_index, "--topics", "-", "--output", "-", "--tag", "x"]
    done = run_apart("-m", "tdv_lucene", *words, cwd=tmp_path, said="q1\tquick fox\nq2\tthe\n")
    assert done.stdout == (tmp_path / "run").read_text()
    assert "queries_without_hits  1 (ids: q2)" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"run", "run.manifest.json"}


@pytest.mark.parametrize("at_once", [1, 10**6])
@pytest.mark.parametrize("model", ["bm25", "qld", "tfidf"])
def test_a_run_in_arrays_is_that_in_the_file(tied_index, tmp_path, model, at_once, monkeypatch):
    """Ids, order, and scores to the last bit of what is read from the text."""
    monkeypatch.setattr("tdv_lucene.searching.search.HITS_AT_ONCE", at_once)
    topics = {"b": "t2 t1 t1", "none": "zyzzy", "a": "t1"}
    run = Output(tmp_path / "run", "run", is_folder=False, inputs=())
    with Index.open(tied_index) as index:
        made = search_with(
            index, topics, run, recorded_parameters(index, model), hits=250, field="contents",
            analysed=analysis_of(index), keep_run=True,
        )  # fmt: skip
    found, read = made.run(), read_run(tmp_path / "run")
    hits = [(q, d, s) for q, docs in found.scored(found.queries).items() for d, s in docs.items()]
    assert hits == [*zip(read["query"], read["docid"], read["score"])] and len(read) == 500
    assert [f"{score:.6f}" for _, _, score in hits] == [
        line[4] for line in read_lines(tmp_path / "run")
    ]
    qrels = {"a": {"d7": 1, "d8": 2, "d9": 1}, "b": {"d7": 2, "d200": 1, "unknown": 1}}
    ours, files = (evaluate_run(one, topics, qrels) for one in (found, tmp_path / "run"))
    assert ours.queries == files.queries == ("b", "a")
    for measure in MEASURES:
        assert (ours.values[measure] == files.values[measure]).all()


def test_soft_deleted_documents_are_not_found(make_index, tmp_path):
    """As Lucene's own reader of such indexes has it: an id stands for its last version."""
    docs = [Doc("d1", ["t1"], deleted=True), Doc("d2", ["t1", "t2"])]
    more = [Doc("d3", ["t1"], deleted=True), Doc("d4", ["t2"])]
    index = make_index([docs, more], soft_deletes=True, vectors="v")
    summary = search_index(index, {"q": "t1"}, tmp_path / "run")
    assert [line[2] for line in read_lines(tmp_path / "run")] == ["d2"]
    assert summary["hits"] == 1
    with pytest.raises(TdvError, match="2 soft-deleted .*rm3"):
        search_index(index, {"q": "t1"}, tmp_path / "expanded", feedback="rm3")


def test_a_ranking_function_of_another_version_is_refused_by_name(make_index):
    index = make_index([[Doc("a", ["t1"])]])
    record(index, model="dfr", version="9.1.0", plan_sha256="of another")
    with pytest.raises(TdvError, match="9.1.0 .*'dfr'"):
        recorded_parameters(index)
    assert recorded_parameters(index, "qld") == SearchParameters("qld", mu=1000.0)


@pytest.fixture
def expanded(make_index, tmp_path):
    """``expanded(tf, vectors)``: 120 documents on 20 topics of 8 words, for RM3 takes no word of
    more than a tenth of them; every third term is dropped."""
    rng = np.random.default_rng(4)
    words = [[f"g{i % 20}w{w}" for w in rng.permutation(8)[:5]] for i in range(120)]
    docs = [Doc(f"d{i}", [*tokens, "all"]) for i, tokens in enumerate(words)]

    def make(tf, vectors):
        source = make_index([docs[:80], docs[80:]], vectors=vectors)
        matrix = extract_matrix(source, tmp_path / "matrix")
        weights = np.where(np.arange(matrix.shape[0]) % 3 == 0, 0, 1.3)
        prune_index(source, values_of(matrix, weights), tmp_path / "pruned", reduction=0, tf=tf)
        return tmp_path / "pruned"

    return make


@pytest.mark.pyserini
@pytest.mark.parametrize("tf", ["scaled", "original"])
@pytest.mark.parametrize("feedback", ["rm3", "rocchio"])
def test_search_expands_as_pyserini(feedback, tf, expanded, tmp_path):
    """The same hits and scores, for several queries at once."""
    index = expanded(tf, vectors="v")
    topics = {f"q{i}": f"g{i}w1 g{i}w4" for i in range(12)} | {"none": "zyzzy"}
    summary = search_index(index, topics, tmp_path / "run", feedback=feedback, hits=50, threads=3)
    assert summary["feedback"] == feedback and summary["queries_without_hits"][-1] == "none"
    searcher = open_searcher(index)
    getattr(searcher, f"set_{feedback}")()
    run = (tmp_path / "run").read_text().splitlines()
    assert run == _by(searcher, topics, 50, f"tdv-lucene-bm25-{feedback}")
    search_index(index, topics, tmp_path / "plain", hits=50, tag="mine")
    assert (tmp_path / "plain").read_text().splitlines()[0].endswith(" mine")
    assert len(run) > len((tmp_path / "plain").read_text().splitlines())


@pytest.mark.pyserini
@pytest.mark.parametrize("feedback", ["rm3", "rocchio"])
def test_search_says_what_feedback_needs(feedback, expanded, tmp_path):
    index = expanded("scaled", vectors="")
    for options, told in (
        ({}, f"no term vectors of 'contents', which {feedback}.*-storeD"),
        ({"field": "title"}, "searches only the field 'contents', not 'title'"),
        ({"feedback": "prf"}, "feedback must be one of rm3, rocchio, got 'prf'"),
    ):
        with pytest.raises(TdvError, match=told):
            search_index(
                index, {"q": "g3w1"}, tmp_path / "run", **{"feedback": feedback, **options}
            )
    assert not (tmp_path / "run").exists()


@pytest.mark.pyserini
def test_a_pruned_index_is_searched_from_pyterrier(tiny_index, tmp_path):
    pt = pytest.importorskip("pyterrier")
    make_peer_values(tiny_index, tmp_path / "values", name="ridf")
    prune_index(tiny_index, tmp_path / "values", tmp_path / "pruned", reduction=0.2, scale=3.0)
    from tdv_lucene.pyterrier import Pruned

    pruned = Pruned(tmp_path / "pruned")
    topics = pd.DataFrame(list(TOPICS.items()), columns=["qid", "query"])
    found = pruned(topics)
    search_index(tmp_path / "pruned", TOPICS, tmp_path / "run")
    run = read_run(tmp_path / "run")
    assert len(run) > 5
    assert list(zip(found["qid"], found["docno"])) == list(zip(run["query"], run["docid"]))
    assert found["score"].tolist() == pytest.approx(run["score"].tolist(), abs=1e-4)
    assert len((pruned % 2)(topics)) <= 2 * len(TOPICS)
    first = run.groupby("query").first()["docid"]
    qrels = pd.DataFrame({"qid": first.index, "docno": first.to_numpy(), "label": 1})
    table = pt.Experiment([pruned], topics, qrels, eval_metrics=["recip_rank"])
    assert table["recip_rank"].tolist() == [1.0]


ASKED = {"q1": "alpha beta", "q2": "gamma zeta"}


def _values(matrix, model, scale=4):
    """Values as learning writes them, but of known weights."""
    values = values_of(matrix, scale=scale)
    measured = {"scale": scale, "measures": {"nDCG@5": 0.4}, "full": {"nDCG@5": 0.5}}
    points = [{**measured, "reduction": each, "scales": []} for each in (0, 0.15, 0.3, 0.45)]
    values.manifest.update(model=model, points=points, recommended_reduction=0.3)
    return values


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """An index with two fields, their matrices, and ``qld``, the first pruned for that model."""
    folder = tmp_path_factory.mktemp("recorded")
    rng = np.random.default_rng(3)
    words = ["alpha", "beta", "gamma", "delta", "zeta", "eta", *(f"w{i}" for i in range(20))]
    docs = [
        Doc(f"d{i}", [str(w) for w in rng.choice(words, 20)], title=[str(rng.choice(words[:6]))])
        for i in range(60)
    ]
    index = write_index(folder / "index", [docs[:40], docs[40:]])
    contents, title = (
        extract_matrix(index, folder / f"{name}-matrix", field=name)
        for name in ("contents", "title")
    )
    prune_index(index, _values(contents, "qld"), folder / "qld")
    relevant = {qid: " ".join(f"d{i}" for i in range(at, 60, 2)) for at, qid in enumerate(ASKED)}
    files = write_judged(folder, ASKED, relevant)
    return SimpleNamespace(
        index=index, contents=contents, title=title, files=files, qld=folder / "qld"
    )


def test_search_takes_the_recorded_model_and_warns_of_another(case, tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    summary = search_index(case.qld, ASKED, tmp_path / "run")
    assert (summary["model"], summary["mu"]) == ("qld", 4000.0)
    assert caplog.messages == []
    other = search_index(case.qld, ASKED, tmp_path / "other", model="bm25")
    assert (other["model"], other["k1"]) == ("bm25", pytest.approx(3.6))
    (warning,) = caplog.messages
    assert "was learned for qld and is searched with bm25" in warning and str(case.qld) in warning


def test_tuning_keeps_the_recorded_model(case):
    qrels = {"q1": {"d0": 1}, "q2": {"d1": 1}}
    assert tune_parameters(case.qld, ASKED, qrels)[0].model == "qld"
    with pytest.raises(TdvError, match="model tfidf"):
        tune_parameters(case.qld, ASKED, qrels, "tfidf")


@pytest.mark.pyserini
def test_a_searcher_has_the_recorded_model(case, caplog):
    assert "Dirichlet" in str(open_searcher(case.qld).get_similarity().toString())
    assert caplog.messages == []
    open_searcher(case.qld, "bm25")
    assert "was learned for qld" in caplog.text


def test_explain_and_compare_take_the_recorded_model(case, tmp_path, caplog):
    found = explain_query(case.index, case.qld, "alpha beta")["parameters"]
    assert {recorded["model"] for recorded in found.values()} == {"qld"}
    assert caplog.messages == []
    explain_query(case.index, case.qld, "alpha beta", model="tfidf")
    assert "was learned for qld and is searched with tfidf" in caplog.text
    given, fast = (case.index, case.qld, *case.files), {"latency_budget_seconds": 0.2}
    report = compare_indexes(*given, tmp_path / "report", **fast)
    assert report["parameters"]["model"] == "qld"
    assert not [note for note in report["notes"] if "learned for" in note]
    prune_index(case.index, _values(case.contents, "bm25"), tmp_path / "b")
    with pytest.raises(TdvError, match="'pruned' for qld, 'b' for bm25"):
        compare_indexes(*given, tmp_path / "out", further_indexes={"b": tmp_path / "b"}, **fast)


def test_a_field_that_was_not_pruned_is_searched_as_it_was_indexed(case, tmp_path):
    pruned = tmp_path / "pruned"
    prune_index(case.index, _values(case.contents, "bm25"), pruned, search_as="recorded")
    found = {
        field: recorded_parameters(pruned, field=field).k1 for field in (None, "contents", "title")
    }
    assert found == pytest.approx({None: 3.6, "contents": 3.6, "title": 0.9})


def test_pruning_another_field_keeps_what_is_recorded_of_the_first(case, tmp_path):
    titles = extract_matrix(case.qld, tmp_path / "titles", field="title")
    asked = {"reduction": 0.1, "search_as": "recorded"}
    prune_index(case.qld, _values(titles, "bm25", scale=2), tmp_path / "both", **asked)
    assert recorded_parameters(tmp_path / "both", field="title").k1 == pytest.approx(1.8)
    of_contents = recorded_parameters(tmp_path / "both", field="contents")
    assert (of_contents.model, of_contents.mu) == ("qld", 4000.0)


def test_the_curve_marks_what_was_asked_for(case, tmp_path):
    """Of both fields, each pruned by its own values, though more went."""
    values, others = _values(case.contents, "any"), [_values(case.title, "any")]
    asked = {"reduction": 0.45, "min_doc_freq": 2}
    prune_index(case.index, values, tmp_path / "pruned", others=others, **asked)
    with Index.open(tmp_path / "pruned") as opened:
        for field in ("contents", "title"):
            found = trade_off(opened, field)
            assert found["chosen"] == 0.45 and len(found["points"]) > 3
