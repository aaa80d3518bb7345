"""A pruned index follows its source: what it holds after each change, and what it refuses."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from crash_check import digest
from fuzz_histories import run_history
from lucene_indexes import Doc, change, open_writer, say, write_index
from lucene_reading import check_index
from pruning_inputs import read_user_data
from testing_jar import dump_index
from tiny_collection import tiny_segments

from tdv_lucene import interruption
from tdv_lucene.analysis import DEFAULT
from tdv_lucene.cli import _group
from tdv_lucene.errors import TdvError
from tdv_lucene.index.index import Index
from tdv_lucene.index.record import SOURCE_VERSION
from tdv_lucene.jvm.rewriter import HeldIndex
from tdv_lucene.jvm.searcher import OpenSearch, make_similarity, open_searched
from tdv_lucene.matrix.extract import extract_matrix
from tdv_lucene.plan import FOLDER
from tdv_lucene.pruning import update
from tdv_lucene.pruning.prune import prune_index
from tdv_lucene.pruning.update import update_index, watch_index
from tdv_lucene.pruning.verify import verify_pruned
from tdv_lucene.pruning.writing import MANIFEST
from tdv_lucene.ranking import SearchParameters
from tdv_lucene.values.peers import make_peer_values

pytestmark = pytest.mark.jvm

NEW = Doc("n1", ["quick", "brandnew", "retrieval", "2026"])


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source, TDVs of it, and what was pruned with them; to be copied."""
    folder = tmp_path_factory.mktemp("followed")
    write_index(folder / "source", tiny_segments())
    make_peer_values(folder / "source", folder / "values", name="ridf")
    return folder


@pytest.fixture
def place(first: Path, tmp_path: Path) -> Path:
    """The same, pruned where it lies."""
    for name in ("source", "values"):
        shutil.copytree(first / name, tmp_path / name)
    prune_index(tmp_path / "source", tmp_path / "values", tmp_path / "pruned", reduction=0.3)
    return tmp_path


def assert_as_pruned_anew(place: Path) -> dict[str, Any]:
    """That of its source's last commit, live document by live document; returns what it holds."""
    source, pruned = place / "source", place / "pruned"
    assert verify_pruned(source, pruned)["equal"]
    check_index(pruned)
    prune_index(source, place / "values", place / "fresh", reduction=0.3, overwrite=True)
    found, fresh = dump_index(pruned), dump_index(place / "fresh")
    for part in ("postings", "documents", "options"):
        assert found[part] == fresh[part]
    return found


def test_additions_deletions_and_merges_are_followed(place: Path) -> None:
    pruned = place / "pruned"
    before = digest(pruned)
    change(place / "source", [NEW], ["d0", "d9"])
    report = update_index(pruned)
    assert report["updated"] and not report["exceeded"]
    counts = ("segments", "segments_added", "segments_dropped", "deletions")
    assert [report[name] for name in counts] == [4, 1, 0, 2]
    found = assert_as_pruned_anew(place)
    assert "brandnew" in found["postings"]["contents"]
    kept = {name for name in before if not name.startswith(("segments", MANIFEST))}
    assert {name: digest(pruned)[name] for name in kept} == {name: before[name] for name in kept}
    change(place / "source", [Doc("n2", ["lazy", "brandnew"])], ["n1"])
    change(place / "source", [], ["d4", "d5", "d6", "d7"])  # a whole segment
    report = update_index(pruned)
    assert report["segments_dropped"] == 2, "that of d4 to d7, and that of n1 alone"
    assert_as_pruned_anew(place)
    change(place / "source", merge=1)
    report = update_index(pruned)
    assert (report["segments"], report["segments_added"]) == (1, 1)
    assert_as_pruned_anew(place)


def test_the_manifest_lists_what_is_there(place: Path) -> None:
    """So that the index can be replaced by its own command."""
    change(place / "source", [NEW], ["d0"])
    folder = place / "pruned"
    update_index(folder)
    told = json.loads((folder / MANIFEST).read_text())
    listed = told["files"]
    with Index.open(folder) as opened, Index.open(place / "source") as source:
        assert (told["bytes"], told["source"]) == (opened.bytes, source.identity)
    there = {f"{path.relative_to(folder)}" for path in folder.rglob("*") if path.is_file()}
    assert set(listed) == there - {MANIFEST, "write.lock"}
    prune_index(place / "source", place / "values", place / "pruned", overwrite=True)


