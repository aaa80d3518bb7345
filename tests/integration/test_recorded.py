"""What an index records of its values decides how it is searched, and which values are its own."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import write_judged
from index_facts import recorded_parameters
from lucene_indexes import Doc, write_index
from pruning_inputs import values_of

from tdv_lucene import Index, TdvError, compare_indexes, explain_query, extract_matrix, prune_index
from tdv_lucene.comparison.explain import trade_off
from tdv_lucene.searching.search import open_searcher, search_index
from tdv_lucene.searching.tune import tune_parameters

pytestmark = pytest.mark.jvm

TOPICS = {"q1": "alpha beta", "q2": "gamma zeta"}


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
    relevant = {qid: " ".join(f"d{i}" for i in range(at, 60, 2)) for at, qid in enumerate(TOPICS)}
    files = write_judged(folder, TOPICS, relevant)
    return SimpleNamespace(
        index=index, contents=contents, title=title, files=files, qld=folder / "qld"
    )


def test_search_takes_the_recorded_model_and_warns_of_another(case, tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    summary = search_index(case.qld, TOPICS, tmp_path / "run")
    assert (summary["model"], summary["mu"]) == ("qld", 4000.0)
    assert caplog.messages == []
    other = search_index(case.qld, TOPICS, tmp_path / "other", model="bm25")
    assert (other["model"], other["k1"]) == ("bm25", pytest.approx(3.6))
    (warning,) = caplog.messages
    assert "was learned for qld and is searched with bm25" in warning and str(case.qld) in warning


def test_tuning_keeps_the_recorded_model(case):
    qrels = {"q1": {"d0": 1}, "q2": {"d1": 1}}
    assert tune_parameters(case.qld, TOPICS, qrels)[0].model == "qld"
    with pytest.raises(TdvError, match="model tfidf"):
        tune_parameters(case.qld, TOPICS, qrels, "tfidf")


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
