"""Shards that only some workers see each: all that is learned and done with them is done there."""

from __future__ import annotations

import dataclasses
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cloudpickle
import dask
import distributed
import numpy as np
import pytest
from lucene_indexes import Doc, Layout, change, write_index
from tiny_shards import write_tiny_shards

import tdv_lucene as tdv
from tdv_lucene import TdvError, prior_values
from tdv_lucene.index import workers as clusters
from tdv_lucene.index.sharded import open_index
from tdv_lucene.index.workers import open_workers
from tdv_lucene.learning.config import Recipe
from tdv_lucene.learning.from_index import learn_from_index
from tdv_lucene.learning.prior import prior_values_of_index
from tdv_lucene.matrix.extract import open_matrix
from tdv_lucene.matrix.shards import select_documents
from tdv_lucene.matrix.term_document_matrix import TermDocumentMatrix
from tdv_lucene.progress import silent
from tdv_lucene.source import Part
from tdv_lucene.values.term_values import TermValues

pytestmark = [pytest.mark.jvm, pytest.mark.slow]
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import the tests

LAYOUT = Layout(options="DOCS_AND_FREQS_AND_POSITIONS")
SHORT = Recipe(max_steps=4, check_every=2, folds=2, reductions=(0, 0.3))
SHARDS = {"a": (0, 1), "b": (1, 150), "empty": (150, 150), "c": (150, 400)}
"""The documents of each; of those of one, ``only`` is a term."""