def test_an_update_goes_on_where_one_was_killed_within_its_commit(place: Path) -> None:
    pruned, source = place / "pruned", place / "source"
    change(source, [NEW], ["d0"])
    (pruned / "pending_segments_2").write_bytes(b"begun")  # the pruned index is at segments_1
    assert update_index(pruned)["updated"]
    assert_as_pruned_anew(place)
    assert not [*pruned.glob("pending_*")]


def test_documents_that_learning_found_deleted_are_no_drift(tmp_path: Path) -> None:
    source, pruned = write_index(tmp_path / "source", tiny_segments()), tmp_path / "pruned"
    change(source, deleted=["d1", "d2", "d4"])
    values = make_peer_values(source, tmp_path / "values", name="ridf")
    prune_index(source, tmp_path / "values", pruned, reduction=0.3)
    change(source, deleted=["d9"])
    after = extract_matrix(source, tmp_path / "matrix")
    shares = {term: df / after.postings for term, df in zip(after.vocabulary.terms, after.doc_freq)}
    before = zip(values.vocabulary.terms, values.doc_freq / values.doc_freq.sum())
    drift = update_index(pruned)["drift"]
    moved = 1 - sum(min(share, shares.get(term, 0)) for term, share in before)
    assert drift["moved"] == pytest.approx(moved) and drift["unseen_terms"] == 0


def test_too_much_drift_writes_nothing_and_ends_with_its_own_status(place: Path) -> None:
    change(place / "source", [NEW])
    before = digest(place / "pruned")
    words = ["update", "--pruned", str(place / "pruned"), "--max-drift"]
    done = CliRunner().invoke(_group, [*words, "0.001"])
    assert done.exit_code == 3 and digest(place / "pruned") == before, done.output
    done = CliRunner().invoke(_group, [*words, "0.5", "--json"])
    assert done.exit_code == 0 and json.loads(done.output)["updated"], done.output


def _gone(place: Path) -> None:
    (place / "source").rename(place / "elsewhere")


def _went_back(place: Path) -> None:
    shutil.copytree(place / "source", place / "older")
    change(place / "source", [NEW])
    update_index(place / "pruned")
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
def test_what_cannot_be_followed_is_refused_and_nothing_written(
    spoil: Callable[[Path], None], message: str, place: Path
) -> None:
    spoil(place)
    before = digest(place / "pruned")
    with pytest.raises(TdvError, match=message.format(place=place)):
        update_index(place / "pruned")
    assert digest(place / "pruned") == before


def test_what_another_version_pruned_is_followed(place: Path) -> None:
    """Its plan has a format, and rules of that format never change."""
    _says(place, version="0.0.1")
    change(place / "source", [Doc("new", ["fox", "brandnew"])])
    assert update_index(place / "pruned")["updated"]
    assert verify_pruned(place / "source", place / "pruned")["equal"]


def test_a_moved_source_is_followed_and_another_refused(place: Path) -> None:
    write_index(place / "another", tiny_segments(2))
    before = digest(place / "pruned")
    with pytest.raises(TdvError, match="another index"):
        update_index(place / "pruned", index=place / "another")
    write_index(place / "unlike", [[Doc(f"u{i}", ["other", "words"])] for i in range(3)])
    with pytest.raises(TdvError, match="'contents'.* other terms"):
        update_index(place / "pruned", index=place / "unlike")
    assert digest(place / "pruned") == before
    change(place / "source", [NEW])
    (place / "source").rename(place / "moved")
    assert update_index(place / "pruned", index=place / "moved")["updated"]
    change(place / "moved", [], ["d1"])
    assert update_index(place / "pruned")["updated"], "where it was found last"
    assert verify_pruned(place / "moved", place / "pruned")["equal"]


