"""Measures against trec_eval itself (pytrec_eval) and values worked out by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from small_problem import make_run

from tdv_lucene.errors import TdvError
from tdv_lucene.evaluation.measures import MEASURES, evaluate_run, parse_measures
from tdv_lucene.evaluation.runs import Run, read_run

pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval-terrier is not installed")

TREC_EVAL_NAMES = dict(
    zip(MEASURES, ("ndcg_cut_5", "ndcg_cut_10", "map", "recall_1000"), strict=True)
)


def frame(run: dict[str, dict[str, float]]) -> pd.DataFrame:
    rows = [
        (query, "Q0", doc, rank, score, "test")
        for query, docs in run.items()
        for rank, (doc, score) in enumerate(docs.items(), 1)
    ]
    return pd.DataFrame(rows, columns=["query", "q0", "docid", "rank", "score", "system"])


def from_trec_eval(qrels, run, queries, measure: str) -> np.ndarray:
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut", "map", "recall"})
    values = evaluator.evaluate(run)
    name = TREC_EVAL_NAMES[measure]
    return np.array([values.get(query, {}).get(name, 0.0) for query in queries])


@pytest.mark.parametrize("in_memory", [False, True])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_values_are_trec_evals(seed, tied, in_memory, monkeypatch):
    """Whether all queries are measured at once or some at a time."""
    monkeypatch.setattr("tdv_lucene.evaluation.measures._TOGETHER", 7 if in_memory else 1000)
    topics, qrels, run = make_run(seed, tied)
    evaluation = evaluate_run(Run.of_frame(frame(run)) if in_memory else frame(run), topics, qrels)
    assert set(evaluation.queries) == {
        q for q in topics if any(g > 0 for g in qrels.get(q, {}).values())
    }
    for measure in MEASURES:
        expected = from_trec_eval(qrels, run, evaluation.queries, measure)
        np.testing.assert_allclose(evaluation.values[measure], expected, atol=1e-9)


def test_the_mean_is_over_all_judged_queries():
    """A query without an answer counts 0; topics not asked or without relevant documents do not."""
    topics = {"hit": "", "missed": "", "empty": "", "hopeless": "", "unjudged": ""}
    qrels = {
        "hit": {"a": 2}, "missed": {"z": 1}, "empty": {"a": 1}, "hopeless": {"a": 0},
        "not-asked": {"a": 1},
    }  # fmt: skip
    run = frame({"hit": {"a": 1.0}, "missed": {"a": 1.0}, "unjudged": {"a": 1.0}})
    asked = ["RR(rel=2)@10", "R@2"]
    evaluation = evaluate_run(run, topics, qrels, measures=" ".join(asked))
    assert evaluation.queries == ("hit", "missed", "empty")
    assert evaluation.means() == pytest.approx(dict.fromkeys([*MEASURES, *asked], 1 / 3))
    assert not any(evaluate_run(run.iloc[:0], topics, qrels).means().values())


@pytest.mark.parametrize(
    "text, message",
    [
        ("1 Q0 a 1 1.0 x\n1 Q0 b 2 0.5\n", "line 2: expected 6 columns"),
        ("1 Q0 a 1 1.0 x\n1 Q0 b 2 high x\n", "line 2: the score is not a finite number"),
        ("1 Q0 a 1 nan x\n", "line 1: the score is not"),
        ("1 Q0 a 1 1.0 x\n1 Q0 a 2 0.5 x\n", "line 2: the document is listed twice"),
    ],
)
def test_bad_runs(tmp_path, text, message):
    (tmp_path / "run").write_text(text)
    with pytest.raises(TdvError, match=message):
        read_run(tmp_path / "run")
    with pytest.raises(TdvError, match="/nowhere/run"):
        read_run("/nowhere/run")


@pytest.mark.parametrize(
    "given, names",
    [
        ("", []),
        ([], []),
        ("nDCG@20 AP(rel=2, judged_only=True)  AP(rel=2)@100",
         ["nDCG@20", "AP(rel=2,judged_only=True)", "AP(rel=2)@100"]),
        (["RR", "P@5"], ["RR", "P@5"]),
        ("nDCG@10 nDCG@5 R@1000 RR RR", ["RR"]),
        ("nDCG(dcg='exp-log2')@10", ["nDCG(dcg='exp-log2')@10"]),
    ],
)  # fmt: skip
def test_names(given, names):
    assert [*parse_measures(given, MEASURES)] == names


@pytest.mark.parametrize("name", ["foo@10", "nDCG@x", "@", "NumRet", "alpha_nDCG@10"])
def test_refused_names(name):
    with pytest.raises(TdvError, match=name):
        parse_measures(name)


def test_a_measure_that_fails_is_named():
    run = frame({"1": {"y": 1.0}})
    with pytest.raises(TdvError, match="Accuracy@10 cannot be computed.*ZeroDivisionError"):
        evaluate_run(run, {"1": "a"}, {"1": {"y": 1}}, measures="Accuracy@10")
