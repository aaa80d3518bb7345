"""A pruned index holds its plan: with its source it is all that verify, update and explain need."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import json_of
from lucene_indexes import Doc, Layout, change, write_index
from snapshots import snapshot
from tiny_collection import TINY_TEXTS

from tdv_lucene import TdvError, explain_query, prior_values, prune_index, tune_index, update_index
from tdv_lucene.comparison.compare import compare_indexes
from tdv_lucene.matrix.extract import extract_matrix
from tdv_lucene.plan import FOLDER
from tdv_lucene.pruning.verify import verify_pruned
from tdv_lucene.searching.search import search_index
from tdv_lucene.values.peers import make_peer_values

pytestmark = pytest.mark.jvm

LAYOUT = Layout(options="DOCS_AND_FREQS_AND_POSITIONS", vectors="vp")
NEW = Doc("n1", ["quick", "brandnew", "retrieval", "2026"], title=["quick", "news"])
QUERY = "quick index"


def _given(place: Path, **options: Any) -> None:
    """By TDVs with a rule for postings and a boost, as learning writes them, whose folder goes."""
    matrix = extract_matrix(place / "source", place / "matrix")
    prior_values(matrix).save(place / "values")
    prune_index(place / "source", place / "values", place / "pruned", reduction=0.3, **options)
    shutil.rmtree(place / "values")
    shutil.rmtree(place / "matrix")


def _several(place: Path) -> None:
    for field in ("contents", "title"):
        make_peer_values(place / "source", place / field, name="ridf", field=field)
    others = [place / "title"]
    prune_index(place / "source", place / "contents", place / "pruned", others=others)
    for field in ("contents", "title"):
        shutil.rmtree(place / field)


PRUNED: dict[str, Callable[[Path], Any]] = {
    "given": _given,
    "given, original": lambda place: _given(place, tf="original"),
    "given, frequent": lambda place: _given(place, min_doc_freq=2, scale=3, search_as="lucene"),
    "several fields": _several,
    "by the prior": lambda place: prune_index(place / "source", None, place / "pruned"),
    "tuned": lambda place: tune_index(place / "source", None, None, place / "pruned"),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source, ``pruned``, ``other``, pruned otherwise, topics and judgements; to be copied."""
    place = tmp_path_factory.mktemp("plans")
    docs = [Doc(f"d{i}", text.split(), text.split()[-3:]) for i, text in enumerate(TINY_TEXTS)]
    write_index(place / "source", [docs[:4], docs[4:8], docs[8:]], LAYOUT)
    (place / "topics.tsv").write_text("q1\tquick fox\nq2\tindex postings\n")
    (place / "qrels").write_text("q1 0 d0 1\nq2 0 d6 1\n")
    return place


@pytest.fixture
def place(home: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(home, tmp_path / "place"))


def _compare(place: Path, pruned: Path, to: Path) -> dict[str, Any]:
    asked = place / "topics.tsv", place / "qrels"
    return compare_indexes(place / "source", pruned, *asked, to, latency_budget_seconds=0.1)


@pytest.mark.parametrize("how", PRUNED)
def test_the_folder_and_the_source_are_enough(how: str, place: Path) -> None:
    """Also a copy elsewhere, without the original, and with no other folder of then."""
    PRUNED[how](place)
    source, copy = place / "source", place / "else" / "where"
    copy.parent.mkdir()
    shutil.move(place / "pruned", copy)
    assert verify_pruned(source, copy)["equal"]
    told = explain_query(source, copy, QUERY)
    assert any(term["tdv"] for term in told["terms"])
    assert not update_index(copy)["updated"]
    change(source, [NEW], ["d0"], layout=LAYOUT)
    report = update_index(copy)
    assert (report["segments_added"], report["deletions"]) == (1, 1)
    assert verify_pruned(source, copy)["equal"]
    assert explain_query(source, copy, QUERY)["hits"]["after"]
    source.rename(place / "moved")
    change(place / "moved", [], ["d1"])
    assert update_index(copy, index=place / "moved")["updated"]
    assert verify_pruned(place / "moved", copy)["equal"]


def test_the_commands_ask_for_nothing_else(place: Path) -> None:
    _given(place)
    both = ["--index", place / "source", "--pruned", place / "pruned"]
    for words in (["verify", *both], ["explain", *both, "--query", QUERY], ["update", *both[2:]]):
        assert json_of(*words)
    report = _compare(place, place / "pruned", place / "report")
    assert report["terms"]["source"].startswith("prior ")


def _flip(plan: Path) -> None:
    content = bytearray((plan / "0.npz").read_bytes())
    content[len(content) // 2] ^= 0xFF
    (plan / "0.npz").write_bytes(content)


@pytest.mark.parametrize("spoil", [shutil.rmtree, _flip])
def test_a_plan_that_is_not_its_own_is_refused_and_the_index_searched(
    spoil: Callable[[Path], None], place: Path
) -> None:
    """How else it may be spoilt: see test_plan_files.py."""
    source, pruned = place / "source", place / "pruned"
    prune_index(source, None, pruned, reduction=0.3)
    search_index(pruned, {"q": QUERY}, place / "before")
    spoil(pruned / FOLDER)
    before = snapshot(pruned, source)
    for use in (
        lambda: verify_pruned(source, pruned),
        lambda: update_index(pruned),
        lambda: explain_query(source, pruned, QUERY),
        lambda: _compare(place, pruned, place / "report"),
    ):
        with pytest.raises(TdvError, match=f"the plan of {pruned} |{pruned} lacks its plan"):
            use()
    assert not (place / "report").exists() and snapshot(pruned, source) == before
    search_index(pruned, {"q": QUERY}, place / "after")
    assert (place / "after").read_bytes() == (place / "before").read_bytes() != b""