def test_a_locked_index_is_refused_and_a_locked_source_followed(place: Path) -> None:
    change(place / "source", [NEW])
    writer = open_writer(place / "pruned")
    with pytest.raises(TdvError, match="locked"):
        update_index(place / "pruned")
    writer.close()
    writer = open_writer(place / "source")
    assert update_index(place / "pruned")["updated"]
    with HeldIndex(place / "pruned"):  # as --watch does: who only reads needs no lock
        assert verify_pruned(place / "source", place / "pruned")["equal"]
        check_index(place / "pruned")
    writer.close()


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))]
)
def test_random_histories(seed: int, tmp_path: Path) -> None:
    run_history(seed, tmp_path)


@pytest.fixture
def watching(place: Path) -> Iterator[subprocess.Popen[str]]:
    """The command beside, which has said that it is up to date."""
    words = ["update", "--pruned", place / "pruned", "--watch", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tdv_lucene", *words], text=True, stdout=subprocess.PIPE
    )
    try:
        json.loads(process.stdout.readline())
        yield process
    finally:
        process.kill()
        process.communicate()


def _searching(place: Path) -> AbstractContextManager[OpenSearch]:
    bm25 = make_similarity(SearchParameters())
    return open_searched(place / "pruned", bm25, "contents", analysis=DEFAULT, threads=1)


@pytest.mark.slow
def test_watching_follows_commits_while_others_search(
    watching: subprocess.Popen[str], place: Path
) -> None:
    with pytest.raises(TdvError, match="locked"):
        update_index(place / "pruned")
    for step in range(3):
        with _searching(place) as before:
            found = before.best("quick", 10)
            change(place / "source", [Doc(f"n{step}", ["quick", f"new{step}"])], [f"d{step}"])
            assert before.best("quick", 10) == found
            assert json.loads(watching.stdout.readline())["updated"]
            assert before.best("quick", 10) == found
        with _searching(place) as after:
            hits = after.best(f"new{step}", 10)
            assert [hit.document for hit in hits] == [f"n{step}"]
    watching.send_signal(signal.SIGTERM)
    assert watching.wait(30) == 0
    assert_as_pruned_anew(place)


def test_watching_ends_though_the_signal_came_during_a_call_of_java(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(seconds: float) -> None:
        raise AssertionError("it goes on")

    monkeypatch.setattr(update.time, "sleep", refuse)
    watch_index(place / "pruned", on_update=lambda report: interruption._asked.append(15))
    interruption.obey()


def _refill(source: Path, done: int) -> None:
    """The commits of a source that is indexed again, and the end of the watching."""
    documents = [doc for segment in tiny_segments() for doc in segment]
    if done == 0:
        writer = open_writer(source)
        writer.deleteAll()
        writer.commit()
        writer.close()
    elif done == 1:  # of what was learned on, little
        change(source, [Doc("half", ["filled"])])
    elif done == 2:
        change(source, [*documents, NEW], ["half"])
    else:
        raise KeyboardInterrupt


@pytest.mark.parametrize("most", [None, 0.3])
def test_watching_goes_on_after_what_it_refuses(
    most: float | None, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[dict[str, Any]] = []
    held: list[dict[str, Any]] = []

    def waited(seconds: float) -> None:
        held.append(dump_index(place / "pruned")["documents"])
        _refill(place / "source", len(told) - 1)

    monkeypatch.setattr(update.time, "sleep", waited)
    watch_index(place / "pruned", on_update=told.append, max_drift=most)
    assert [report["updated"] for report in told] == [False, False, False, True]
    assert held[0] == held[1] == held[2] != held[3]
    if most is None:
        assert "no documents" in told[1]["refused"] and "refused" in told[2]
    else:
        assert all(report["exceeded"] for report in told[1:3])
        assert told[1]["drift"]["moved"] == 1
    assert_as_pruned_anew(place)


def test_watching_refuses_at_once_what_no_commit_mends(place: Path) -> None:
    shutil.rmtree(place / "pruned" / FOLDER)
    with pytest.raises(TdvError, match="lacks its plan"):
        watch_index(place / "pruned", on_update=lambda report: pytest.fail("it began"))


def test_a_folder_that_cannot_be_written_is_told(place: Path, monkeypatch) -> None:
    change(place / "source", [NEW])
    writable = os.access
    monkeypatch.setattr(  # as of a file system that is read-only, root included
        os, "access", lambda path, mode: mode != os.W_OK and writable(path, mode)
    )
    with pytest.raises(TdvError, match="cannot update .*pruned"):
        update_index(place / "pruned")
