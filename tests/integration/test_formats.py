"""What version 1.0 wrote is read, and what a later version may write is refused by its number."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tiny_collection import TINY_TEXTS

from tdv_lucene import (
    TdvError,
    TermValues,
    prune_index,
    read_report,
    search_index,
    verify_pruned,
)
from tdv_lucene.plan import Plan

STORED = Path(__file__).parents[1] / "resources" / "format-1.0"
RESULTS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "TDVs": ("values/manifest.json", lambda home: TermValues.load(home / "values")),
    "plan": ("pruned/tdv-plan/plan.json", lambda home: Plan.load(home / "pruned")),
    "report": ("report.json", read_report),
}


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    with tarfile.open(STORED / "examples.tar.xz") as archive:
        # Python 3.11.2 has no filters yet.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(tmp_path)
    return tmp_path


def test_tdvs_are_read(stored: Path) -> None:
    values = TermValues.load(stored / "values")
    assert values.model == "bm25" and values.recommended_reduction == 0
    assert b"quick" in list(values.vocabulary.terms)
    point = values.at_reduction(0.3)
    assert point.cut is not None and len(point.tdv) == len(values.vocabulary) == 33


def test_a_plan_is_read(stored: Path) -> None:
    (plan,) = Plan.load(stored / "pruned").fields
    assert (plan.field, plan.scale, plan.facts["tf"]) == ("contents", 1.0, "scaled")
    assert plan.tdv.shape == plan.doc_freq.shape == (33,) and plan.norms is not None
    assert plan.learned["documents"] == len(TINY_TEXTS)


def test_a_report_is_read(stored: Path) -> None:
    report = read_report(stored)
    means = report["measures"]["nDCG@5"]["means"]
    assert means == pytest.approx({"full": 1, "pruned": 0.9355}, abs=5e-5)
    assert report["indexes"]["pruned"]["postings"] == 43


@pytest.mark.jvm
def test_an_index_is_verified_searched_and_pruned_as_then(stored: Path, tmp_path: Path) -> None:
    assert verify_pruned(stored / "index", stored / "pruned")["equal"]
    again = prune_index(stored / "index", stored / "values", tmp_path / "again", reduction=0.3)
    assert again["postings"] == 43
    topics = tmp_path / "topics.tsv"
    topics.write_text("q1\tquick fox\n")
    for index in ("pruned", "again"):
        folder = stored if index == "pruned" else tmp_path
        search_index(folder / index, topics, tmp_path / f"{index}.run")
    runs = [(tmp_path / f"{index}.run").read_text() for index in ("pruned", "again")]
    assert runs[0] == runs[1] and runs[0].split()[2] in ("d0", "d1")


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("number", [99, 0, "1", True, None])
def test_another_format_is_refused_by_its_number(stored: Path, result: str, number: object) -> None:
    name, read = RESULTS[result]
    content = json.loads((stored / name).read_text(encoding="utf-8"))
    (stored / name).write_text(json.dumps({**content, "format": number}), encoding="utf-8")
    with pytest.raises(TdvError, match=f"has format {number!r}") as refused:
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
