"""Impact indexes, whose frequencies are weights: what every command makes of them, and how those
that are no counts of words are told apart, refused or warned of."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from command_line import hits_of, run_command, write_judged
from impact_documents import LAYOUT, POWER, impact_documents
from lucene_indexes import Doc, change, open_writer, write_index

import tdv_lucene as tdv
from tdv_lucene.analysis import DEFAULT
from tdv_lucene.index.queries import heaviest_terms, shortened_topics
from tdv_lucene.jvm import java_class
from tdv_lucene.learning.prior import prior_values_of_index
from tdv_lucene.matrix.extract import open_matrix
from tdv_lucene.ranking import SearchParameters

pytestmark = pytest.mark.jvm


@pytest.fixture
def impact_index(tmp_path):
    docs = impact_documents()
    return write_index(tmp_path / "index", [docs[:25], docs[25:]], LAYOUT)


@pytest.mark.pyserini
@pytest.mark.parametrize("pruned", [False, True])
def test_impact_scores_are_those_of_pyserinis_searcher(impact_index, tmp_path, pruned):
    """Which leaves out terms that all documents have."""
    topics = {"1": "a a a ##b all", "2": "c all e e unknown"}
    index = impact_index
    if pruned:
        index = tmp_path / "pruned"
        values = prior_values_of_index(impact_index)
        ones = np.ones_like(values.weights)
        manifest = {**values.manifest, "lead": POWER._asdict()}
        values = replace(values, weights=ones, manifest=manifest)
        report = tdv.prune_index(impact_index, values, index, reduction=0.4, scale=0.3)
        assert report["model"] == "impact" and report["reduction"] > 0.3
        assert tdv.verify_pruned(impact_index, index)["equal"]
        with open_matrix(index) as left:
            assert {*left.data} <= {max(1, round(0.3 * w**1.5 / 3)) for w in (1, 2, 3, 9, 40, 250)}
    found = tdv.search_index(index, topics, tmp_path / "run", hits=20)
    assert found["model"] == "impact"
    from pyserini.search.lucene import LuceneImpactSearcher

    searcher = LuceneImpactSearcher(str(index), None)
    ours = hits_of(tmp_path / "run")
    for qid, text in topics.items():
        theirs = [(hit.docid, f"{hit.score:.6f}") for hit in searcher.search(text, 20)]
        assert theirs == ours[qid]
    if not pruned:
        hits = tdv.open_searcher(index).search("all a", 60)
        assert 0 < len(hits) < 60
        assert len(tdv.open_searcher(index, min_idf=-1).search("all a", 60)) == 60


def test_impact_indexes_are_followed_and_explained(impact_index, tmp_path):
    """Whose weights learning raised to a power; terms are searched as they are."""
    pruned, values = tmp_path / "pruned", prior_values_of_index(impact_index)
    values = replace(values, manifest={**values.manifest, "lead": POWER._asdict()})
    tdv.prune_index(impact_index, values, pruned, reduction=0.4, scale=0.3)
    change(impact_index, [Doc("n1", ["a"] * 300 + ["new"] * 40)], layout=LAYOUT)
    assert tdv.update_index(pruned)["segments_added"] == 1
    assert tdv.verify_pruned(impact_index, pruned)["equal"]
    told = tdv.explain_query(impact_index, pruned, "a a ##b all")
    assert [told["hits"][when][0]["document"] for when in ("before", "after")] == ["n1", "n1"]


def test_other_functions_do_not_rank_impact_indexes_nor_it_others(
    impact_index, tiny_index, tmp_path
):
    for model in ("bm25", "qld", "tfidf"):
        with pytest.raises(tdv.TdvError, match=f"impact index .*{model}|{model} .*impact index"):
            tdv.search_index(impact_index, {"q": "a"}, tmp_path / "run", model=model)
    with pytest.raises(tdv.TdvError, match="impact"):
        tdv.search_index(tiny_index, {"q": "quick"}, tmp_path / "run", model="impact")
    with pytest.raises(tdv.TdvError, match="impact"):
        tdv.learn_from_index(
            tiny_index, None, None, tmp_path / "v", model="impact", no_judgements=True
        )
    files = write_judged(tmp_path, {"1": "a a c"}, {"1": "d3"})
    for tune in (
        lambda: tdv.tune_index(impact_index, None, None, tmp_path / "tuned"),
        lambda: tdv.compare_indexes(impact_index, impact_index, *files, tmp_path / "R", tune=files),
    ):
        with pytest.raises(tdv.TdvError, match="k1 and b"):
            tune()
    assert not (tmp_path / "R").exists()
    with pytest.raises(tdv.TdvError, match="expect"):
        tdv.prune_index(impact_index, None, tmp_path / "pruned", expect="details")
    with pytest.raises(tdv.TdvError, match="min_idf .* -2"):
        tdv.search_index(impact_index, {"q": "a"}, tmp_path / "run", min_idf=-2)


@pytest.mark.parametrize("weight", [-1, 0.5, 10**6, True, "3"])
def test_weights_that_no_topic_can_have_are_refused(weight, tmp_path):
    topics = tmp_path / "topics.jsonl"
    topics.write_text(json.dumps({"id": "1", "vector": {"a": 2, "##b": 1.0, "c": 0}}) + "\n")
    assert tdv.read_topics(topics) == {"1": "a a ##b"}
    topics.write_text(json.dumps({"id": "1", "vector": {"a": weight}}) + "\n")
    with pytest.raises(tdv.TdvError, match="line 1: .* 'a'"):
        tdv.read_topics(topics)


TEN = {"a": 5, "b": 3, "c": 1, "d": 1}


@pytest.mark.parametrize(
    ("weights", "share", "kept"),
    [
        (TEN, 1, "abcd"), (TEN, 0.81, "abcd"), (TEN, 0.8, "ab"), (TEN, 0.5, "a"), (TEN, 1e-9, "a"),
        ({"b": 1, "a": 1}, 0.5, "ab"), ({"x": 55, "y": 45}, 0.55, "x"), ({}, 0.5, ""),
    ],
)  # fmt: skip
def test_the_heaviest_terms_hold_the_share_of_a_query(weights, share, kept):
    """In whatever order: what weighs as much as the last is kept."""
    assert heaviest_terms(weights, share) == {*kept}


def test_what_is_left_of_a_query_is_what_was_written():
    """Not its stems: a stem has another one at times."""
    impact = SearchParameters("impact", min_idf=0)
    text = "Organizations, organizations; a generalization of organizations"
    made, told = shortened_topics({"q": text, "empty": "the"}, 0.6, impact, "contents", DEFAULT)
    assert made == {"q": "Organizations organizations organizations", "empty": ""}
    assert (told["terms_per_query_before"], told["terms_per_query"]) == (1.0, 0.5)


def test_a_comparison_asks_every_index_for_the_same_terms(impact_index, tmp_path):
    pruned = tmp_path / "pruned"
    tdv.prune_index(impact_index, prior_values_of_index(impact_index), pruned, reduction=0.4)
    texts, relevant = {"1": "a a a a ##b", "2": "c c c c c e"}, {"1": "d3", "2": "d5"}
    topics, qrels = write_judged(tmp_path, texts, relevant)
    kept = tmp_path / "kept.tsv"
    kept.write_text("1\ta a a a\n2\tc c c c c\n")
    done = run_command(
        "compare", "--index", impact_index, "--pruned", pruned, "--topics", topics,
        "--qrels", qrels, "--output", tmp_path / "R", "--query-terms", "0.8",
        "--latency-budget", "0.2",
    )  # fmt: skip
    said = " ".join(done.output.split())
    assert "the queries of 'topics' ask for their heaviest terms only, which hold 80 % of" in said
    assert "of a query's weight: 1.0 of 2.0 terms on average." in said
    report = json.loads((tmp_path / "R" / "report.json").read_text())
    assert report["parameters"]["shortened"]["topics"]["query_terms"] == 0.8
    assert "which hold 80 % of a query" in (tmp_path / "R" / "report.html").read_text()
    plain = tdv.compare_indexes(
        impact_index, pruned, kept, qrels, tmp_path / "K", latency_budget_seconds=0.2
    )
    assert report["measures"]["MAP"]["means"] == plain["measures"]["MAP"]["means"]
    for name in ("full", "pruned"):
        runs = [(tmp_path / folder / "runs" / f"{name}.run").read_text() for folder in "RK"]
        assert runs[0] == runs[1] != ""


def test_queries_that_do_not_weigh_their_terms_are_not_shortened(tiny_index, tmp_path):
    for model in (None, "qld"):
        with pytest.raises(tdv.TdvError, match="query_terms 0.5"):
            tdv.search_index(tiny_index, {"q": "fox"}, tmp_path / "R", model=model, query_terms=0.5)
    topics, qrels = write_judged(tmp_path, {"q1": "quick fox"}, {"q1": "d0"})
    with pytest.raises(tdv.TdvError, match="query_terms 0.5"):
        tdv.compare_indexes(tiny_index, tiny_index, topics, qrels, tmp_path / "R", query_terms=0.5)
    for share in (0, -1, 1.5, float("nan")):
        with pytest.raises(tdv.TdvError, match="query_terms"):
            tdv.search_index(tiny_index, {"q": "fox"}, tmp_path / "R", query_terms=share)
    assert not (tmp_path / "R").exists()


def test_a_query_log_chooses_how_much_of_an_impact_index_is_dropped(impact_index, tmp_path):
    log = tmp_path / "log.tsv"
    pairs = [(x, y) for x in ("a", "##b", "c", "e") for y in ("a", "c", "e") if x != y]
    texts = [f"{f'{x} ' * times}{y}" for x, y in pairs for times in (1, 2)]
    log.write_text("".join(f"{number}\t{text}\n" for number, text in enumerate(texts)))
    report = tdv.prune_index(impact_index, None, tmp_path / "P", queries=log, max_loss=0.99)
    assert report["model"] == "impact" and report["chosen"]["log"]["queries"] == len(texts)
    assert report["postings"] < report["postings_before"]
    assert tdv.verify_pruned(impact_index, tmp_path / "P")["equal"]
    values = tdv.learn_from_index(impact_index, log, None, tmp_path / "V")
    assert values.model == "impact"


LUCENE = "org.apache.lucene."
TOPICS = {"q": "t1 t2"}
QRELS = {"q": {"d1": 1}}


def _features(path: Path, weights: np.ndarray) -> Path:
    """A document for each row, with text beside its features, in two segments."""
    writer = open_writer(path)
    stored = java_class(LUCENE + "document.Field$Store")
    for number, row in enumerate(weights):
        document = java_class(LUCENE + "document.Document")()
        name = java_class(LUCENE + "document.StringField")("id", f"d{number}", stored.YES)
        document.add(name)
        words = " ".join(f"w{number % prime}" for prime in (2, 3, 5, 7))
        document.add(java_class(LUCENE + "document.TextField")("contents", words, stored.NO))
        for term, weight in enumerate(row):
            feature = java_class(LUCENE + "document.FeatureField")
            document.add(feature("features", f"t{term}", float(weight)))
        writer.addDocument(document)
        if number == len(weights) // 2:
            writer.flush()
    writer.close()
    return path


def _weighed(weights: np.ndarray) -> list[Doc]:
    """What JsonVectorCollection makes of a document's weights: each term as often as it weighs."""
    return [
        Doc(f"d{i}", [f"t{t}" for t, n in enumerate(row) for _ in range(n)])
        for i, row in enumerate(weights)
    ]