def _documents() -> list[Doc]:
    rng = np.random.default_rng(5)
    docs = []
    for number in range(400):
        zipf = np.minimum(rng.zipf(1.3, rng.integers(15, 90)), 300)
        tokens = [f"t{term}" for term in zipf] + [f"s{number % 20}"] * 2
        tokens += ["only"] * (number == 0)
        docs.append(Doc(f"d{number}", tokens, deleted=number % 31 == 7))
    return docs


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where workers keep what they extracted."""
    return tmp_path_factory.mktemp("temporary")


@pytest.fixture(scope="module")
def cluster(temporary: Path) -> Iterator[distributed.SpecCluster]:
    """Two workers, each with a resource of its own."""
    options = {"nthreads": 1, "memory_limit": 0, "env": {"TMPDIR": str(temporary)}}
    each = {
        name: {"cls": distributed.Nanny, "options": {**options, "resources": {name: 1}}}
        for name in ("x", "y")
    }
    scheduler = {"cls": distributed.Scheduler, "options": {"dashboard_address": None}}
    with (
        clusters.dead_workers_return(),
        distributed.SpecCluster(workers=each, scheduler=scheduler, silence_logs=50) as started,
    ):
        yield started


@pytest.fixture(scope="module")
def case(
    tmp_path_factory: pytest.TempPathFactory, cluster: distributed.SpecCluster, temporary: Path
) -> SimpleNamespace:
    """One index, shards of its documents on two disks, each seen by one of two workers; queries,
    judgements and a log."""
    folder, docs = tmp_path_factory.mktemp("learned"), _documents()
    write_index(folder / "one", [docs[:130], docs[130:]], LAYOUT)
    (folder / "S").mkdir()
    for name, (first, end) in SHARDS.items():
        segments = [docs[first:end][:40], docs[first:end][40:]]
        write_index(folder / "S" / name, [part for part in segments if part], LAYOUT)
    lines = [f"q{n}\ts{n} t{n + 1} t{n + 9}\n" for n in range(20)]
    (folder / "topics").write_text("".join(lines))
    judged = [f"q{n} 0 d{d} {int(d % 20 == n)}\n" for n in range(20) for d in range(n, 400, 70)]
    (folder / "qrels").write_text("".join(judged))
    given = [f"{'xy'[i % 2]}={folder}/S/{name}" for i, name in enumerate(SHARDS)]
    far = tdv.find_shards(given, scheduler=cluster.scheduler_address)
    return SimpleNamespace(one=folder / "one", far=far, folder=folder, temporary=temporary)


def _are_equal(one: TermValues, shards: TermValues) -> None:
    assert list(shards.vocabulary.terms) == list(one.vocabulary.terms)
    for name in (
        "doc_freq", "total_term_freq", "weights", "priority", "posting_priority", "posting_factors"
    ):  # fmt: skip
        np.testing.assert_array_equal(getattr(shards, name), getattr(one, name), name)
    assert shards.manifest["network"]["received"] > 0
    others = ("index_bytes", "source", "network", "created")  # of several indexes, and later

    def facts(values: TermValues) -> Any:
        return _without({**values.manifest}, others)

    assert facts(shards) == facts(one)


def _without(content: Any, names: tuple[str, ...]) -> Any:
    if isinstance(content, dict):
        return {k: _without(v, names) for k, v in content.items() if k not in names}
    return [_without(v, names) for v in content] if isinstance(content, list) else content


def test_statistics_and_documents_are_those_of_one_matrix(case: SimpleNamespace) -> None:
    with _both(case) as (one, shards):
        assert (shards.documents, shards.doc_count) == (one.documents, one.doc_count) == (387, 387)
        assert shards.norm_kind is one.norm_kind and len(shards.indices) == 0
        np.testing.assert_array_equal(shards.doc_freq, one.doc_freq)
        chosen = np.array([0, 1, 7, 143, 144, 145, 386])
        for found, wanted in zip(*(select_documents(each, chosen) for each in (shards, one))):
            if isinstance(found, TermDocumentMatrix):
                assert list(found.doc_ids) == list(wanted.doc_ids)
                for name in ("indptr", "indices", "data", "first_positions", "doc_len", "norms"):
                    np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name), name)
            else:
                np.testing.assert_array_equal(found, wanted)


@contextmanager
def _both(case: SimpleNamespace) -> Iterator[tuple[TermDocumentMatrix, TermDocumentMatrix]]:
    """Yield the matrix of the one index, and that of the shards."""
    with (
        open_index(case.one, "contents") as one,
        open_index(case.far, "contents") as far,
        open_matrix(one, positions=True) as whole,
        open_matrix(far, positions=True) as in_shards,
    ):
        yield whole, in_shards


def test_the_prior_and_what_is_pruned_by_it_are_those_of_one_index(
    case: SimpleNamespace, tmp_path: Path
) -> None:
    for options in ({}, {"model": "qld"}, {"model": "tfidf", "lead": False}):
        one, shards = (prior_values_of_index(each, **options) for each in (case.one, case.far))
        _are_equal(one, shards)
    assert one.vocabulary.find(["only"])[0] >= 0, "a term of a single shard"
    report = tdv.prune_index(case.one, None, tmp_path / "one", reduction=0.3)
    of_shards = tdv.prune_index(case.far, None, tmp_path / "OUT", reduction=0.3)
    for name in ("postings", "tokens", "reduction", "scale", "search", "baked"):
        assert of_shards[name] == report[name], name
    assert abs(report["reduction"] - 0.3) < 0.01
    network = of_shards["network"]
    assert network is not None and min(network.values()) > 0 and report["network"] is None
    pruned = [f"{part.resource}={tmp_path}/OUT/{part.name}" for part in case.far.parts]
    made = tdv.find_shards(pruned, scheduler=case.far.scheduler)
    assert tdv.verify_pruned(case.far, made)["equal"]
    assert _left_behind(case.temporary) == []


def _left_behind(temporary: Path) -> list[Path]:
    """Folders in which workers keep what they extracted."""
    return list(temporary.glob("tdv-lucene-" + 16 * "[0-9a-f]"))


@pytest.mark.parametrize("pool", [0, 240])
def test_what_is_learned_is_what_one_index_teaches(
    pool: int, case: SimpleNamespace, tmp_path: Path
) -> None:
    asked, options = (
        (case.folder / "topics", case.folder / "qrels"),
        {"recipe": SHORT, "pool": pool},
    )
    one = learn_from_index(case.one, *asked, tmp_path / "one", **options)
    shards = learn_from_index(case.far, *asked, tmp_path / "far", **options)
    _are_equal(one, shards)
    assert bool(one.manifest.get("pool")) == bool(pool)
    log = [tdv.learn_from_index(each, asked[0], None, tmp_path / f"log{number}", pool=pool)
           for number, each in enumerate((case.one, case.far))]  # fmt: skip
    _are_equal(*log)


def test_a_log_chooses_the_same_reduction(case: SimpleNamespace, tmp_path: Path) -> None:
    one, shards = (
        tdv.prune_index(each, None, tmp_path / name, queries=case.folder / "topics")
        for each, name in ((case.one, "one"), (case.far, "OUT"))
    )
    for name in ("postings", "requested_reduction", "chosen", "search"):
        assert shards[name] == one[name], name


def _die_once(matrix: TermDocumentMatrix, mark: str) -> int:
    """In a worker: end it and lose what it extracted, when it is asked first."""
    if not os.path.exists(mark):
        open(mark, "w").close()
        _forget_extracted(matrix)
        os.kill(os.getpid(), signal.SIGKILL)
    return matrix.postings


def test_a_worker_that_dies_is_replaced_and_its_shard_asked_again(
    case: SimpleNamespace, tmp_path: Path
) -> None:
    with _both(case) as (one, shards):
        assert sum(shards.each(_die_once, mark=str(tmp_path / "died"))) == one.postings
        assert (tmp_path / "died").exists()


def test_a_shard_that_changed_meanwhile_and_one_without_the_field_are_refused(
    case: SimpleNamespace, tmp_path: Path
) -> None:
    docs = [Doc(f"x{number}", ["fox", "dog"]) for number in range(9)]
    for name, part in (("a", docs[:4]), ("b", docs[4:])):
        write_index(tmp_path / "S" / name, [part], LAYOUT)
    given = [f"{resource}={tmp_path}/S/{name}" for resource, name in ("xa", "yb")]
    shards = tdv.find_shards(given, scheduler=case.far.scheduler)
    with open_index(shards, "contents") as opened, open_matrix(opened) as matrix:
        list(matrix.each(_forget_extracted))
        change(tmp_path / "S" / "b", [Doc("later", ["fox"])], layout=LAYOUT)
        with pytest.raises(TdvError, match="S/b was changed"):
            list(matrix.each(_forget_extracted))
    shutil.rmtree(tmp_path / "S" / "b")
    write_index(tmp_path / "S" / "b", [docs[4:]], replace(LAYOUT, field="title"))
    with pytest.raises(TdvError, match="not indexed alike"):
        tdv.prune_index(shards, None, tmp_path / "OUT", reduction=0.3)
    assert [path.name for path in tmp_path.iterdir()] == ["S"]


def _forget_extracted(matrix: TermDocumentMatrix) -> None:
    """In a worker."""
    for home in _left_behind(Path(tempfile.gettempdir())):
        shutil.rmtree(home / matrix.source["commit"], True)


@pytest.mark.parametrize("judged", [False, True])
def test_tuned_shards_are_what_a_tuned_index_is(
    judged: bool, case: SimpleNamespace, tmp_path: Path
) -> None:
    asked = (case.folder / "topics", case.folder / "qrels") if judged else (None, None)
    one = tdv.tune_index(case.one, *asked, tmp_path / "one")
    shards = tdv.tune_index(case.far, *asked, tmp_path / "OUT")
    for name in ("postings", "tokens", "search", "baked"):
        assert shards[name] == one[name], name
    assert len(shards["shards"]) == len(SHARDS) and _left_behind(case.temporary) == []


def test_shards_are_followed_by_the_workers_that_see_them(
    case: SimpleNamespace, tmp_path: Path
) -> None:
    docs, made = _documents()[:80], []
    for name, part in (("a", docs[:30]), ("b", docs[30:])):
        write_index(tmp_path / "S" / name, [part], LAYOUT)
    for where in ("S", "P"):
        given = [f"{resource}={tmp_path}/{where}/{name}" for resource, name in ("xa", "yb")]
        made.append(tdv.find_shards(given, scheduler=case.far.scheduler))
    shards, pruned = made
    tdv.prune_index(shards, None, tmp_path / "P", reduction=0.3)
    assert not tdv.update_index(pruned)["updated"]
    shutil.copytree(tmp_path / "P", tmp_path / "here")
    change(tmp_path / "S" / "b", [Doc("new", ["t1", "t2", "brandnew"])], ["d40"], layout=LAYOUT)
    report = tdv.update_index(pruned)
    assert report == tdv.update_index(tdv.find_shards(f"{tmp_path}/here/*"))
    assert (report["updated"], report["segments_added"], report["deletions"]) == (True, 1, 1)
    assert tdv.verify_pruned(shards, pruned)["equal"]
    with pytest.raises(TdvError, match="scheduler"):
        tdv.watch_index(pruned)


TOPICS = {"q1": "quick fox", "q2": "index postings", "q3": "retrieval of dogs that sleep"}


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
        found = started.each(_own_process, dict.fromkeys(shards.parts, ()), "", silent)
    assert found[0] != found[1] and found == [found[0], found[1]] * 3


def _own_process(folder: str) -> int:
    """In a worker."""
    return os.getpid()


def _die_first(folder: str, value: str, mark: str) -> str:
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
        assert started.each(_die_first, tasks, "", silent) == ["values"] * 3
    assert len(list(tmp_path.iterdir())) == 3, "each of them died once"


def test_a_worker_that_is_late_to_return_is_not_given_up(base: Path, tmp_path: Path) -> None:
    shards = tdv.find_shards(str(base / "S" / "a"))
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 ms"}),  # before it can be
        ThreadPoolExecutor(1) as apart,
        open_workers(shards) as started,
    ):
        tasks = {part: ("back", str(tmp_path / "died")) for part in shards.parts}
        asked = apart.submit(started.each, _die_first, tasks, "", silent)
        assert asked.result(timeout=300) == ["back"]
    assert (tmp_path / "died").exists()


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
    with open_workers(_at(cluster, base / "S")) as started:
        monkeypatch.setattr(clusters, "PRESENCE_SECONDS", 0.1)
        monkeypatch.setattr(clusters, "WORKERS_SECONDS", 0.5)
        with pytest.raises(TdvError, match="no worker has the resource 'gone'"):
            started.each(_own_process, {Part("/S", "gone"): ()}, "", silent)
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
