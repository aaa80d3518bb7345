"""What version 1.0 wrote is read, and what a later version may write is refused by its number; an
index of Lucene 8 is read and pruned by Lucene 9, and refused by Lucene 10 with the remedy."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from command_line import search
from lucene_reading import check_index, leaves, open_reader
from oracle import assert_pruned
from pruning_inputs import values_of
from tiny_collection import TINY_TEXTS

import tdv_lucene as tdv
from tdv_lucene.jvm import lucene_version, pyserini_jar
from tdv_lucene.plan import Plan

pytestmark = pytest.mark.jvm

RESULTS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "TDVs": ("values/manifest.json", lambda home: tdv.TermValues.load(home / "values")),
    "plan": ("pruned/tdv-plan/plan.json", lambda home: Plan.load(home / "pruned")),
    "report": ("report.json", tdv.read_report),
}


def _unpack(name: str, to: Path) -> Path:
    with tarfile.open(Path(__file__).parents[1] / "resources" / name) as archive:
        # Python 3.11.2 has no filters yet.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(to)
    return to


@pytest.fixture
def stored(tmp_path) -> Path:
    return _unpack("format-1.0/examples.tar.xz", tmp_path)


def test_tdvs_a_plan_and_a_report_are_read(stored: Path) -> None:
    values = tdv.TermValues.load(stored / "values")
    assert values.model == "bm25" and values.recommended_reduction == 0
    assert b"quick" in list(values.vocabulary.terms)
    point = values.at_reduction(0.3)
    assert point.cut is not None and len(point.tdv) == len(values.vocabulary) == 33
    (plan,) = Plan.load(stored / "pruned").fields
    assert (plan.field, plan.scale, plan.facts["tf"]) == ("contents", 1.0, "scaled")
    assert plan.tdv.shape == plan.doc_freq.shape == (33,) and plan.norms is not None
    assert plan.learned["documents"] == len(TINY_TEXTS)
    report = tdv.read_report(stored)
    means = report["measures"]["nDCG@5"]["means"]
    assert means == pytest.approx({"full": 1, "pruned": 0.9355}, abs=5e-5)
    assert report["indexes"]["pruned"]["postings"] == 43


def test_an_index_is_verified_searched_and_pruned_as_then(stored: Path, tmp_path: Path) -> None:
    assert tdv.verify_pruned(stored / "index", stored / "pruned")["equal"]
    again = tdv.prune_index(stored / "index", stored / "values", tmp_path / "again", reduction=0.3)
    assert again["postings"] == 43
    runs = [search(tmp_path / index, {"q1": "quick fox"}, tmp_path / "run")["q1"]
            for index in ("pruned", "again")]  # fmt: skip
    assert runs[0] == runs[1] and runs[0][0][0] in ("d0", "d1")


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("number", [99, 0, "1", True, None])
def test_another_format_is_refused_by_its_number(stored: Path, result: str, number: object) -> None:
    name, read = RESULTS[result]
    content = json.loads((stored / name).read_text(encoding="utf-8"))
    (stored / name).write_text(json.dumps({**content, "format": number}), encoding="utf-8")
    with pytest.raises(tdv.TdvError, match=f"has format {number!r}") as refused:
        read(stored)
    assert ("install a newer tdv-lucene" in str(refused.value)) == (number == 99)


@pytest.mark.parametrize("result", RESULTS)
def test_facts_of_a_later_version_are_left_alone(stored: Path, result: str) -> None:
    name, read = RESULTS[result]
    content = {**json.loads((stored / name).read_text(encoding="utf-8")), "later": {"x": 1}}
    if content.pop("sha256", None):
        content["sha256"] = sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    (stored / name).write_text(json.dumps(content), encoding="utf-8")
    assert read(stored) is not None


LINE = lucene_version(pyserini_jar())[0]
reads = pytest.mark.skipif(LINE != 9, reason="only Lucene 9 reads indexes of Lucene 8")


@pytest.fixture
def old(tmp_path) -> Path:
    return _unpack("lucene8/index.tar.xz", tmp_path) / "index"


@reads
@pytest.mark.parametrize("tf", ["scaled", "original"])
def test_index_is_pruned_verified_and_searched(tf: str, old: Path, tmp_path: Path) -> None:
    assert {segment["codec"] for segment in tdv.inspect_index(old)["segments"]} == {"Lucene87"}
    matrix = tdv.extract_matrix(old, tmp_path / "matrix")
    values = values_of(matrix)
    pruned = tmp_path / "pruned"
    report = tdv.prune_index(old, values, pruned, reduction=0.3, tf=tf)
    assert 0 < report["postings"] < matrix.postings
    assert report["defaults"].startswith("Anserini's")
    # Its ids' sorted doc values are those of Anserini on Lucene 8 only: the record says it.
    with tdv.Index.open(pruned) as made:
        assert made.searcher.name == "anserini"
    check_index(pruned)
    point = values.at_reduction(0.3)
    scale = point.scale if tf == "scaled" else None
    assert_pruned(matrix, pruned, point, scale, tmp_path / "found")
    assert _stored(pruned) == _stored(old)
    assert tdv.verify_pruned(old, pruned)["equal"]
    tdv.search_index(pruned, {"1": "boat harbour", "2": "salt"}, tmp_path / "run")
    assert {line.split()[0] for line in (tmp_path / "run").read_text().splitlines()} == {"1", "2"}


def _stored(index: Path) -> list[str]:
    with open_reader(index) as reader:
        return [
            leaf.storedFields().document(doc).toString()
            for leaf, numbers in leaves(reader)
            for doc in numbers
        ]


@pytest.mark.skipif(LINE < 10, reason="Lucene 9 reads it")
def test_too_old_an_index_is_refused_with_the_remedy(old: Path, tmp_path: Path) -> None:
    for stage in (tdv.inspect_index, lambda index: tdv.extract_matrix(index, tmp_path / "matrix")):
        with pytest.raises(tdv.TdvError, match="Lucene 8.*Pyserini 1.6"):
            stage(old)
