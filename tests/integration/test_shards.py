"""An index in shards does what one index of its documents does, with real Dask workers."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import distributed
import pytest
from impact_documents import LAYOUT as IMPACT_LAYOUT
from impact_documents import POWER, impact_documents
from lucene_indexes import Doc, write_index
from tiny_shards import LAYOUT, two_workers, write_tiny_shards

import tdv_lucene as tdv
from tdv_lucene import Index, TdvError
from tdv_lucene.jvm import rewriter
from tdv_lucene.learning.prior import prior_values, prior_values_of_index
from tdv_lucene.plan import FOLDER
from tdv_lucene.pruning.writing import MANIFEST
from tdv_lucene.source import Part

pytestmark = pytest.mark.jvm

TOPICS = {"q1": "quick fox", "q2": "index postings", "q3": "retrieval of dogs that sleep"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[distributed.LocalCluster]:
    with two_workers() as started:
        yield started


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny collection in one index and in four shards, one without a document; two deleted."""
    folder = tmp_path_factory.mktemp("shards")
    write_tiny_shards(folder)
    return folder


@pytest.fixture(scope="module")
def shards(base: Path, cluster: distributed.LocalCluster) -> tdv.Source:
    return tdv.find_shards(f"{base}/S/*", scheduler=cluster.scheduler_address)


@pytest.fixture(scope="module")
def values(base: Path) -> Path:
    """Values with all there is: a rule for postings, and places that count."""
    matrix = tdv.extract_matrix(base / "one", base / "matrix", tokens=True)
    prior_values(matrix).save(base / "values")
    return base / "values"


def _runs_agree(one: Any, shards: Any, folder: Path, model: str | None = None) -> None:
    runs = [folder / "one.run", folder / "shards.run"]
    for index, run in zip((one, shards), runs):
        tdv.search_index(index, TOPICS, run, model=model, overwrite=True)
    assert runs[0].read_text() == runs[1].read_text() != ""


def test_the_matrix_is_that_of_one_index_byte_by_byte(
    base: Path, shards: tdv.Source, tmp_path: Path, values: Path
) -> None:
    matrix = tdv.extract_matrix(shards, tmp_path / "matrix", tokens=True)
    assert matrix.source["shards"][1] == {
        "name": "b", "documents": 2, "commit": matrix.source["shards"][1]["commit"]
    }  # fmt: skip
    expected = sorted((base / "matrix").glob("*.npy"))
    assert len(expected) == 14
    for path in expected:
        assert (tmp_path / "matrix" / path.name).read_bytes() == path.read_bytes(), path.name
    assert [path.name for path in tmp_path.iterdir()] == ["matrix"], "nothing is left beside it"


@pytest.mark.parametrize("tf", ["scaled", pytest.param("original", marks=pytest.mark.slow)])
def test_the_pruned_shards_answer_as_the_pruned_index(
    tf: str, base: Path, shards: tdv.Source, values: Path, tmp_path: Path
) -> None:
    one = tdv.prune_index(base / "one", values, tmp_path / "one", reduction=0.3, tf=tf)
    report = tdv.prune_index(shards, values, tmp_path / "OUT", reduction=0.3, tf=tf)
    for name in (
        "postings_before", "postings", "tokens", "reduction", "documents_without_terms", "search",
        "requested_reduction",
    ):  # fmt: skip
        assert report[name] == one[name], name
    assert [row["name"] for row in report["shards"]] == ["a", "b", "c", "d"]
    pruned = tdv.find_shards(f"{tmp_path}/OUT/*")
    _runs_agree(base / "one", shards, tmp_path)
    for model in ("bm25", "qld"):
        _runs_agree(tmp_path / "one", pruned, tmp_path, model)
    found = tdv.verify_pruned(shards, pruned)
    assert found == {"equal": True, "documents": 8, "postings": one["postings"]}


