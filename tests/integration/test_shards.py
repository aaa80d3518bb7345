"""An index in shards does what one index of its documents does, with real Dask workers."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import distributed
import numpy as np
import pytest
from impact_documents import LAYOUT as IMPACT_LAYOUT
from impact_documents import POWER, impact_documents
from lucene_indexes import Doc, Layout, change, write_index
from tiny_shards import LAYOUT, two_workers, write_tiny_shards

import tdv_lucene as tdv
from tdv_lucene import Analysis, Index, TdvError
from tdv_lucene.index.sharded import open_index
from tdv_lucene.jvm import rewriter
from tdv_lucene.learning.pool import search_lucene
from tdv_lucene.learning.prior import prior_values, prior_values_of_index
from tdv_lucene.plan import FOLDER
from tdv_lucene.pruning.writing import MANIFEST
from tdv_lucene.ranking import SearchParameters
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.source import Part

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

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
    matrix = tdv.extract_matrix(base / "one", base / "matrix")
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
    matrix = tdv.extract_matrix(shards, tmp_path / "matrix")
    assert matrix.source["shards"][1] == {
        "name": "b", "documents": 2, "commit": matrix.source["shards"][1]["commit"]
    }  # fmt: skip
    expected = sorted((base / "matrix").glob("*.npy"))
    assert len(expected) == 12
    for path in expected:
        assert (tmp_path / "matrix" / path.name).read_bytes() == path.read_bytes(), path.name
    assert [path.name for path in tmp_path.iterdir()] == ["matrix"], "nothing is left beside it"


@pytest.mark.parametrize("tf", ["scaled", "original"])
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
    for name in ("measures", "queries", "parameters", "notes"):
        assert several[name] == one[name], name
    for name in ("full", "pruned"):
        for count in ("postings", "terms", "tokens", "documents"):
            assert several["indexes"][name][count] == one["indexes"][name][count]


def test_what_is_finished_is_kept_and_what_was_made_otherwise_is_not_replaced(
    shards: tdv.Source, values: Path, tmp_path: Path
) -> None:
    """An interrupted run goes on where it stopped."""

    def interrupt(label: str, done: int, total: int) -> None:
        if label == "prune shards" and done >= 2:  # two may end at once
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
    with pytest.raises(TdvError, match="rm3 is Anserini's, and searches only"):
        tdv.search_index(shards, TOPICS, out, feedback="rm3")
    assert not out.exists()


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


POSITIONS = Layout(options="DOCS_AND_FREQS_AND_POSITIONS")
MANY = {
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
def zipf(tmp_path_factory: pytest.TempPathFactory, cluster: distributed.LocalCluster) -> Path:
    """The shards ``S``, six with deletions and an empty one, and ``P``, the same pruned."""
    folder, segments = tmp_path_factory.mktemp("far"), _segments()
    (folder / "S").mkdir()
    parts = [segments[:1], segments[1:4], segments[4:5], [], segments[5:8], segments[8:9],
             segments[9:]]  # fmt: skip
    for number, part in enumerate(parts):
        write_index(folder / "S" / str(number), part, POSITIONS)
    write_index(folder / "one", segments, POSITIONS)
    prior_values(tdv.extract_matrix(folder / "one", folder / "matrix")).save(folder / "values")
    shards = tdv.find_shards(f"{folder}/S/*", scheduler=cluster.scheduler_address)
    tdv.prune_index(shards, folder / "values", folder / "P", reduction=0.4)
    tdv.prune_index(shards, folder / "values", folder / "T", tiers=True, reduction=0.6, depth=30)
    return folder


@pytest.fixture(scope="module")
def far(zipf: Path, cluster: distributed.LocalCluster) -> Callable[[str], tdv.Source]:
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
    which: str, model: str, hits: int, zipf: Path, far: Callable[[str], tdv.Source],
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Full and pruned, also where the cut-off falls among equal scores, and in several rounds: each
    two of the three together."""
    monkeypatch.setattr("tdv_lucene.searching.search.HITS_AT_ONCE", 2 * 7 * hits)
    here = tdv.search_index(
        tdv.find_shards(f"{zipf}/{which}/*"), MANY, tmp_path / "here", model=model, hits=hits
    )
    there = tdv.search_index(
        far(f"{zipf}/{which}/*"), MANY, tmp_path / "there", model=model, hits=hits
    )
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes() != b""
    assert there == here
    manifests = [
        json.loads((tmp_path / f"{name}.manifest.json").read_text()) for name in ("here", "there")
    ]
    assert manifests[0]["source"] == manifests[1]["source"]
    if which == "S":
        tdv.search_index(zipf / "one", MANY, tmp_path / "one", model=model, hits=hits)
        assert (tmp_path / "one").read_bytes() == (tmp_path / "there").read_bytes()