def _field(index: Path, name: str = "contents") -> dict:
    return next(each for each in tdv.inspect_index(index)["fields"] if each["name"] == name)


@pytest.mark.parametrize("size", [1e-9, 0.01, 1.0, 300.0, 1e12])
def test_features_are_told_whatever_their_size(size, tmp_path):
    weights = size * np.random.default_rng(0).uniform(0.1, 3, (20, 4))
    index = _features(tmp_path / "index", weights)
    told = _field(index, "features")
    assert told["frequencies"] == "features" and "FeatureField" in told["why_not_pruned"]
    assert _field(index)["frequencies"] == "counts" and not _field(index)["why_not_pruned"]


def test_features_are_refused_by_name(tmp_path):
    index, out = _features(tmp_path / "index", np.full((20, 4), 1.5)), tmp_path / "out"
    for command, *given in (
        (tdv.prune_index, None, out),
        (tdv.extract_matrix, out),
        (tdv.export_ciff, out),
        (tdv.make_peer_values, out, "ridf"),
        (tdv.tune_index, None, None, out),
        (tdv.tune_index, TOPICS, QRELS, out),
        (tdv.search_index, TOPICS, out),
        (partial(tdv.search_index, model="impact"), TOPICS, out),
        (tdv.learn_from_index, TOPICS, QRELS, out),
    ):
        with pytest.raises(tdv.TdvError, match="'features'.*FeatureField.*whole numbers.*-impact"):
            command(index, *given, field="features")
        assert not out.exists()