@pytest.mark.slow
def test_impact_shards_are_pruned_proved_and_searched_as_one_index(
    cluster: distributed.LocalCluster, tmp_path: Path
) -> None:
    docs = impact_documents()
    full = write_index(tmp_path / "full", [docs[:25], docs[25:]], IMPACT_LAYOUT)
    (tmp_path / "S").mkdir()
    for name, part in {"a": [docs[:25]], "b": [docs[25:40], docs[40:45]], "c": [docs[45:]]}.items():
        write_index(tmp_path / "S" / name, part, IMPACT_LAYOUT)
    shards = tdv.find_shards(f"{tmp_path}/S/*", scheduler=cluster.scheduler_address)
    values = prior_values_of_index(full)
    values = dataclasses.replace(values, manifest={**values.manifest, "lead": POWER._asdict()})
    one = tdv.prune_index(full, values, tmp_path / "one", reduction=0.4, scale=0.3)
    several = tdv.prune_index(shards, values, tmp_path / "OUT", reduction=0.4, scale=0.3)
    assert one["reduction"] > 0.3
    for name in ("model", "postings_before", "postings", "tokens", "search"):
        assert several[name] == one[name], name
    pruned = tdv.find_shards(f"{tmp_path}/OUT/*")
    assert tdv.verify_pruned(shards, pruned) == tdv.verify_pruned(full, tmp_path / "one")
    topics = {"1": "a a a ##b all", "2": "c all e e unknown"}
    for first, second in ((full, shards), (tmp_path / "one", pruned)):
        for share in (None, 0.7):
            for index, run in ((first, "first"), (second, "second")):
                tdv.search_index(index, topics, tmp_path / run, query_terms=share, overwrite=True)
            runs = [(tmp_path / run).read_text() for run in ("first", "second")]
            assert runs[0] == runs[1] != ""


