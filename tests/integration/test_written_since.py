"""Another writer writes to a pruned index, whose record it hands on: who reads it is told."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lucene_indexes import Doc, Layout, change, open_writer, write_index
from pruning_inputs import read_user_data
from testing_jar import add_index, dump_index
from tiny_collection import tiny_segments

from tdv_lucene import Index, TdvError, compare_indexes, explain_query, inspect_index
from tdv_lucene.jvm import java_class
from tdv_lucene.learning.from_index import learn_from_index
from tdv_lucene.matrix.ciff import export_ciff
from tdv_lucene.matrix.extract import extract_matrix
from tdv_lucene.pruning.prune import prune_index
from tdv_lucene.pruning.update import update_index
from tdv_lucene.pruning.verify import verify_pruned
from tdv_lucene.searching.search import open_searcher, search_index
from tdv_lucene.searching.tune import tune_index
from tdv_lucene.values.peers import make_peer_values

pytestmark = pytest.mark.jvm

NEW = Doc("n1", ["quick", "brandnew", "retrieval", "2026"])
OF_ONE = ["d4", "d5", "d6", "d7"]
"""The documents of a segment."""
LAYOUT = Layout(extras=True)
AGAIN = Doc("d0", ["quick", "brandnew", "retrieval", "2026"])


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source, TDVs of it, and what was pruned with them and tuned; to be copied."""
    folder = tmp_path_factory.mktemp("written-since")
    write_index(folder / "source", tiny_segments(), LAYOUT)
    make_peer_values(folder / "source", folder / "values", name="ridf")
    prune_index(folder / "source", folder / "values", folder / "pruned", reduction=0.3)
    tune_index(folder / "source", None, None, folder / "tuned")
    return folder


@pytest.fixture
def place(first: Path, tmp_path: Path) -> Path:
    """The same elsewhere; updates follow the source of the former."""
    shutil.copytree(first, tmp_path / "place")
    (tmp_path / "place" / "topics.tsv").write_text("q\tquick\n")
    (tmp_path / "place" / "qrels").write_text("q 0 d0 1\n")
    return tmp_path / "place"


def _content(index: Path) -> dict[str, Any]:
    found = dump_index(index)
    return {part: found[part] for part in ("postings", "norms", "documents", "options")}


def _did(index: Path) -> str:
    """What another writer did."""
    with Index.open(index, mixed=True) as opened:
        return "".join(since.did for since in opened.since)


def _copied(index: Path) -> None:
    """Segments of an index that was pruned, too, but otherwise."""
    place = index.parent
    prune_index(place / "source", place / "values", place / "other", reduction=0.1)
    add_index(index, place / "other")


def _column(index: Path) -> None:
    writer = open_writer(index)
    term = java_class("org.apache.lucene.index.Term")("id", "d1")
    writer.updateNumericDocValue(term, "rank", 5)
    writer.close()


def _replaced(index: Path) -> None:
    change(index, deleted=["d0"], layout=LAYOUT)
    change(index, [AGAIN], layout=LAYOUT)


APPENDED = {
    "added": lambda index: change(index, [NEW], layout=LAYOUT),
    "added and merged": lambda index: change(index, [NEW], merge=1, layout=LAYOUT),
    "replaced": _replaced,
    "a segment replaced": lambda index: change(index, [NEW], OF_ONE, layout=LAYOUT),
    "copied": _copied,
}
OTHERWISE = {
    "merged": ("merged", lambda index: change(index, merge=1, policy="in order")),
    "merged in another order": ("merged", lambda index: change(index, merge=1)),
    "deleted": ("changed", lambda index: change(index, deleted=["d0", "d9"])),
    "deleted and merged": ("merged", lambda index: change(index, deleted=["d0"], merge=1)),
    "a segment deleted": ("changed", lambda index: change(index, deleted=OF_ONE)),
    "doc values": ("changed", _column),
}


def _search(place: Path, pruned: Path) -> Any:
    return search_index(pruned, {"q": "quick"}, place / "run", overwrite=True)


READERS: dict[str, Callable[[Path, Path], Any]] = {
    "search": _search,
    "open_searcher": lambda place, pruned: open_searcher(pruned),
    "explain": lambda place, pruned: explain_query(place / "source", pruned, "quick"),
    "compare": lambda place, pruned: compare_indexes(
        place / "source", pruned, place / "topics.tsv", place / "qrels", place / "report"
    ),
    "extract": lambda place, pruned: extract_matrix(pruned, place / "matrix"),
    "export": lambda place, pruned: export_ciff(pruned, place / "out.ciff"),
    "prune": lambda place, pruned: prune_index(pruned, None, place / "twice"),
    "tune": lambda place, pruned: tune_index(pruned, None, None, place / "twice"),
    "learn": lambda place, pruned: learn_from_index(
        pruned, place / "topics.tsv", place / "qrels", place / "learned"
    ),
}  # fmt: skip


@pytest.mark.parametrize("index", ["pruned", "tuned"])
@pytest.mark.parametrize("how", APPENDED)
def test_appended_documents_are_refused_and_undone(how: str, index: str, place: Path) -> None:
    pruned = place / index
    before = _content(pruned)
    APPENDED[how](pruned)
    assert "tdv.plan_sha256" in read_user_data(pruned), "Lucene hands it on"
    assert _did(pruned) == "appended"
    with pytest.raises(TdvError, match=r"added documents that were not pruned.*update"):
        _search(place, pruned)
    found = inspect_index(pruned)
    assert not found["can_be_pruned"] and not found["analyses"]
    assert [note for note in found["notes"] if f"{pruned}" in note and "update" in note]
    told = verify_pruned(place / "source", pruned)
    assert not told["equal"] and "another writer" in told["difference"]["remedy"]
    report = update_index(pruned)
    assert report["updated"] and report["segments_foreign"] >= 1
    assert _content(pruned) == before
    _search(place, pruned)


@pytest.mark.parametrize("reader", READERS)
def test_each_reader_refuses_appended_documents(reader: str, place: Path) -> None:
    change(place / "pruned", [NEW])
    with pytest.raises(TdvError, match="added documents that were not pruned"):
        READERS[reader](place, place / "pruned")


@pytest.mark.parametrize("how", OTHERWISE)
def test_merges_and_deletions_are_warned_of_once_and_undone(
    how: str, place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pruned, (did, by) = place / "pruned", OTHERWISE[how]
    before = _content(pruned)
    by(pruned)
    assert _did(pruned) == did
    with caplog.at_level(logging.WARNING):
        _search(place, pruned)
    assert caplog.text.count("another writer") == 1
    found = inspect_index(pruned)
    assert found["can_be_pruned"] and any("another writer" in note for note in found["notes"])
    told = verify_pruned(place / "source", pruned)
    assert told["equal"] == (how == "merged")
    caplog.clear()
    assert update_index(pruned)["updated"]
    assert "another writer" in caplog.text
    assert _content(pruned) == before
    assert _did(pruned) == "" and not update_index(pruned)["updated"]


def test_what_was_pruned_by_us_alone_is_as_it_was_written(place: Path) -> None:
    for index in ("source", "pruned", "tuned"):
        assert _did(place / index) == ""
    change(place / "source", [NEW], ["d0"])
    update_index(place / "pruned", index=place / "source")
    assert _did(place / "pruned") == ""
    prune_index(place / "source", place / "values", place / "one", reduction=0.3, optimize=True)
    assert _did(place / "one") == ""
    shutil.copytree(place / "one", place / "copy")
    assert _did(place / "copy") == ""
