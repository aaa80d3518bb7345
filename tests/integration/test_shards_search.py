"""Shards searched by workers, each its own, give the bytes that one reader of all gives."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import distributed
import numpy as np
import pytest
from lucene_indexes import Doc, Layout, write_index
from tiny_shards import two_workers

import tdv_lucene as tdv
from tdv_lucene import Analysis, TdvError, prior_values
from tdv_lucene.index.sharded import open_far_shards
from tdv_lucene.learning.pool import search_lucene
from tdv_lucene.progress import silent
from tdv_lucene.ranking import SearchParameters
from tdv_lucene.ranking import SearchParameters as Parameters

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

LAYOUT = Layout(options="DOCS_AND_FREQS_AND_POSITIONS")
TOPICS = {
    "q1": "t1", "q2": "t2 t1 t1 t9", "none": "zyzzy", "q3": " ".join(f"t{i}" for i in range(1, 40)),
    "q4": "t3 t99 t7",
}  # fmt: skip


def _segments() -> list[list[Doc]]:
    """600 documents of a Zipfian vocabulary, ids out of order; many scores are equal or nearly."""
    rng = np.random.default_rng(3)
    docs = []
    for number in rng.permutation(600):
        terms = [f"t{i}" for i in np.minimum(rng.zipf(1.3, rng.integers(1, 30)), 60)]
        docs.append(Doc(f"d{number}", terms, deleted=bool(rng.random() < 0.05)))
    docs[7] = Doc("both", ["t99", "t3"])  # a term of one shard
    return [docs[i : i + 60] for i in range(0, 600, 60)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[distributed.LocalCluster]:
    with two_workers() as started:
        yield started


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, cluster: distributed.LocalCluster) -> Path:
    """The shards ``S``, six with deletions and an empty one, and ``P``, the same pruned."""
    folder, segments = tmp_path_factory.mktemp("far"), _segments()
    (folder / "S").mkdir()
    parts = [segments[:1], segments[1:4], segments[4:5], [], segments[5:8], segments[8:9],
             segments[9:]]  # fmt: skip
    for number, part in enumerate(parts):
        write_index(folder / "S" / str(number), part, LAYOUT)
    write_index(folder / "one", segments, LAYOUT)
    prior_values(tdv.extract_matrix(folder / "one", folder / "matrix")).save(folder / "values")
    shards = tdv.find_shards(f"{folder}/S/*", scheduler=cluster.scheduler_address)
    tdv.prune_index(shards, folder / "values", folder / "P", reduction=0.4)
    tdv.prune_index(shards, folder / "values", folder / "T", tiers=True, reduction=0.6, depth=30)
    return folder


@pytest.fixture(scope="module")
def far(base: Path, cluster: distributed.LocalCluster) -> Callable[[str], tdv.Source]:
    return lambda given: tdv.find_shards(given, scheduler=cluster.scheduler_address)


@pytest.mark.parametrize(
    ("which", "model", "hits"),
    [
        ("S", "bm25", 1000),
        ("S", "qld", 7),
        ("S", "tfidf", 1000),
        ("P", "bm25", 7),
        ("P", "qld", 1000),
        ("P", "tfidf", 7),
        ("T", "bm25", 7),
        ("T", "qld", 1000),
    ],
)
def test_the_run_of_workers_is_that_of_one_reader(
    which: str, model: str, hits: int, base: Path, far: Callable[[str], tdv.Source],
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Full and pruned, also where the cut-off falls among equal scores, and in several rounds: each
    two of the three together."""
    monkeypatch.setattr("tdv_lucene.searching.search.HITS_AT_ONCE", 2 * 7 * hits)
    here = tdv.search_index(
        tdv.find_shards(f"{base}/{which}/*"), TOPICS, tmp_path / "here", model=model, hits=hits
    )
    there = tdv.search_index(
        far(f"{base}/{which}/*"), TOPICS, tmp_path / "there", model=model, hits=hits
    )
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes() != b""
    assert there == here
    manifests = [
        json.loads((tmp_path / f"{name}.manifest.json").read_text()) for name in ("here", "there")
    ]
    assert manifests[0]["source"] == manifests[1]["source"]
    if which == "S":
        tdv.search_index(base / "one", TOPICS, tmp_path / "one", model=model, hits=hits)
        assert (tmp_path / "one").read_bytes() == (tmp_path / "there").read_bytes()


