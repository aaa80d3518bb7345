"""Small pieces of the report's tables."""

from __future__ import annotations

import numpy as np
import pytest

from tdv_lucene.evaluation.evaluate import MEASURES, Evaluation
from tdv_lucene.report.query_tables import extreme_queries
from tdv_lucene.report.table import change, p_value
from tdv_lucene.timing.latency_summary import QueryTerms


@pytest.mark.parametrize(
    "p, shown",
    [(None, "none"), (1.0, "1.000"), (0.05, "0.050"), (0.0499, "0.050*"), (1e-9, "<0.001*")],
)
def test_p_value(p, shown):
    assert p_value(p) == shown


@pytest.mark.parametrize(
    "before, after, shown",
    [(100, 55, "-45.0 %"), (10, 11, "+10.0 %"), (7, 7, "0.0 %"), (100_000, 99_999, "0.0 %"),
     (0, 0, ""), (0, 3, "new"), (5, 0, "-100.0 %")],
)  # fmt: skip
def test_change(before, after, shown):
    assert change(before, after) == shown


def evaluation(values: list[float]) -> Evaluation:
    queries = tuple(f"q{i}" for i in range(len(values)))
    per_measure = {measure: np.array(values) for measure in MEASURES}
    return Evaluation(queries, per_measure)


def test_extreme_queries_are_only_those_that_changed():
    both = {"full": evaluation([0.5, 0.5, 0.5, 0.5]), "pruned": evaluation([0.5, 0.1, 0.9, 0.4])}
    texts = {f"q{i}": "text" for i in range(4)}
    doc_freq = {"full": {"a": 3, "b": 4, "c": 9}, "pruned": {"a": 0, "b": 1, "c": 9}}
    words = {q: QueryTerms(("b", "a", "c"), doc_freq) for q in texts}
    lost, gained = extreme_queries(texts, both, "MAP", words, most=3)
    assert [row[0] for row in lost.rows] == ["q1: text", "q3: text"]
    assert lost.bars == pytest.approx((-0.4, -0.1))
    assert gained.rows == [("q2: text", "a all, b 75%", "0.500", "0.900", "+0.400")]
