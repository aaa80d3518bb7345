"""A pruned index holds its plan, and follows its source: what it holds after each change, what it
refuses, and what is told where another writer wrote to it, who hands its record on."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from command_line import json_of, run_command, write_judged
from crash_check import digest
from fuzz_histories import run_history
from lucene_indexes import Doc, Layout, change, open_writer, say, write_index
from lucene_reading import check_index
from pruning_inputs import read_user_data
from snapshots import snapshot
from testing_jar import add_index, dump_index
from tiny_collection import TINY_TEXTS

import tdv_lucene as tdv
from tdv_lucene import Index, TdvError, compare_indexes, explain_query, inspect_index, interruption
from tdv_lucene.analysis import DEFAULT
from tdv_lucene.index.record import SOURCE_VERSION
from tdv_lucene.jvm import java_class
from tdv_lucene.jvm.rewriter import HeldIndex
from tdv_lucene.jvm.searcher import make_similarity, open_searched
from tdv_lucene.plan import FOLDER
from tdv_lucene.pruning import update
from tdv_lucene.pruning.writing import MANIFEST
from tdv_lucene.ranking import SearchParameters

pytestmark = pytest.mark.jvm

LAYOUT = Layout(options="DOCS_AND_FREQS_AND_POSITIONS", vectors="vp", extras=True)
DOCS = [Doc(f"d{i}", text.split(), text.split()[-3:]) for i, text in enumerate(TINY_TEXTS)]
OF_ONE = ["d4", "d5", "d6", "d7"]
"""The documents of a segment."""
NEW = Doc("n1", ["quick", "brandnew", "retrieval", "2026"], title=["quick", "news"])
QUERY = "quick index"
_change = partial(change, layout=LAYOUT)


def _write(path: Path) -> Path:
    return write_index(path, [DOCS[:4], DOCS[4:8], DOCS[8:]], LAYOUT)


@pytest.fixture(scope="module")
def first(tmp_path_factory) -> Path:
    """A folder with a source, TDVs of it, topics and judgements; to be copied."""
    folder = tmp_path_factory.mktemp("followed")
    tdv.make_peer_values(_write(folder / "source"), folder / "values", name="ridf")
    write_judged(folder, {"q1": "quick fox", "q2": "index postings"}, {"q1": "d0", "q2": "d6"})
    return folder


@pytest.fixture
def place(first, tmp_path) -> Path:
    """The same, and the source pruned where it lies."""
    place = Path(shutil.copytree(first, tmp_path / "place"))
    tdv.prune_index(place / "source", place / "values", place / "pruned", reduction=0.3)
    return place


def assert_followed(place: Path) -> None:
    """That it is what pruning its source anew gives is for the random histories."""
    assert tdv.verify_pruned(place / "source", place / "pruned")["equal"]
    check_index(place / "pruned")


def test_additions_deletions_and_merges_are_followed(place) -> None:
    pruned = place / "pruned"
    before = digest(pruned)
    _change(place / "source", [NEW], ["d0", "d9"])
    report = tdv.update_index(pruned)
    assert report["updated"] and not report["exceeded"]
    counts = ("segments", "segments_added", "segments_dropped", "deletions")
    assert [report[name] for name in counts] == [4, 1, 0, 2]
    assert_followed(place)
    assert "brandnew" in dump_index(pruned)["postings"]["contents"]
    kept = {name for name in before if not name.startswith(("segments", MANIFEST))}
    assert {name: digest(pruned)[name] for name in kept} == {name: before[name] for name in kept}
    _change(place / "source", [Doc("n2", ["lazy", "brandnew"])], ["n1"])
    _change(place / "source", [], OF_ONE)
    report = tdv.update_index(pruned)
    assert report["segments_dropped"] == 2, "that of d4 to d7, and that of n1 alone"
    assert_followed(place)
    _change(place / "source", merge=1)
    report = tdv.update_index(pruned)
    assert (report["segments"], report["segments_added"]) == (1, 1)
    assert_followed(place)


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))]
)
def test_random_histories(seed, tmp_path) -> None:
    run_history(seed, tmp_path)


def test_the_manifest_lists_what_is_there(place) -> None:
    """So that the index can be replaced by its own command."""
    _change(place / "source", [NEW], ["d0"])
    folder = place / "pruned"
    tdv.update_index(folder)
    told = json.loads((folder / MANIFEST).read_text())
    with Index.open(folder) as opened, Index.open(place / "source") as source:
        assert (told["bytes"], told["source"]) == (opened.bytes, source.identity)
    there = {f"{path.relative_to(folder)}" for path in folder.rglob("*") if path.is_file()}
    assert set(told["files"]) == there - {MANIFEST, "write.lock"}
    tdv.prune_index(place / "source", place / "values", folder, overwrite=True)


def test_an_update_goes_on_where_one_was_killed_within_its_commit(place) -> None:
    _change(place / "source", [NEW], ["d0"])
    # The pruned index is at segments_1.
    (place / "pruned" / "pending_segments_2").write_bytes(b"begun")
    assert tdv.update_index(place / "pruned")["updated"]
    assert_followed(place)
    assert not [*(place / "pruned").glob("pending_*")]


def test_documents_that_learning_found_deleted_are_no_drift(tmp_path) -> None:
    source, pruned = _write(tmp_path / "source"), tmp_path / "pruned"
    _change(source, deleted=["d1", "d2", "d4"])
    values = tdv.make_peer_values(source, tmp_path / "values", name="ridf")
    tdv.prune_index(source, values, pruned, reduction=0.3)
    _change(source, deleted=["d9"])
    after = tdv.extract_matrix(source, tmp_path / "matrix")
    shares = {term: df / after.postings for term, df in zip(after.vocabulary.terms, after.doc_freq)}
    before = zip(values.vocabulary.terms, values.doc_freq / values.doc_freq.sum())
    drift = tdv.update_index(pruned)["drift"]
    moved = 1 - sum(min(share, shares.get(term, 0)) for term, share in before)
    assert drift["moved"] == pytest.approx(moved) and drift["unseen_terms"] == 0


def test_too_much_drift_writes_nothing_and_ends_with_its_own_status(place) -> None:
    _change(place / "source", [NEW])
    before = digest(place / "pruned")
    words = ["update", "--pruned", place / "pruned", "--max-drift"]
    run_command(*words, 0.001, status=3)
    assert digest(place / "pruned") == before
    assert json_of(*words, 0.5)["updated"]


def _gone(place: Path) -> None:
    (place / "source").rename(place / "elsewhere")


def _went_back(place: Path) -> None:
    shutil.copytree(place / "source", place / "older")
    _change(place / "source", [NEW])
    tdv.update_index(place / "pruned")
    shutil.rmtree(place / "source")
    (place / "older").rename(place / "source")


def _says(place: Path, **facts: str | None) -> None:
    """Another commit of the pruned index, with other facts; None for a fact that is gone."""
    data = {**read_user_data(place / "pruned"), **{f"tdv.{n}": x for n, x in facts.items()}}
    writer = open_writer(place / "pruned")
    say(writer, {name: value for name, value in data.items() if value is not None})
    writer.close()


def _does_not_know_its_source(place: Path) -> None:
    _says(place, **{SOURCE_VERSION.removeprefix("tdv."): None})


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_gone, "{place}/pruned .*{place}/source.*pass index"),
        (_went_back, "older commit"),
        (_does_not_know_its_source, "{place}/pruned .*" + SOURCE_VERSION),
    ],
)
def test_what_cannot_be_followed_is_refused_and_nothing_written(spoil, message, place) -> None:
    spoil(place)
    before = digest(place / "pruned")
    with pytest.raises(TdvError, match=message.format(place=place)):
        tdv.update_index(place / "pruned")
    assert digest(place / "pruned") == before


def test_what_another_version_pruned_is_followed(place) -> None:
    """Its plan has a format, and rules of that format never change."""
    _says(place, version="0.0.1")
    _change(place / "source", [Doc("new", ["fox", "brandnew"])])
    assert tdv.update_index(place / "pruned")["updated"]
    assert tdv.verify_pruned(place / "source", place / "pruned")["equal"]


def test_a_moved_source_is_followed_and_another_refused(place) -> None:
    write_index(place / "another", [DOCS[:2], DOCS[2:]], LAYOUT)
    write_index(place / "unlike", [[Doc(f"u{i}", ["other", "words"])] for i in range(3)])
    before = digest(place / "pruned")
    for name, told in (("another", "another index"), ("unlike", "'contents'.* other terms")):
        with pytest.raises(TdvError, match=told):
            tdv.update_index(place / "pruned", index=place / name)
    assert digest(place / "pruned") == before
    _change(place / "source", [NEW])
    (place / "source").rename(place / "moved")
    assert tdv.update_index(place / "pruned", index=place / "moved")["updated"]
    _change(place / "moved", [], ["d1"])
    assert tdv.update_index(place / "pruned")["updated"], "where it was found last"
    assert tdv.verify_pruned(place / "moved", place / "pruned")["equal"]


def test_a_locked_index_is_refused_and_a_locked_source_followed(place) -> None:
    _change(place / "source", [NEW])
    writer = open_writer(place / "pruned")
    with pytest.raises(TdvError, match="locked"):
        tdv.update_index(place / "pruned")
    writer.close()
    writer = open_writer(place / "source")
    assert tdv.update_index(place / "pruned")["updated"]
    with HeldIndex(place / "pruned"):  # as --watch does: who only reads needs no lock
        assert tdv.verify_pruned(place / "source", place / "pruned")["equal"]
        check_index(place / "pruned")
    writer.close()


def test_a_folder_that_cannot_be_written_is_told(place, monkeypatch) -> None:
    _change(place / "source", [NEW])
    writable = os.access
    monkeypatch.setattr(  # as of a file system that is read-only, root included
        os, "access", lambda path, mode: mode != os.W_OK and writable(path, mode)
    )
    with pytest.raises(TdvError, match="cannot update .*pruned"):
        tdv.update_index(place / "pruned")


@pytest.mark.slow
def test_watching_follows_commits_while_others_search(place) -> None:
    """By the command, beside; it says first that it is up to date."""
    words = ["update", "--pruned", place / "pruned", "--watch", "--json"]
    watching = subprocess.Popen(
        [sys.executable, "-m", "tdv_lucene", *words], text=True, stdout=subprocess.PIPE
    )
    bm25 = make_similarity(SearchParameters())
    searching = partial(
        open_searched, place / "pruned", bm25, "contents", analysis=DEFAULT, threads=1
    )
    try:
        json.loads(watching.stdout.readline())
        with pytest.raises(TdvError, match="locked"):
            tdv.update_index(place / "pruned")
        for step in range(3):
            with searching() as before:
                found = before.best("quick", 10)
                _change(place / "source", [Doc(f"n{step}", ["quick", f"new{step}"])], [f"d{step}"])
                assert before.best("quick", 10) == found
                assert json.loads(watching.stdout.readline())["updated"]
                assert before.best("quick", 10) == found
            with searching() as after:
                hits = after.best(f"new{step}", 10)
                assert [hit.document for hit in hits] == [f"n{step}"]
        watching.send_signal(signal.SIGTERM)
        assert watching.wait(30) == 0
    finally:
        watching.kill()
        watching.communicate()
    assert_followed(place)


def test_watching_ends_though_the_signal_came_during_a_call_of_java(place, monkeypatch) -> None:
    monkeypatch.setattr(update.time, "sleep", lambda seconds: pytest.fail("it goes on"))
    tdv.watch_index(place / "pruned", on_update=lambda report: interruption._asked.append(15))
    interruption.obey()


def _refill(source: Path, done: int) -> None:
    """The commits of a source that is indexed again, and the end of the watching."""
    if done == 0:
        writer = open_writer(source)
        writer.deleteAll()
        writer.commit()
        writer.close()
    elif done == 1:  # of what was learned on, little
        _change(source, [Doc("half", ["filled"])])
    elif done == 2:
        _change(source, [*DOCS, NEW], ["half"])
    else:
        raise KeyboardInterrupt


@pytest.mark.parametrize("most", [None, 0.3])
def test_watching_goes_on_after_what_it_refuses(most, place, monkeypatch) -> None:
    told: list[dict[str, Any]] = []
    held: list[dict[str, Any]] = []

    def waited(seconds: float) -> None:
        held.append(dump_index(place / "pruned")["documents"])
        _refill(place / "source", len(told) - 1)

    monkeypatch.setattr(update.time, "sleep", waited)
    tdv.watch_index(place / "pruned", on_update=told.append, max_drift=most)
    assert [report["updated"] for report in told] == [False, False, False, True]
    assert held[0] == held[1] == held[2] != held[3]
    if most is None:
        assert "no documents" in told[1]["refused"] and "refused" in told[2]
    else:
        assert all(report["exceeded"] for report in told[1:3])
        assert told[1]["drift"]["moved"] == 1
    assert_followed(place)


def _given(place: Path, **options: Any) -> None:
    """By TDVs with a rule for postings and a boost, as learning writes them; no folder is left."""
    matrix = tdv.extract_matrix(place / "source", place / "matrix")
    tdv.prune_index(
        place / "source", tdv.prior_values(matrix), place / "made", reduction=0.3, **options
    )
    shutil.rmtree(place / "matrix")


def _several(place: Path) -> None:
    values, *others = (
        tdv.make_peer_values(place / "source", place / field, name="ridf", field=field)
        for field in ("contents", "title")
    )
    tdv.prune_index(place / "source", values, place / "made", others=others)


PRUNED = {
    "given": _given,
    "given, original": partial(_given, tf="original"),
    "given, frequent": partial(_given, min_doc_freq=2, scale=3, search_as="lucene"),
    "several fields": _several,
    "by the prior": lambda place: tdv.prune_index(place / "source", None, place / "made"),
    "tuned": lambda place: tdv.tune_index(place / "source", None, None, place / "made"),
}


@pytest.mark.parametrize("how", PRUNED)
def test_the_folder_and_the_source_are_enough(how, first, tmp_path) -> None:
    """Also a copy elsewhere, without the original, and with no other folder of then."""
    place = Path(shutil.copytree(first, tmp_path / "place"))
    PRUNED[how](place)
    source, copy = place / "source", place / "else" / "where"
    copy.parent.mkdir()
    shutil.move(place / "made", copy)
    assert tdv.verify_pruned(source, copy)["equal"]
    assert any(term["tdv"] for term in explain_query(source, copy, QUERY)["terms"])
    assert not tdv.update_index(copy)["updated"]
    if how == "given":
        assert _compare(place, copy)["terms"]["source"].startswith("prior ")
    _change(source, [NEW], ["d0"])
    report = tdv.update_index(copy)
    assert (report["segments_added"], report["deletions"]) == (1, 1)
    assert tdv.verify_pruned(source, copy)["equal"]
    assert explain_query(source, copy, QUERY)["hits"]["after"]


def _compare(place: Path, pruned: Path) -> dict[str, Any]:
    files = place / "source", pruned, place / "topics.tsv", place / "qrels.txt", place / "report"
    return compare_indexes(*files, latency_budget_seconds=0.1)


def _flip(plan: Path) -> None:
    content = bytearray((plan / "0.npz").read_bytes())
    content[len(content) // 2] ^= 0xFF
    (plan / "0.npz").write_bytes(content)


@pytest.mark.parametrize("spoil", [shutil.rmtree, _flip])
def test_a_plan_that_is_not_its_own_is_refused_and_the_index_searched(spoil, place) -> None:
    """How else it may be spoilt: see test_plan_files.py."""
    source, pruned = place / "source", place / "pruned"
    tdv.search_index(pruned, {"q": QUERY}, place / "before")
    spoil(pruned / FOLDER)
    before = snapshot(pruned, source)
    for use in (
        lambda: tdv.verify_pruned(source, pruned),
        lambda: tdv.update_index(pruned),
        lambda: tdv.watch_index(pruned, on_update=lambda report: pytest.fail("it began")),
        lambda: explain_query(source, pruned, QUERY),
        lambda: _compare(place, pruned),
    ):
        with pytest.raises(TdvError, match=f"the plan of {pruned} |{pruned} lacks its plan"):
            use()
    assert not (place / "report").exists() and snapshot(pruned, source) == before
    tdv.search_index(pruned, {"q": QUERY}, place / "after")
    assert (place / "after").read_bytes() == (place / "before").read_bytes() != b""


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
    tdv.prune_index(place / "source", place / "values", place / "other", reduction=0.1)
    add_index(index, place / "other")


def _column(index: Path) -> None:
    writer = open_writer(index)
    term = java_class("org.apache.lucene.index.Term")("id", "d1")
    writer.updateNumericDocValue(term, "rank", 5)
    writer.close()


def _append(index: Path, added: Doc = NEW, *gone: str, merge: int = 0) -> None:
    """Scaled frequencies have no positions any more."""
    layout = Layout(vectors="v", extras=True) if index.name == "pruned" else LAYOUT
    change(index, [added], gone, merge, layout=layout)


def _replaced(index: Path) -> None:
    _change(index, deleted=["d0"])
    _append(index, Doc("d0", NEW.tokens))


APPENDED = {
    "added": _append,
    "added and merged": partial(_append, merge=1),
    "replaced": _replaced,
    "a segment replaced": lambda index: _append(index, NEW, *OF_ONE),
    "copied": _copied,
}
OTHERWISE = {
    "merged": ("merged", lambda index: _change(index, merge=1, policy="in order")),
    "merged in another order": ("merged", lambda index: _change(index, merge=1)),
    "deleted": ("changed", lambda index: _change(index, deleted=["d0", "d9"])),
    "deleted and merged": ("merged", lambda index: _change(index, deleted=["d0"], merge=1)),
    "a segment deleted": ("changed", lambda index: _change(index, deleted=OF_ONE)),
    "doc values": ("changed", _column),
}


def _search(place: Path, pruned: Path) -> Any:
    return tdv.search_index(pruned, {"q": "quick"}, place / "run", overwrite=True)


@pytest.mark.parametrize(
    ("how", "index"), [("added", "tuned"), *((how, "pruned") for how in APPENDED)]
)
def test_appended_documents_are_refused_and_undone(how, index, place) -> None:
    pruned = place / index
    if index == "tuned":
        tdv.tune_index(place / "source", None, None, pruned)
    before = _content(pruned)
    APPENDED[how](pruned)
    assert "tdv.plan_sha256" in read_user_data(pruned), "Lucene hands it on"
    assert _did(pruned) == "appended"
    with pytest.raises(TdvError, match=r"added documents that were not pruned.*update"):
        _search(place, pruned)
    found = inspect_index(pruned)
    assert not found["can_be_pruned"] and not found["analyses"]
    assert [note for note in found["notes"] if f"{pruned}" in note and "update" in note]
    told = tdv.verify_pruned(place / "source", pruned)
    assert not told["equal"] and "another writer" in told["difference"]["remedy"]
    report = tdv.update_index(pruned)
    assert report["updated"] and report["segments_foreign"] >= 1
    assert _content(pruned) == before
    _search(place, pruned)


def test_each_reader_refuses_appended_documents(place) -> None:
    pruned, files = place / "pruned", (place / "topics.tsv", place / "qrels.txt")
    _append(pruned)
    for read in (
        lambda: _search(place, pruned),
        lambda: tdv.open_searcher(pruned),
        lambda: explain_query(place / "source", pruned, "quick"),
        lambda: _compare(place, pruned),
        lambda: tdv.extract_matrix(pruned, place / "matrix"),
        lambda: tdv.export_ciff(pruned, place / "out.ciff"),
        lambda: tdv.prune_index(pruned, None, place / "twice"),
        lambda: tdv.tune_index(pruned, None, None, place / "twice"),
        lambda: tdv.learn_from_index(pruned, *files, place / "learned"),
    ):
        with pytest.raises(TdvError, match="added documents that were not pruned"):
            read()


@pytest.mark.parametrize("how", OTHERWISE)
def test_merges_and_deletions_are_warned_of_once_and_undone(how, place, caplog) -> None:
    pruned, (did, by) = place / "pruned", OTHERWISE[how]
    before = _content(pruned)
    by(pruned)
    assert _did(pruned) == did
    with caplog.at_level(logging.WARNING):
        _search(place, pruned)
    assert caplog.text.count("another writer") == 1
    found = inspect_index(pruned)
    assert found["can_be_pruned"] and any("another writer" in note for note in found["notes"])
    assert tdv.verify_pruned(place / "source", pruned)["equal"] == (how == "merged")
    caplog.clear()
    assert tdv.update_index(pruned)["updated"]
    assert "another writer" in caplog.text
    assert _content(pruned) == before
    assert _did(pruned) == "" and not tdv.update_index(pruned)["updated"]


def test_what_was_pruned_by_us_alone_is_as_it_was_written(place) -> None:
    tdv.tune_index(place / "source", None, None, place / "tuned")
    _change(place / "source", [NEW], ["d0"])
    tdv.update_index(place / "pruned")
    tdv.prune_index(place / "source", place / "values", place / "one", reduction=0.3, optimize=True)
    shutil.copytree(place / "one", place / "copy")
    for index in ("source", "pruned", "tuned", "one", "copy"):
        assert _did(place / index) == "", index
