"""The whole way in Python: documents, index, matrix, TDVs, pruned index, run and report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import write_judged
from tiny_collection import TINY_TEXTS

import tdv_lucene as tdv
from tdv_lucene.learning.config import Recipe

pytestmark = pytest.mark.jvm


def test_from_documents_to_a_report(tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    documents.mkdir()
    lines = [json.dumps({"id": f"d{i}", "contents": text}) for i, text in enumerate(TINY_TEXTS)]
    (documents / "documents.jsonl").write_text("\n".join(lines))
    index, matrix, values, pruned = (tmp_path / name for name in ("I", "M", "V", "P"))
    flags = ["-collection", "JsonCollection", "-input", str(documents), "-threads", "1",
             "-generator", "DefaultLuceneDocumentGenerator", "-storePositions"]  # fmt: skip
    assert tdv.build_index(index, flags)["indexed"] == len(TINY_TEXTS)
    postings = tdv.extract_matrix(index, matrix).postings
    topics = {"q1": "quick foxes", "q2": "pruning an index", "q3": "terms"}
    judged = write_judged(tmp_path, topics, {"q1": "d0 d1", "q2": "d4 d8", "q3": "d3 d6"})
    recipe = Recipe(max_steps=2, check_every=1, folds=2, reductions=(0.0, 0.3))
    tdv.learn_from_index(index, *judged, values, matrix=matrix, recipe=recipe)
    report = tdv.prune_index(index, values, pruned, reduction=0.3)
    assert report["postings"] == pytest.approx(0.7 * postings, abs=2)
    assert tdv.verify_pruned(index, pruned)["equal"]
    tdv.search_index(pruned, topics, tmp_path / "run")
    found = tdv.evaluate_run(tmp_path / "run", topics, tdv.read_qrels(judged[1]))
    told = tdv.compare_indexes(index, pruned, *judged, tmp_path / "R", latency_budget_seconds=0.1)
    assert told["measures"]["MAP"]["means"]["pruned"] == pytest.approx(found.means()["MAP"])
    assert told["indexes"]["pruned"]["postings"] == report["postings"]
    assert tdv.read_report(tmp_path / "R") == told