def test_without_doc_values_ties_are_in_the_shards_order(
    far: Callable[[str], tdv.Source], tmp_path: Path
) -> None:
    """Indexes of Lucene 8; scores are printed as they are."""
    old = dataclasses.replace(POSITIONS, id_doc_values=False)
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
    zipf: Path, far: Callable[[str], tdv.Source], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tdv.search_index(far(f"{zipf}/S/*"), {"q": "zyzzy"}, tmp_path / "run")
    (told,) = (line for line in caplog.messages if "no query finds a document" in line)
    assert "in the field 'contents' of 7 shards" in told


def test_an_id_in_two_shards_is_listed_once(
    zipf: Path, far: Callable[[str], tdv.Source], tmp_path: Path
) -> None:
    write_index(tmp_path / "twice", [[Doc("both", ["t99"])]], POSITIONS)
    given = [f"{zipf}/S/*", f"{tmp_path}/twice"]
    here = tdv.search_index(tdv.find_shards(given), MANY, tmp_path / "here")
    there = tdv.search_index(far(given), MANY, tmp_path / "there")
    assert there == here and there["duplicates"] == 1
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()


def test_what_workers_cannot_search_is_refused_and_nothing_written(
    zipf: Path, far: Callable[[str], tdv.Source], tmp_path: Path
) -> None:
    shards, run = far(f"{zipf}/S/*"), tmp_path / "run"
    write_index(tmp_path / "other", [[Doc("x", ["t1"])]], Layout(options="DOCS_AND_FREQS"))
    shutil.copytree(zipf / "S" / "1", tmp_path / "copy")
    for index, options, message in (
        (shards, {"field": "titel"}, "no shard has a field 'titel': name one of theirs"),
        (shards, {"feedback": "rm3"}, "rm3 is Anserini's, and searches only"),
        (shards, {"tag": "two words"}, "the tag 'two words' holds white space"),
        (shards, {"hits": 0}, "hits must be from 1"),
        (shards, {"model": "qld", "k1": 1.0}, "model qld has no parameter 'k1'"),
        (far([f"{zipf}/S/*", f"{tmp_path}/copy"]), {}, "S/1 and .*copy are copies of one index"),
        (far([f"{zipf}/S/*", f"{tmp_path}/other"]), {},
         "not indexed alike: the field 'contents' has .* in .*S/0, index options DOCS_AND_FREQS,"),
        (far([f"{zipf}/S/*", f"{tmp_path}/none"]), {}, "no such index: .*none is not a folder"),
        (far(f"{zipf}/P/[0-4]"), {}, "of 7 shards that were pruned together, 5 are here"),
    ):  # fmt: skip
        with pytest.raises(TdvError, match=message):
            tdv.search_index(index, MANY, run, **options)
        assert not [path.name for path in tmp_path.iterdir() if "run" in path.name], message


def test_a_shard_that_changes_meanwhile_ends_the_search(
    far: Callable[[str], tdv.Source], tmp_path: Path
) -> None:
    """Its statistics would be those of other documents."""
    for name in "ab":
        write_index(tmp_path / "S" / name, [[Doc(f"{name}{i}", ["fox"]) for i in range(9)]])

    shards = far(f"{tmp_path}/S/*")
    with (
        open_index(shards, "contents", topics={"q": "fox"}) as opened,
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


def test_a_shard_to_which_another_wrote_is_named(
    shards: tdv.Source, values: Path, tmp_path: Path, cluster: distributed.LocalCluster
) -> None:
    tdv.prune_index(shards, values, tmp_path / "P", reduction=0.3, search_as="recorded")
    pruned = tdv.find_shards(f"{tmp_path}/P/*", scheduler=cluster.scheduler_address)
    tdv.search_index(pruned, TOPICS, tmp_path / "run")
    change(tmp_path / "P" / "b", [Doc("n1", ["quick", "brandnew"])], layout=Layout(vectors="v"))
    with pytest.raises(TdvError, match=f"since {tmp_path}/P/b was pruned"):
        tdv.search_index(pruned, TOPICS, tmp_path / "run", overwrite=True)
    assert "P/b" in tdv.inspect_index(pruned)["why_not"]
    report = tdv.update_index(pruned)
    assert (report["segments_foreign"], report["segments_added"]) == (1, 0)
    assert tdv.verify_pruned(shards, pruned)["equal"]