@pytest.mark.parametrize("norms", ["impact", "none"])
def test_heavy_weights_are_no_features(norms, make_index):
    """Whole weights that are all above 256, as features are."""
    docs = _weighed(np.random.default_rng(2).integers(257, 3000, (12, 3)))
    index = make_index([docs[:6], docs[6:]], norms=norms)
    expected = "weights" if norms == "impact" else "likely weights"
    assert _field(index)["frequencies"] == expected and not _field(index)["why_not_pruned"]
    with tdv.Index.open(index) as opened:
        assert opened.holds_weights("contents") is (True if norms == "impact" else None)


@pytest.mark.parametrize("norms", ["default", "accurate"])
def test_weights_that_were_indexed_as_words_are_warned_of(norms, make_index, tmp_path, caplog):
    weights = np.maximum(np.random.default_rng(3).normal(40, 30, (30, 8)).astype(int), 0)
    index = make_index([_weighed(weights)], norms=norms)
    assert _field(index)["frequencies"] == "likely weights"
    assert any("-impact" in note for note in tdv.inspect_index(index)["notes"])
    for command in (
        lambda: tdv.search_index(index, TOPICS, tmp_path / "run"),
        lambda: tdv.tune_index(index, None, None, tmp_path / "tuned"),
        lambda: tdv.make_peer_values(index, tmp_path / "values", "df"),
    ):
        caplog.clear()
        command()
        warned = [r.message for r in caplog.records if "-impact" in r.message]
        assert warned and all("contents" in told for told in warned)
        assert len(warned) == 1, "each command says it once"


def test_long_texts_are_counts(make_index):
    """Frequent words make a large mean; but many words occur once."""
    rng = np.random.default_rng(4)
    docs = [Doc(f"d{i}", [f"t{t}" for t in rng.zipf(1.6, 4000)]) for i in range(3)]
    docs = [Doc(doc.id, [*doc.tokens, *["the"] * 40_000]) for doc in docs]
    index = make_index([docs])
    found = _field(index)
    assert found["tokens"] / found["postings"] > 8 and found["frequencies"] == "counts"
    assert not tdv.inspect_index(index)["notes"]
