"""The measures of the paper's tables: trectools', with its traps mended."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tdv_lucene.evaluation.measures import evaluate_run
from tdv_lucene.paper.experiment import measure
from tdv_lucene.paper.published import MEASURES


def written(path: Path, run: dict[str, dict[str, float]]) -> Path:
    lines = [f"{q} Q0 {d} 1 {score} x\n" for q, docs in run.items() for d, score in docs.items()]
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize("seed", range(5))
def test_without_ties_they_are_trec_evals(seed: int, tmp_path: Path) -> None:
    """Ids that look like numbers; some queries find nothing, others nothing relevant."""
    rng = np.random.default_rng(seed)
    documents = np.arange(60).astype(str)
    topics = {f"{i:02}": "text" for i in range(30)}
    qrels, run = {}, {}
    for query in topics:
        grades = rng.choice([-1, 0, 1, 2, 4], 12, p=[0.1, 0.5, 0.2, 0.1, 0.1]).tolist()
        qrels[query] = dict(zip(rng.choice(documents, 12, replace=False).tolist(), grades))
        found = rng.choice(documents, rng.integers(0, 50), replace=False).tolist()
        run[query] = dict(zip(found, rng.permutation(len(found)).tolist()))
    del qrels["07"]
    path = written(tmp_path / "run", run)
    found, expected = measure(path, topics, qrels), evaluate_run(path, topics, qrels)
    assert [*found] == [*MEASURES]
    for name, values in found.items():
        np.testing.assert_allclose(values, expected.values[name], atol=1e-12)


def test_queries_without_an_answer_count_0(tmp_path: Path) -> None:
    topics = {"hit": "", "missed": "", "empty": "", "unjudged": ""}
    qrels = {"hit": {"a": 1}, "missed": {"z": 1}, "empty": {"a": 1}}
    path = written(
        tmp_path / "run", {"hit": {"a": 1.0}, "missed": {"a": 1.0}, "unjudged": {"a": 1.0}}
    )
    for values in measure(path, topics, qrels).values():
        assert values.tolist() == [1.0, 0.0, 0.0]
    for values in measure(written(path, {}), topics, qrels).values():
        assert values.tolist() == [0.0, 0.0, 0.0]


def test_of_equal_scores_the_lower_id_comes_first(tmp_path: Path) -> None:
    """trec_eval puts the higher one first."""
    path = written(tmp_path / "run", {"q": {"b": 1.0, "a": 1.0}})
    assert measure(path, {"q": ""}, {"q": {"a": 1}})["nDCG@5"] == 1
    assert evaluate_run(path, {"q": ""}, {"q": {"a": 1}}).values["nDCG@5"] < 1
