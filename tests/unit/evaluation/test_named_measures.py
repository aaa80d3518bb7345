"""Measures by their names in ir-measures, over all judged queries."""

from __future__ import annotations

import pandas as pd
import pytest

from tdv_lucene.errors import TdvError
from tdv_lucene.evaluation.evaluate import MEASURES, evaluate_run
from tdv_lucene.evaluation.named_measures import measure_run, parse_measures
from tdv_lucene.evaluation.run_arrays import Run

TOPICS = {"1": "a", "2": "b", "10": "c", "unjudged": "d"}
QRELS = {
    "1": {"x": 1, "y": 2, "z": 0},
    "2": {"x": 1},
    "10": {"y": 1},
    "none": {"x": 1},
    "unjudged": {"x": 0},
}
ROWS = [
    ("1", "z", 3.0), ("1", "y", 2.0), ("1", "x", 1.0),
    ("2", "a", 2.0), ("2", "x", 1.0),
    ("unjudged", "x", 1.0),
]  # fmt: skip


@pytest.fixture
def run():
    rows = [(q, "Q0", doc, "1", score, "tag") for q, doc, score in ROWS]
    return pd.DataFrame(rows, columns=["query", "q0", "docid", "rank", "score", "system"])


def test_values_by_hand_and_the_unanswered_query_counts(run):
    found = evaluate_run(run, TOPICS, QRELS, measures="RR@10 P@2 RR(rel=2)@10 R@2")
    assert found.queries == ("1", "2", "10")
    assert [*found.values] == [*MEASURES, "RR@10", "P@2", "RR(rel=2)@10", "R@2"]
    assert found.values["RR@10"] == pytest.approx([1 / 2, 1 / 2, 0])
    assert found.values["P@2"] == pytest.approx([1 / 2, 1 / 2, 0])
    assert found.values["RR(rel=2)@10"] == pytest.approx([1 / 2, 0, 0])
    assert found.values["R@2"] == pytest.approx([1 / 2, 1, 0])
    assert found.means()["RR@10"] == pytest.approx(1 / 3)


def test_the_default_of_a_measure_stands_for_a_missing_answer(run):
    class Measure:
        """One of whose values a missing answer is not 0."""

        DEFAULT = 7.0

    import ir_measures

    def iter_calc(measures, qrels, asked):
        return [ir_measures.Metric("1", measures[0], 0.5)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ir_measures, "iter_calc", iter_calc)
        found = measure_run({"M": Measure()}, Run.of_frame(run), QRELS, ["1", "2"])
    assert found["M"].tolist() == [0.5, 7.0]


def test_a_run_without_a_line(run):
    found = evaluate_run(run.iloc[:0], TOPICS, QRELS, measures=["RR@10"])
    assert found.values["RR@10"].tolist() == [0, 0, 0]


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


@pytest.mark.parametrize(
    "name, message",
    [
        ("foo@10", "'foo@10'"),
        ("nDCG@x", "'nDCG@x'"),
        ("@", "'@'"),
        ("NumRet", "NumRet"),
        ("alpha_nDCG@10", "alpha_nDCG@10"),
    ],
)
def test_refused_names(name, message):
    with pytest.raises(TdvError, match=message):
        parse_measures(name)


def test_a_measure_that_fails_is_named(run):
    with pytest.raises(TdvError, match="Accuracy@10 cannot be computed.*ZeroDivisionError"):
        evaluate_run(run[run["docid"] == "y"], TOPICS, {"1": {"y": 1}}, measures="Accuracy@10")
