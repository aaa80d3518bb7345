"""Shards that only some workers see each: all that is done with them is done there."""

from __future__ import annotations

import dataclasses
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import cloudpickle
import distributed
import pytest
from tiny_shards import write_tiny_shards

import tdv_lucene as tdv
from tdv_lucene import TdvError, prior_values
from tdv_lucene.index import workers as clusters
from tdv_lucene.index.workers import open_workers
from tdv_lucene.progress import silent
from tdv_lucene.source import Part

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

TOPICS = {"q1": "quick fox", "q2": "index postings", "q3": "retrieval of dogs that sleep"}
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import the tests


@pytest.fixture(scope="module")
def cluster() -> Iterator[distributed.SpecCluster]:
    """Two workers, each with a resource of its own."""
    options = {"nthreads": 1, "memory_limit": 0}
    each = {
        name: {"cls": distributed.Nanny, "options": {**options, "resources": {name: 1}}}
        for name in ("x", "y")
    }
    scheduler = {"cls": distributed.Scheduler, "options": {"dashboard_address": None}}
    with distributed.SpecCluster(workers=each, scheduler=scheduler, silence_logs=50) as started:
        yield started


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny collection in one index and in four shards, one without a document; two deleted."""
    folder = tmp_path_factory.mktemp("far")
    write_tiny_shards(folder)
    prior_values(tdv.extract_matrix(folder / "one", folder / "matrix")).save(folder / "values")
    return folder


def _at(cluster: distributed.SpecCluster, folder: Path, names: str = "abcd") -> tdv.Source:
    """The first shard has the resource x, the second y, and so on in turn."""
    given = [f"{'xy'[number % 2]}={folder}/{name}" for number, name in enumerate(names)]
    return tdv.find_shards(given, scheduler=cluster.scheduler_address)


def _last_at(resource: str, shards: tdv.Source) -> tdv.Source:
    """The shards, the last one with another resource."""
    *first, last = shards.parts
    return dataclasses.replace(shards, parts=(*first, Part(last.folder, resource)))


def test_prune_verify_and_search_do_what_they_do_with_one_index(
    base: Path, cluster: distributed.SpecCluster, tmp_path: Path
) -> None:
    shards, out = _at(cluster, base / "S"), tmp_path / "OUT"
    one = tdv.prune_index(base / "one", base / "values", tmp_path / "one", reduction=0.3)
    report = tdv.prune_index(shards, base / "values", out, reduction=0.3)
    assert report["postings"] == one["postings"]
    assert [row["kept"] for row in report["shards"]] == [False] * 4
    assert {path.name for path in out.iterdir()} == set("abcd"), "no values were put there"
    again = tdv.prune_index(shards, base / "values", out, reduction=0.3)
    assert [row["kept"] for row in again["shards"]] == [True] * 4
    pruned = _at(cluster, out)
    found = tdv.verify_pruned(shards, pruned)
    assert found == {"equal": True, "documents": 8, "postings": one["postings"]}
    for name, index, far in (("full", base / "one", shards), ("pruned", tmp_path / "one", pruned)):
        tdv.search_index(index, TOPICS, tmp_path / f"{name}.run")
        tdv.search_index(far, TOPICS, tmp_path / f"{name}-far.run")
        expected = (tmp_path / f"{name}.run").read_bytes()
        assert (tmp_path / f"{name}-far.run").read_bytes() == expected != b""


def test_work_is_done_by_the_worker_that_has_the_resource(cluster: distributed.SpecCluster) -> None:
    shards = _at(cluster, Path("/S"), "abcdef")
    with open_workers(shards) as started:
        found = started.each(_process, dict.fromkeys(shards.parts, ()), "", silent)
    assert found[0] != found[1] and found == [found[0], found[1]] * 3


def _process(folder: str) -> int:
    """In a worker."""
    return os.getpid()


def _die_once(folder: str, value: str, mark: str) -> str:
    """In a worker."""
    if not os.path.exists(mark):
        open(mark, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return value


def test_a_worker_that_died_is_waited_for_and_has_what_was_sent_to_it(
    cluster: distributed.SpecCluster, tmp_path: Path
) -> None:
    shards = _at(cluster, tmp_path, "abc")
    with open_workers(shards) as started:
        sent = started.send("values", shards)
        tasks = {part: (sent[part], f"{part.folder}-died") for part in shards.parts}
        assert started.each(_die_once, tasks, "", silent) == ["values"] * 3
    assert len(list(tmp_path.iterdir())) == 3, "each of them died once"


def test_a_worker_that_is_not_there_is_named(
    base: Path, cluster: distributed.SpecCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shards = _last_at("far", _at(cluster, base / "S"))
    for task in (
        lambda: tdv.search_index(shards, TOPICS, tmp_path / "run"),
        lambda: tdv.prune_index(shards, base / "values", tmp_path / "OUT", reduction=0.3),
    ):
        with pytest.raises(TdvError, match="no worker has the resource 'far': start one"):
            task()
    monkeypatch.setattr(clusters, "PRESENCE_SECONDS", 0.1)
    monkeypatch.setattr(clusters, "WORKERS_SECONDS", 0.5)
    with (
        open_workers(_at(cluster, base / "S")) as started,
        pytest.raises(TdvError, match="no worker has the resource 'gone'"),
    ):
        started.each(_process, {Part("/S", "gone"): ()}, "", silent)
    assert list(tmp_path.iterdir()) == []


def test_what_needs_them_here_is_refused_and_nothing_written(
    base: Path, cluster: distributed.SpecCluster, tmp_path: Path
) -> None:
    shards, out = _at(cluster, base / "S"), tmp_path / "OUT"
    (tmp_path / "topics").write_text("q1\tquick fox\n")
    (tmp_path / "qrels").write_text("q1 0 d0 1\n")
    asked = tmp_path / "topics", tmp_path / "qrels"
    there = "lie where only workers with the resources x, y see them"
    for task, message in (
        (lambda: tdv.extract_matrix(shards, out), there),
        (lambda: tdv.inspect_index(shards), there),
        (lambda: tdv.compare_indexes(shards, base / "one", *asked, out), there),
        (lambda: tdv.open_searcher(shards), there),
    ):
        with pytest.raises(TdvError, match=message):
            task()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["qrels", "topics"], message


def test_a_place_that_is_taken_is_found_before_anything_is_written(
    base: Path, cluster: distributed.SpecCluster, tmp_path: Path
) -> None:
    out, shards = tmp_path / "OUT", _at(cluster, base / "S")
    (out / "d").mkdir(parents=True)
    (out / "d" / "notes").write_text("a user's")
    with pytest.raises(TdvError, match="OUT/d exists"):
        tdv.prune_index(shards, base / "values", out, reduction=0.3)
    assert [path.name for path in out.iterdir()] == ["d"]
    shutil.rmtree(out / "d")
    (out / "other").mkdir()
    with pytest.raises(TdvError, match="OUT holds 'other', and that is none of these shards"):
        tdv.prune_index(shards, base / "values", out, reduction=0.3)
    with pytest.raises(TdvError, match="shard '.=.*/[a-d]': cannot write .*nowhere"):
        tdv.prune_index(shards, base / "values", tmp_path / "nowhere" / "OUT", reduction=0.3)


def test_source_and_pruned_have_the_same_resource(
    base: Path, cluster: distributed.SpecCluster, tmp_path: Path
) -> None:
    shards = _at(cluster, base / "S")
    tdv.prune_index(shards, base / "values", tmp_path / "OUT", reduction=0.3)
    pruned = _last_at("x", _at(cluster, tmp_path / "OUT"))
    with pytest.raises(
        TdvError, match="x=.*OUT/d and its source .*S/d do not have the same resource"
    ):
        tdv.verify_pruned(shards, pruned)