def test_without_doc_values_ties_are_in_the_shards_order(
    far: Callable[[str], tdv.Source], tmp_path: Path
) -> None:
    """Indexes of Lucene 8; scores are printed as they are."""
    old = dataclasses.replace(LAYOUT, id_doc_values=False)
    for name, ids in {"a": "zy", "b": "cab"}.items():
        write_index(tmp_path / "S" / name, [[Doc(i, ["fox", "t"]) for i in ids]], old)
    for hits in (10, 4):
        for name, index in {
            "here": tdv.find_shards(f"{tmp_path}/S/*"), "there": far(f"{tmp_path}/S/*")
        }.items():  # fmt: skip
            tdv.search_index(index, {"q": "fox"}, tmp_path / name, hits=hits, overwrite=True)
        lines = (tmp_path / "there").read_text().splitlines()
        assert [line.split()[2] for line in lines] == [*"zycab"][:hits]
        assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()


def test_that_workers_find_nothing_is_told(
    base: Path, far: Callable[[str], tdv.Source], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tdv.search_index(far(f"{base}/S/*"), {"q": "zyzzy"}, tmp_path / "run")
    (told,) = (line for line in caplog.messages if "no query finds a document" in line)
    assert "in the field 'contents' of 7 shards" in told


def test_an_id_in_two_shards_is_listed_once(
    base: Path, far: Callable[[str], tdv.Source], tmp_path: Path
) -> None:
    write_index(tmp_path / "twice", [[Doc("both", ["t99"])]], LAYOUT)
    given = [f"{base}/S/*", f"{tmp_path}/twice"]
    here = tdv.search_index(tdv.find_shards(given), TOPICS, tmp_path / "here")
    there = tdv.search_index(far(given), TOPICS, tmp_path / "there")
    assert there == here and there["duplicates"] == 1
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()


def test_what_workers_cannot_search_is_refused_and_nothing_written(
    base: Path, far: Callable[[str], tdv.Source], tmp_path: Path
) -> None:
    shards, run = far(f"{base}/S/*"), tmp_path / "run"
    write_index(tmp_path / "other", [[Doc("x", ["t1"])]], Layout(options="DOCS_AND_FREQS"))
    shutil.copytree(base / "S" / "1", tmp_path / "copy")
    for index, options, message in (
        (shards, {"field": "titel"}, "no shard has a field 'titel': name one of theirs"),
        (shards, {"feedback": "rm3"}, "rm3 is Anserini's, and opens one folder only"),
        (shards, {"tag": "two words"}, "the tag 'two words' holds white space"),
        (shards, {"hits": 0}, "hits must be from 1"),
        (shards, {"model": "qld", "k1": 1.0}, "model qld has no parameter 'k1'"),
        (far([f"{base}/S/*", f"{tmp_path}/copy"]), {}, "S/1 and .*copy are copies of one index"),
        (far([f"{base}/S/*", f"{tmp_path}/other"]), {},
         "not indexed alike: the field 'contents' has .* in .*S/0, index options DOCS_AND_FREQS,"),
        (far([f"{base}/S/*", f"{tmp_path}/none"]), {}, "no such index: .*none is not a folder"),
        (far(f"{base}/P/[0-4]"), {}, "of 7 shards that were pruned together, 5 are here"),
    ):  # fmt: skip
        with pytest.raises(TdvError, match=message):
            tdv.search_index(index, TOPICS, run, **options)
        assert not [path.name for path in tmp_path.iterdir() if "run" in path.name], message


def test_a_shard_that_changes_meanwhile_ends_the_search(
    far: Callable[[str], tdv.Source], tmp_path: Path
) -> None:
    """Its statistics would be those of other documents."""
    for name in "ab":
        write_index(tmp_path / "S" / name, [[Doc(f"{name}{i}", ["fox"]) for i in range(9)]])

    shards = far(f"{tmp_path}/S/*")
    with (
        open_far_shards(shards, {"q": "fox"}, "contents", None, silent) as opened,
        pytest.raises(TdvError, match="S/b was changed"),
    ):
        shutil.rmtree(tmp_path / "S" / "b")
        write_index(tmp_path / "S" / "b", [[Doc("b", ["fox"])]])
        opened.find(SearchParameters("tfidf"), {"q": "fox"}, hits=5, threads=1)


def test_a_pool_is_found_whatever_ids_are_like(tmp_path: Path) -> None:
    """Nothing of it is written as a run, whose columns white space would break."""
    docs = [Doc("a document", ["fox"]), Doc("line\nbreak", ["fox", "fox"]), Doc("c", ["dog"])]
    index = write_index(tmp_path / "index", [docs])
    topics = {"my query": "fox", "q\t2": "nothing", "": "dog"}
    found = search_lucene(index, topics, "bm25", "contents", Analysis())(
        Parameters(k1=0.9, b=0.0), 5
    )
    assert found == {"my query": ["line\nbreak", "a document"], "q\t2": [], "": ["c"]}