def test_statistics_of_the_whole_are_recorded_and_a_shard_alone_is_warned_of(
    shards: tdv.Source, values: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tdv.prune_index(shards, values, tmp_path / "OUT", reduction=0.3)
    whole = tdv.inspect_index(tdv.find_shards(f"{tmp_path}/OUT/*"))
    source = tdv.inspect_index(shards)
    assert whole["user_data"]["tdv.source_commit"] == source["commit"]
    assert (whole["documents"], source["deleted"], len(source["segments"])) == (8, 2, 5)
    tdv.search_index(tmp_path / "OUT" / "a", TOPICS, tmp_path / "alone.run")
    assert "a is one of 4 shards and is searched by itself" in caplog.text
    with pytest.raises(TdvError, match="of 4 shards .* 3 are here"):
        tdv.search_index(tdv.find_shards(f"{tmp_path}/OUT/[abc]"), TOPICS, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_comparing_shards_is_comparing_indexes(
    base: Path, shards: tdv.Source, values: Path, tmp_path: Path
) -> None:
    (tmp_path / "topics.tsv").write_text("".join(f"{q}\t{text}\n" for q, text in TOPICS.items()))
    (tmp_path / "qrels").write_text("q1 0 d0 1\nq2 0 d6 2\nq3 0 d7 1\n")
    tdv.prune_index(base / "one", values, tmp_path / "P", reduction=0.3)
    tdv.prune_index(shards, values, tmp_path / "OUT", reduction=0.3)
    files = tmp_path / "topics.tsv", tmp_path / "qrels"
    one, several = (
        tdv.compare_indexes(*pair, *files, tmp_path / name, latency_budget_seconds=0.2)
        for name, pair in {
            "R1": (base / "one", tmp_path / "P"),
            "R4": (shards, tdv.find_shards(f"{tmp_path}/OUT/*")),
        }.items()
    )
    for name in ("measures", "queries", "rank_effects", "parameters", "notes"):
        assert several[name] == one[name], name
    for name in ("full", "pruned"):
        for count in ("postings", "terms", "tokens", "documents"):
            assert several["indexes"][name][count] == one["indexes"][name][count]


def test_what_is_finished_is_kept_and_what_was_made_otherwise_is_not_replaced(
    shards: tdv.Source, values: Path, tmp_path: Path
) -> None:
    """An interrupted run goes on where it stopped."""

    def interrupt(label: str, done: int, total: int) -> None:
        if label == "prune shards" and done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tdv.prune_index(shards, values, tmp_path / "OUT", reduction=0.3, progress=interrupt)
    there = {path.name for path in (tmp_path / "OUT").iterdir() if path.name in "abcd"}
    assert len(there) >= 2
    before = {name: (tmp_path / "OUT" / name / MANIFEST).stat().st_mtime_ns for name in there}
    report = tdv.prune_index(shards, values, tmp_path / "OUT", reduction=0.3)
    assert {row["name"] for row in report["shards"] if row["kept"]} >= there
    after = {name: (tmp_path / "OUT" / name / MANIFEST).stat().st_mtime_ns for name in there}
    assert after == before
    with pytest.raises(TdvError, match="OUT/[a-d] exists"):
        tdv.prune_index(shards, values, tmp_path / "OUT", reduction=0.5)
    again = tdv.prune_index(shards, values, tmp_path / "OUT", reduction=0.5, overwrite=True)
    assert [row["kept"] for row in again["shards"]] == [False] * 4
    assert {path.name for path in (tmp_path / "OUT").iterdir()} == set("abcd")


@pytest.mark.slow
def test_a_changed_posting_is_found_in_its_shard(
    shards: tdv.Source, values: Path, tmp_path: Path
) -> None:
    tdv.prune_index(shards, values, tmp_path / "OUT", reduction=0.3)
    pruned = tdv.find_shards(f"{tmp_path}/OUT/*")
    with pytest.raises(TdvError, match="a was made of the shard 'a'"):
        tdv.verify_pruned(dataclasses.replace(shards, parts=shards.parts[1:]), pruned)
    right = tmp_path / "OUT" / "a"
    with Index.open(right) as opened:
        (plan,), said = opened.plan.fields, opened.user_data
    shutil.move(right, tmp_path / "right")
    right.mkdir()
    plan = dataclasses.replace(plan, tdv=plan.tdv * 2)
    rewriter.rewrite_index(
        shards.parts[0].folder, right, [plan], threads=1, user_data=said, is_shard=True
    )
    shutil.copytree(tmp_path / "right" / FOLDER, right / FOLDER)
    found = tdv.verify_pruned(shards, pruned)
    assert not found["equal"] and found["difference"]["shard"] == "a"
    shutil.rmtree(right)
    shutil.move(tmp_path / "right", right)
    shutil.rmtree(tmp_path / "OUT" / "b" / FOLDER)
    with pytest.raises(TdvError, match="OUT/b lacks its plan"):
        tdv.verify_pruned(shards, pruned)


def _and(shards: tdv.Source, folder: Path) -> tdv.Source:
    return dataclasses.replace(shards, parts=(*shards.parts, Part(str(folder))))


def test_what_cannot_be_done_with_shards_is_refused_and_nothing_written(
    base: Path, shards: tdv.Source, values: Path, tmp_path: Path
) -> None:
    write_index(tmp_path / "twice", [[Doc("d9", ["once", "more"])]], LAYOUT)
    (tmp_path / "b").mkdir()
    same = _and(shards, tmp_path / "b")
    out = tmp_path / "OUT"
    for index, options, message in (
        (shards, {"max_bytes": "1MB"}, "max_bytes is for one folder"),
        (same, {"reduction": 0.3}, "two shards are named 'b'"),
        (_and(shards, tmp_path / "twice"),
         {"reduction": 0.3}, "the document 'd9' is in the shards .*S/d and .*twice: leave one"),
        (_and(shards, tmp_path / "none"),
         {"reduction": 0.3}, "no such index: .*none is not a folder"),
    ):  # fmt: skip
        with pytest.raises(TdvError, match=message):
            tdv.prune_index(index, values, out, **options)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes").write_text("a user's")
    with pytest.raises(TdvError, match="full holds 'notes', and that is none of these shards"):
        tdv.prune_index(shards, values, tmp_path / "full", reduction=0.3)
    with pytest.raises(TdvError, match="OUT overlaps the input .*S/b"):
        tdv.prune_index(shards, values, base / "S" / "b" / "OUT", reduction=0.3)
    assert not out.exists()
    with pytest.raises(TdvError, match="index and pruned are shards both, or neither"):
        tdv.verify_pruned(shards, base / "one")
    with pytest.raises(TdvError, match="Pyserini's searcher opens one folder, not 4 shards of"):
        tdv.open_searcher(shards)
    with pytest.raises(TdvError, match="rm3 is Anserini's, and opens one folder"):
        tdv.search_index(shards, TOPICS, out, feedback="rm3")
    assert not out.exists()


@pytest.mark.slow
def test_the_command_starts_processes_of_its_own(base: Path, values: Path, tmp_path: Path) -> None:
    """Without a scheduler; and lists what was done to each shard."""
    command = [sys.executable, "-m", "tdv_lucene", "prune", "--index", f"{base}/S/*"]
    command += ["--tdv", str(values), "--reduction", "0.3", "--output", str(tmp_path / "OUT")]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [row["name"] for row in report["shards"]] == ["a", "b", "c", "d"]
    assert {path.name for path in (tmp_path / "OUT").iterdir()} == set("abcd")
    assert "http" not in done.stderr and "Nanny" not in done.stderr, "Dask talks in the log only"
