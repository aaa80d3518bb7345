"""What an index records of its values decides how it is searched, and which values are its own."""

from __future__ import annotations

import logging
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from lucene_indexes import Doc, write_index

from tdv_lucene import Index, TdvError, compare_indexes, explain_query, extract_matrix, prune_index
from tdv_lucene.comparison.explain import trade_off
from tdv_lucene.index.parameters import recorded_parameters
from tdv_lucene.searching.search import open_searcher, search_index
from tdv_lucene.searching.tune import tune_parameters
from tdv_lucene.values.peers import unlearned_values

pytestmark = pytest.mark.jvm

TOPICS = {"q1": "alpha beta", "q2": "gamma zeta"}


def values_of(matrix, model="any", weights=None, scale=4):
    """Values as learning writes them, but of known weights."""
    made = unlearned_values(matrix, "df")
    if weights is None:
        weights = np.linspace(0.5, 1.5, matrix.shape[0], dtype=np.float32)
    measured = {"scale": scale, "measures": {"nDCG@5": 0.4}, "full": {"nDCG@5": 0.5}}
    points = [{**point, **measured} for point in made.points]
    manifest = {**made.manifest, "model": model, "points": points, "recommended_reduction": 0.3}
    return replace(made, weights=weights, manifest=manifest)


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """An index with two fields, values of both, and a pruning of each by its own."""
    folder = tmp_path_factory.mktemp("recorded")
    rng = np.random.default_rng(3)
    words = ["alpha", "beta", "gamma", "delta", "zeta", "eta", *(f"w{i}" for i in range(20))]
    docs = [
        Doc(f"d{i}", [str(w) for w in rng.choice(words, 20)], title=[str(rng.choice(words[:6]))])
        for i in range(60)
    ]
    index = write_index(folder / "index", [docs[:40], docs[40:]])
    matrices = {
        name: extract_matrix(index, folder / f"{name}-matrix", field=name)
        for name in ("contents", "title")
    }
    topics, qrels = folder / "topics.tsv", folder / "qrels.txt"
    topics.write_text("".join(f"{qid}\t{text}\n" for qid, text in TOPICS.items()))
    qrels.write_text("".join(f"q{1 + i % 2} 0 d{i} 1\n" for i in range(60)))
    return SimpleNamespace(
        folder=folder, index=index, matrices=matrices, topics=topics, qrels=qrels
    )


def parameters_of(index, field=None):
    with Index.open(index) as opened:
        return recorded_parameters(opened, field=field)


def pruned_for(case, model, tmp_path, **options):
    output = tmp_path / f"pruned-{model}"
    prune_index(case.index, values_of(case.matrices["contents"], model), output, **options)
    return output


def test_search_takes_the_recorded_model_and_warns_of_another(case, tmp_path, caplog):
    pruned = pruned_for(case, "qld", tmp_path)
    caplog.set_level(logging.WARNING)
    summary = search_index(pruned, TOPICS, tmp_path / "run")
    assert (summary["model"], summary["mu"]) == ("qld", 4000.0)
    assert caplog.messages == []
    other = search_index(pruned, TOPICS, tmp_path / "other", model="bm25")
    assert (other["model"], other["k1"]) == ("bm25", pytest.approx(3.6))
    (warning,) = caplog.messages
    assert "was learned for qld and is searched with bm25" in warning and str(pruned) in warning


def test_tuning_keeps_the_recorded_model(case, tmp_path):
    qrels = {"q1": {"d0": 1}, "q2": {"d1": 1}}
    kept = pruned_for(case, "qld", tmp_path)
    assert tune_parameters(kept, TOPICS, qrels)[0].model == "qld"
    with pytest.raises(TdvError, match="model tfidf"):
        tune_parameters(kept, TOPICS, qrels, "tfidf")


@pytest.mark.pyserini
def test_a_searcher_has_the_recorded_model(case, tmp_path, caplog):
    pruned = pruned_for(case, "qld", tmp_path)
    assert "Dirichlet" in str(open_searcher(pruned).get_similarity().toString())
    assert caplog.messages == []
    open_searcher(pruned, "bm25")
    assert "was learned for qld" in caplog.text


def test_explain_and_compare_take_the_recorded_model(case, tmp_path, caplog):
    pruned = pruned_for(case, "qld", tmp_path)
    found = explain_query(case.index, pruned, "alpha beta")["parameters"]
    assert {recorded["model"] for recorded in found.values()} == {"qld"}
    assert caplog.messages == []
    explain_query(case.index, pruned, "alpha beta", model="tfidf")
    assert "was learned for qld and is searched with tfidf" in caplog.text
    fast = {"latency_budget_seconds": 0.2}
    report = compare_indexes(
        case.index, pruned, case.topics, case.qrels, tmp_path / "report", **fast
    )
    assert report["parameters"]["model"] == "qld"
    assert not [note for note in report["notes"] if "learned for" in note]
    another = pruned_for(case, "bm25", tmp_path)
    with pytest.raises(TdvError, match="'pruned' for qld, 'b' for bm25"):
        compare_indexes(
            case.index, pruned, case.topics, case.qrels, tmp_path / "out",
            further_indexes={"b": another}, **fast,
        )  # fmt: skip


def test_a_field_that_was_not_pruned_is_searched_as_it_was_indexed(case, tmp_path):
    pruned = pruned_for(case, "bm25", tmp_path, search_as="recorded")
    assert parameters_of(pruned).k1 == pytest.approx(3.6)
    assert parameters_of(pruned, field="contents").k1 == pytest.approx(3.6)
    assert parameters_of(pruned, field="title").k1 == 0.9


def test_pruning_another_field_keeps_what_is_recorded_of_the_first(case, tmp_path):
    pruned = pruned_for(case, "qld", tmp_path)
    titles = extract_matrix(pruned, tmp_path / "titles", field="title")
    prune_index(
        pruned, values_of(titles, "bm25", scale=2), tmp_path / "both", reduction=0.1,
        search_as="recorded",
    )  # fmt: skip
    assert parameters_of(tmp_path / "both", field="title").k1 == pytest.approx(1.8)
    of_contents = parameters_of(tmp_path / "both", field="contents")
    assert (of_contents.model, of_contents.mu) == ("qld", 4000.0)


@pytest.fixture
def pruned_fields(case, tmp_path):
    """Both fields pruned, each by its own values; more went than was asked for."""
    values, others = values_of(case.matrices["contents"]), [values_of(case.matrices["title"])]
    asked = {"reduction": 0.45, "min_doc_freq": 2}
    prune_index(case.index, values, tmp_path / "pruned", others=others, **asked)
    return tmp_path / "pruned"


def test_the_curve_marks_what_was_asked_for(pruned_fields):
    with Index.open(pruned_fields) as opened:
        for field in ("contents", "title"):
            found = trade_off(opened, field)
            assert found["chosen"] == 0.45 and len(found["points"]) > 3
