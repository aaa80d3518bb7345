"""A pruned index as a PyTerrier transformer."""

from __future__ import annotations

import pandas as pd
import pytest

from tdv_lucene import make_peer_values, prune_index, search_index
from tdv_lucene.evaluation.runs import read_run

pytestmark = [pytest.mark.jvm, pytest.mark.pyserini]
TOPICS = {"1": "quick fox", "2": "ranking of documents by terms", "3": "the index"}


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
