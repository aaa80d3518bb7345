"""An index in shards does what one index of its documents does, with real Dask workers; also where
each shard is seen by some workers only, as its resource says."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import cloudpickle
import dask
import distributed
import numpy as np
import pytest
from command_line import run_command, search, write_judged
from impact_documents import LAYOUT as IMPACT_LAYOUT
from impact_documents import POWER, impact_documents
from lucene_indexes import Doc, Layout, change, write_index
from small_jvm import make_jvm_small
from tiny_collection import tiny_segments

import tdv_lucene as tdv
from tdv_lucene import Analysis, Index, TdvError
from tdv_lucene.index import workers as clusters
from tdv_lucene.index.analysis import analysis_of
from tdv_lucene.index.parameters import recorded_parameters
from tdv_lucene.index.sharded import open_index
from tdv_lucene.index.workers import open_workers
from tdv_lucene.jvm import rewriter
from tdv_lucene.jvm.searcher import make_similarity, open_searched
from tdv_lucene.learning.config import Recipe
from tdv_lucene.learning.pool import search_lucene
from tdv_lucene.learning.prior import prior_values, prior_values_of_index
from tdv_lucene.matrix.extract import open_matrix
from tdv_lucene.matrix.shards import select_documents
from tdv_lucene.matrix.term_document_matrix import TermDocumentMatrix
from tdv_lucene.plan import FOLDER
from tdv_lucene.progress import silent
from tdv_lucene.pruning.writing import MANIFEST
from tdv_lucene.ranking import SearchParameters
from tdv_lucene.source import Part

pytestmark = [pytest.mark.jvm, pytest.mark.slow]
for module in (__name__, "small_jvm"):  # workers cannot import the tests
    cloudpickle.register_pickle_by_value(sys.modules[module])

TOPICS = {"q1": "quick fox", "q2": "index postings", "q3": "retrieval of dogs that sleep"}
POSITIONS = Layout(options="DOCS_AND_FREQS_AND_POSITIONS")
LAYOUT = dataclasses.replace(POSITIONS, vectors="vp")


@pytest.fixture(scope="module")
def temporary(tmp_path_factory):
    """Where workers keep what they extracted."""
    return tmp_path_factory.mktemp("temporary")


@pytest.fixture(scope="module")
def find(temporary):
    """``find(given)`` finds shards for two workers; with names of folders in ``given``, the first
    is for the worker with the resource x, the second for y, and so on in turn."""
    options = {"nthreads": 1, "memory_limit": 0, "env": {"TMPDIR": str(temporary)}}
    workers = {
        name: {"cls": distributed.Nanny, "options": {**options, "resources": {name: 1}}}
        for name in "xy"
    }
    scheduler = {"cls": distributed.Scheduler, "options": {"dashboard_address": None}}
    with (
        clusters.dead_workers_return(),
        distributed.SpecCluster(workers=workers, scheduler=scheduler, silence_logs=50) as cluster,
    ):
        with distributed.Client(cluster) as client:
            client.run(make_jvm_small)

        def found(given, names=""):
            parts = [f"{'xy'[n % 2]}={given}/{name}" for n, name in enumerate(names)]
            return tdv.find_shards(parts or given, scheduler=cluster.scheduler_address)

        yield found


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    """The tiny collection in ``one`` index and in four shards, ``S``, one of them without a
    document; two documents are deleted."""
    folder, segments = tmp_path_factory.mktemp("shards"), tiny_segments(2)
    for at in (1, 3):
        segments[at][0] = dataclasses.replace(segments[at][0], deleted=True)
    write_index(folder / "one", segments, LAYOUT)
    for name, part in {"a": segments[:2], "b": segments[2:3], "c": [], "d": segments[3:]}.items():
        write_index(folder / "S" / name, part, LAYOUT)
    return folder


@pytest.fixture(scope="module")
def shards(base, find) -> tdv.Source:
    return find(f"{base}/S/*")


@pytest.fixture(scope="module")
def values(base) -> Path:
    """Values with all there is: a rule for postings, and places that count."""
    matrix = tdv.extract_matrix(base / "one", base / "matrix")
    prior_values(matrix).save(base / "values")
    return base / "values"


def _runs_agree(one, shards, folder: Path, topics=TOPICS, **options) -> None:
    runs = [folder / "one.run", folder / "shards.run"]
    for index, run in zip((one, shards), runs):
        tdv.search_index(index, topics, run, overwrite=True, **options)
    assert runs[0].read_bytes() == runs[1].read_bytes() != b""


def test_the_matrix_is_that_of_one_index_byte_by_byte(base, shards, tmp_path, values) -> None:
    matrix = tdv.extract_matrix(shards, tmp_path / "matrix")
    assert matrix.source["shards"][1] == {
        "name": "b", "documents": 2, "commit": matrix.source["shards"][1]["commit"]
    }  # fmt: skip
    expected = sorted((base / "matrix").glob("*.npy"))
    assert len(expected) == 12
    for path in expected:
        assert (tmp_path / "matrix" / path.name).read_bytes() == path.read_bytes(), path.name
    assert [path.name for path in tmp_path.iterdir()] == ["matrix"], "nothing is left beside it"


@pytest.mark.parametrize(("tf", "names"), [("scaled", ""), ("original", ""), ("scaled", "abcd")])
def test_the_pruned_shards_answer_as_the_pruned_index(tf, names, base, find, values, tmp_path):
    shards, asked = find(f"{base}/S" + "/*" * (not names), names), {"reduction": 0.3, "tf": tf}
    one = tdv.prune_index(base / "one", values, tmp_path / "one", **asked)
    report = tdv.prune_index(shards, values, tmp_path / "OUT", **asked)
    for name in (
        "postings_before", "postings", "tokens", "reduction", "documents_without_terms", "search",
        "requested_reduction",
    ):  # fmt: skip
        assert report[name] == one[name], name
    assert {path.name for path in (tmp_path / "OUT").iterdir()} == set("abcd"), "and no values"
    for kept, again in (
        (False, report),
        (True, tdv.prune_index(shards, values, tmp_path / "OUT", **asked)),
    ):
        assert [(row["name"], row["kept"]) for row in again["shards"]] == [
            (n, kept) for n in "abcd"
        ]
    pruned = find(f"{tmp_path}/OUT" + "/*" * (not names), names)
    _runs_agree(base / "one", shards, tmp_path)
    for model in ("bm25", "qld"):
        _runs_agree(tmp_path / "one", pruned, tmp_path, model=model)
    found = tdv.verify_pruned(shards, pruned)
    assert found == {"equal": True, "documents": 8, "postings": one["postings"]}


def test_impact_shards_are_pruned_proved_and_searched_as_one_index(find, tmp_path) -> None:
    docs = impact_documents()
    full = write_index(tmp_path / "full", [docs[:25], docs[25:]], IMPACT_LAYOUT)
    for name, part in {"a": [docs[:25]], "b": [docs[25:40], docs[40:45]], "c": [docs[45:]]}.items():
        write_index(tmp_path / "S" / name, part, IMPACT_LAYOUT)
    shards = find(f"{tmp_path}/S/*")
    values = prior_values_of_index(full)
    values = dataclasses.replace(values, manifest={**values.manifest, "lead": POWER._asdict()})
    one = tdv.prune_index(full, values, tmp_path / "one", reduction=0.4, scale=0.3)
    several = tdv.prune_index(shards, values, tmp_path / "OUT", reduction=0.4, scale=0.3)
    assert one["reduction"] > 0.3
    for name in ("model", "postings_before", "postings", "tokens", "search"):
        assert several[name] == one[name], name
    pruned = find(f"{tmp_path}/OUT/*")
    assert tdv.verify_pruned(shards, pruned) == tdv.verify_pruned(full, tmp_path / "one")
    topics = {"1": "a a a ##b all", "2": "c all e e unknown"}
    for first, second in ((full, shards), (tmp_path / "one", pruned)):
        for share in (None, 0.7):
            _runs_agree(first, second, tmp_path, topics, query_terms=share)


def test_statistics_of_the_whole_are_recorded_and_a_shard_alone_is_warned_of(
    shards, values, tmp_path, caplog
) -> None:
    tdv.prune_index(shards, values, tmp_path / "OUT", reduction=0.3)
    whole = tdv.inspect_index(tdv.find_shards(f"{tmp_path}/OUT/*"))
    source = tdv.inspect_index(shards)
    assert whole["user_data"]["tdv.source_commit"] == source["commit"]
    assert (whole["documents"], source["deleted"], len(source["segments"])) == (8, 2, 5)
    tdv.search_index(tmp_path / "OUT" / "a", TOPICS, tmp_path / "alone.run")
    assert "a is one of 4 shards and is searched by itself" in caplog.text


def test_what_is_finished_is_kept_and_what_was_made_otherwise_is_not_replaced(
    shards, values, tmp_path
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


def test_a_changed_posting_is_found_in_its_shard(shards, find, values, tmp_path) -> None:
    tdv.prune_index(shards, values, tmp_path / "OUT", reduction=0.3)
    pruned, right = find(f"{tmp_path}/OUT/*"), tmp_path / "OUT" / "a"
    with pytest.raises(TdvError, match="a was made of the shard 'a'"):
        tdv.verify_pruned(dataclasses.replace(shards, parts=shards.parts[1:]), pruned)
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


def test_the_command_starts_processes_of_its_own(base, values, tmp_path) -> None:
    """Without a scheduler; and lists what was done to each shard."""
    command = [sys.executable, "-m", "tdv_lucene", "prune", "--index", f"{base}/S/*"]
    command += ["--tdv", str(values), "--reduction", "0.3", "--output", str(tmp_path / "OUT")]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [row["name"] for row in report["shards"]] == ["a", "b", "c", "d"]
    assert {path.name for path in (tmp_path / "OUT").iterdir()} == set("abcd")
    assert "http" not in done.stderr and "Nanny" not in done.stderr, "Dask talks in the log only"


def test_commands_take_shards_and_a_scheduler(base, shards, values, tmp_path) -> None:
    given, made = ("--index", f"{base}/S/*"), ("--pruned", f"{tmp_path}/OUT/*")
    topics, qrels = write_judged(tmp_path, TOPICS, {"q1": "d0", "q2": "d6", "q3": "d7"})
    judged, to = ("--topics", topics, "--qrels", qrels), ("--output", tmp_path / "OUT")
    for words, named in (
        (("prune", *given, "--tdv", values, "--reduction", 0.3, *to), "reduction"),
        (("verify", *given, *made), "equals"),
        (("update", *made), "the source has no new commit"),
        (("search", "--index", made[1], "--topics", topics, "--output", tmp_path / "run"), "hits"),
        (("tune", *given, *judged, "--output", tmp_path / "tuned"), "tuned k1"),
        (("learn", *given, *judged, "--output", tmp_path / "tdv"), "recommended"),
    ):
        assert named in run_command(*words, "--scheduler", shards.scheduler).output
    shown = run_command("compare", *given, *made, *judged, "--latency-budget", 0.2,
                        "--output", tmp_path / "report").output  # fmt: skip
    assert "report.html" in shown
    new = "--output", tmp_path / "new"
    for name, *more in (("inspect",), ("peers", "--name", "ridf", *new), ("export", *new)):
        with pytest.raises(TdvError, match="no such index"):
            run_command(name, *given, *more)


def test_without_doc_values_ties_are_in_the_shards_order(find, tmp_path) -> None:
    """Indexes of Lucene 8; scores are printed as they are."""
    old = dataclasses.replace(POSITIONS, id_doc_values=False)
    for name, ids in {"a": "zy", "b": "cab"}.items():
        write_index(tmp_path / "S" / name, [[Doc(i, ["fox", "t"]) for i in ids]], old)
    given = f"{tmp_path}/S/*"
    for hits in (10, 4):
        _runs_agree(tdv.find_shards(given), find(given), tmp_path, {"q": "fox"}, hits=hits)
        lines = (tmp_path / "shards.run").read_text().splitlines()
        assert [line.split()[2] for line in lines] == [*"zycab"][:hits]


def test_a_shard_that_changes_meanwhile_ends_the_work(find, tmp_path) -> None:
    """Statistics would be those of other documents; a shard without the field is none."""
    place, docs = tmp_path / "S", [Doc(f"x{number}", ["fox", "dog"]) for number in range(9)]
    for name, part in (("a", docs[:4]), ("b", docs[4:])):
        write_index(place / name, [part], POSITIONS)
    shards = find(place, "ab")
    with open_index(shards, "contents") as opened, open_matrix(opened) as matrix:
        list(matrix.each(_forget_extracted))
        change(place / "b", [Doc("later", ["fox"])], layout=POSITIONS)
        with pytest.raises(TdvError, match="S/b was changed"):
            list(matrix.each(_forget_extracted))
    with (
        open_index(shards, "contents", topics={"q": "fox"}) as found,
        pytest.raises(TdvError, match="S/b was changed"),
    ):
        shutil.rmtree(place / "b")
        write_index(place / "b", [docs[4:]], dataclasses.replace(POSITIONS, field="title"))
        found.find(SearchParameters("tfidf"), {"q": "fox"}, hits=5, threads=1)
    with pytest.raises(TdvError, match="not indexed alike"):
        tdv.prune_index(shards, None, tmp_path / "OUT", reduction=0.3)
    assert [path.name for path in tmp_path.iterdir()] == ["S"]


def test_a_pool_is_found_whatever_ids_are_like(tmp_path) -> None:
    """Nothing of it is written as a run, whose columns white space would break."""
    docs = [Doc("a document", ["fox"]), Doc("line\nbreak", ["fox", "fox"]), Doc("c", ["dog"])]
    index = write_index(tmp_path / "index", [docs])
    topics = {"my query": "fox", "q\t2": "nothing", "": "dog"}
    find = search_lucene(index, topics, "bm25", "contents", Analysis())
    (found,) = find([SearchParameters(k1=0.9, b=0.0)], 5)
    assert found == {"my query": ["line\nbreak", "a document"], "q\t2": [], "": ["c"]}


def test_a_shard_to_which_another_wrote_is_named(shards, find, values, tmp_path) -> None:
    tdv.prune_index(shards, values, tmp_path / "P", reduction=0.3, search_as="recorded")
    pruned = find(f"{tmp_path}/P/*")
    tdv.search_index(pruned, TOPICS, tmp_path / "run")
    change(tmp_path / "P" / "b", [Doc("n1", ["quick", "brandnew"])], layout=Layout(vectors="v"))
    with pytest.raises(TdvError, match=f"since {tmp_path}/P/b was pruned"):
        tdv.search_index(pruned, TOPICS, tmp_path / "run", overwrite=True)
    assert "P/b" in tdv.inspect_index(pruned)["why_not"]
    report = tdv.update_index(pruned)
    assert (report["segments_foreign"], report["segments_added"]) == (1, 0)
    assert tdv.verify_pruned(shards, pruned)["equal"]


def _with(shards: tdv.Source, part: Part, in_place: int = 0) -> tdv.Source:
    """The shards and one more, in place of the last where one goes."""
    return dataclasses.replace(shards, parts=(*shards.parts[: 4 - in_place], part))


def test_what_cannot_be_done_with_shards_is_refused_and_nothing_written(
    base, shards, find, values, tmp_path, monkeypatch
) -> None:
    write_index(tmp_path / "twice", [[Doc("d9", ["once", "more"])]], LAYOUT)
    write_index(tmp_path / "other", [[Doc("x", ["t1"])]], Layout(options="DOCS_AND_FREQS"))
    tdv.prune_index(shards, values, tmp_path / "P", reduction=0.3)
    (tmp_path / "b").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes").write_text("a user's")
    shutil.copytree(tmp_path / "full", tmp_path / "taken" / "d")
    files = write_judged(tmp_path, TOPICS, {"q1": "d0"})
    far = find(base / "S", "abcd")
    nobodys = _with(far, Part(far.parts[3].folder, "far"), in_place=1)
    elsewhere = _with(find(tmp_path / "P", "abcd"), Part(f"{tmp_path}/P/d", "x"), in_place=1)
    out, there = tmp_path / "OUT", "lie where only workers with the resources x, y see them"

    def prune(index, to=out, **options):
        return lambda: tdv.prune_index(index, values, to, **{"reduction": 0.3, **options})

    def search(index, **options):
        return lambda: tdv.search_index(index, TOPICS, out, **options)

    def also(name: str):
        return _with(shards, Part(str(tmp_path / name)))

    before = sorted(tmp_path.iterdir())
    for task, message in (
        (prune(shards, reduction=None, max_bytes="1MB"), "max_bytes is for one folder"),
        (prune(also("b")), "two shards are named 'b'"),
        (prune(also("twice")), "the document 'd9' is in the shards .*S/d and .*twice: leave one"),
        (prune(also("none")), "no such index: .*none is not a folder"),
        (prune(shards, tmp_path / "full"), "full holds 'notes', and that is none of these shards"),
        (prune(far, tmp_path / "full"), "full holds 'notes', and that is none of these shards"),
        (prune(far, tmp_path / "taken"), "taken/d exists"),
        (prune(far, tmp_path / "nowhere" / "OUT"), "shard '.=.*/[a-d]': cannot write .*nowhere"),
        (prune(shards, base / "S" / "b" / "OUT"), "OUT overlaps the input .*S/b"),
        (lambda: tdv.verify_pruned(shards, base / "one"), "index and pruned are shards both, or"),
        (lambda: tdv.open_searcher(shards), "Pyserini's searcher opens one folder, not 4 shards"),
        (search(shards, feedback="rm3"), "rm3 is Anserini's, and searches only"),
        (search(shards, field="titel"), "no shard has a field 'titel': name one of theirs"),
        (search(also("other")), "not indexed alike: the field 'contents' has .* DOCS_AND_FREQS,"),
        (search(also("none")), "no such index: .*none is not a folder"),
        (search(find(f"{tmp_path}/P/[a-c]")), "of 4 shards that were pruned together, 3 are here"),
        (lambda: tdv.extract_matrix(far, out), there),
        (lambda: tdv.inspect_index(far), there),
        (lambda: tdv.compare_indexes(far, base / "one", *files, out), there),
        (lambda: tdv.open_searcher(far), there),
        (lambda: tdv.verify_pruned(far, elsewhere),
         "x=.*P/d and its source .*S/d do not have the same resource"),
        (search(nobodys), "no worker has the resource 'far': start one"),
        (prune(nobodys), "no worker has the resource 'far': start one"),
    ):  # fmt: skip
        with pytest.raises(TdvError, match=message):
            task()
        assert sorted(tmp_path.iterdir()) == before, message
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["d"]
    monkeypatch.setattr(clusters, "PRESENCE_SECONDS", 0.1)
    monkeypatch.setattr(clusters, "WORKERS_SECONDS", 0.5)
    with open_workers(far) as started, pytest.raises(TdvError, match="the resource 'gone'"):
        started.each(_own_process, {Part("/S", "gone"): ()}, "", silent)


SHORT = Recipe(max_steps=4, check_every=2, folds=2, reductions=(0, 0.3))
SHARDS = {"a": (0, 1), "b": (1, 150), "e": (150, 150), "c": (150, 190), "d": (190, 400)}
"""The documents of each, the third without; of those of one, ``t999`` is a term."""
MANY = {
    "q1": "t1", "q2": "t2 t1 t1 t9", "none": "zyzzy", "q3": " ".join(f"t{i}" for i in range(1, 40)),
    "q4": "t3 t999 t7",
}  # fmt: skip


def _documents() -> list[Doc]:
    """Of a Zipfian vocabulary, ids out of order; many scores are equal or nearly."""
    rng = np.random.default_rng(5)
    docs = []
    for place, number in enumerate(rng.permutation(400)):
        length = rng.integers(1, 6) if number % 3 == 0 else rng.integers(15, 90)
        tokens = [f"t{term}" for term in np.minimum(rng.zipf(1.3, length), 300)]
        tokens += [f"s{number % 20}"] * 2 + ["t999"] * (place == 0)
        docs.append(Doc(f"d{number}", tokens, deleted=place % 31 == 7))
    return docs


@pytest.fixture(scope="module")
def case(tmp_path_factory, find) -> SimpleNamespace:
    """One index, shards of its documents on two disks, each seen by one of two workers; queries,
    judgements and a log; ``P`` and ``T``, the shards pruned, and in two tiers."""
    folder, docs = tmp_path_factory.mktemp("learned"), _documents()
    write_index(folder / "one", [docs[:130], docs[130:]], POSITIONS)
    for name, (first, end) in SHARDS.items():
        segments = [docs[first:end][:40], docs[first:end][40:]]
        write_index(folder / "S" / name, [part for part in segments if part], POSITIONS)
    lines = [f"q{n}\ts{n} t{n + 1} t{n + 9}\n" for n in range(20)]
    (folder / "topics").write_text("".join(lines))
    judged = [f"q{n} 0 d{d} {int(d % 20 == n)}\n" for n in range(20) for d in range(n, 400, 70)]
    (folder / "qrels").write_text("".join(judged))
    far = find(folder / "S", SHARDS)
    tdv.prune_index(far, None, folder / "P", reduction=0.4)
    tdv.prune_index(far, None, folder / "T", tiers=True, reduction=0.6, depth=30)
    files = folder / "topics", folder / "qrels"
    return SimpleNamespace(one=folder / "one", far=far, folder=folder, files=files)


@pytest.mark.parametrize(
    ("which", "model", "hits"),
    [("S", "bm25", 1000), ("S", "qld", 7), ("S", "tfidf", 1000), ("P", "bm25", 7),
     ("P", "qld", 1000), ("P", "tfidf", 7), ("T", "bm25", 7), ("T", "qld", 1000)],
)  # fmt: skip
def test_the_run_of_workers_is_that_of_one_reader(
    which, model, hits, case, find, tmp_path, monkeypatch
) -> None:
    """Full and pruned, also where the cut-off falls among equal scores, and in several rounds: each
    two of the three together."""
    monkeypatch.setattr("tdv_lucene.searching.search.HITS_AT_ONCE", 2 * 7 * hits)
    asked = {"model": model, "hits": hits}
    here, there = tdv.find_shards(f"{case.folder}/{which}/*"), find(f"{case.folder}/{which}/*")
    _runs_agree(here, there, tmp_path, MANY, **asked)
    sources = [
        json.loads((tmp_path / f"{name}.run.manifest.json").read_text())["source"]
        for name in ("one", "shards")
    ]
    assert sources[0] == sources[1]
    told = [tdv.search_index(index, MANY, tmp_path / "run", overwrite=True, **asked)
            for index in (here, there)]  # fmt: skip
    assert told[0] == told[1]
    if which == "S":
        _runs_agree(case.one, there, tmp_path, MANY, **asked)


def test_shards_ask_their_hot_fields_for_what_one_index_asks(case, find, tmp_path) -> None:
    """Terms that a shard lacks weigh there, too."""
    tdv.prune_index(case.one, None, tmp_path / "T", tiers=True, reduction=0.6, depth=30)
    with Index.open(tmp_path / "T") as one:
        parameters, how = recorded_parameters(one), analysis_of(one, "contents").analysis
        ranks = make_similarity(parameters)
        with open_searched(one, ranks, "contents", analysis=how, threads=2) as search:
            for share, hits in ((0.9, 20), (0.7, 20), (0.5, 20), (0.5, 60)):
                tiers = parameters.tiers._replace(query_terms=share)
                found = search.in_tiers(tiers)(MANY, hits)
                with open_index(find(f"{case.folder}/T/*"), "contents", topics=MANY) as shards:
                    several = shards.find(parameters.in_tiers(tiers), MANY, hits)
                assert several.counts.tolist() == found.counts.tolist()
                np.testing.assert_allclose(several.scores, found.scores, rtol=1e-6)
                every = search.in_tiers(parameters.tiers)(MANY, hits).documents.tolist()
                assert (found.documents.tolist() == every) == (hits > tiers.depth)


def test_a_log_chooses_tiers_where_the_shards_are(case, find, tmp_path) -> None:
    log = tmp_path / "log.tsv"
    log.write_text("".join(f"{n}\ts{n % 20} t{n % 7} t{n + 9}\n" for n in range(40)))
    told = {}
    for name, source in (("one", case.one), ("S", case.far)):
        how = {"reduction": 0.5, "margin": 0.8, "depth": 30, "queries": log}
        told[name] = tdv.prune_index(source, None, tmp_path / name, tiers=True, **how)["tiers"]
    visits, whole, _ = (
        [of_it.pop(name) for of_it in told.values()] for name in ("visits", "visits_whole", "saved")
    )
    assert told["one"] == told["S"] and told["S"]["fidelity"] > 0.3
    assert visits[1] > visits[0] and whole[1] >= whole[0], "each shard finds and ranks its own"

    report = tdv.prune_index(
        case.far, None, tmp_path / "chosen", tiers=True, queries=log, fidelity=0.6
    )
    tiers = report["tiers"]
    assert tiers["fidelity"] >= 0.6 and tiers["queries"] == 40
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    asked = dict(line.split("\t") for line in log.read_text().splitlines())
    both, best = (
        search(find(f"{tmp_path}/chosen/*"), asked, tmp_path / "run", hits=10, tier=tier)
        for tier in ("both", "whole")
    )
    shares = [len({*dict(both[q])} & {*dict(hits)}) / len(hits) for q, hits in best.items()]
    assert tiers["fidelity"] == pytest.approx(np.mean(shares))


def test_what_workers_find_twice_or_not_at_all_is_told(case, find, tmp_path, caplog) -> None:
    tdv.search_index(case.far, {"q": "zyzzy"}, tmp_path / "run")
    (told,) = (line for line in caplog.messages if "no query finds a document" in line)
    assert "in the field 'contents' of 5 shards" in told
    name = _documents()[0].id
    write_index(tmp_path / "twice", [[Doc(name, ["t999"])]], POSITIONS)
    given = [f"{case.folder}/S/*", f"{tmp_path}/twice"]
    _runs_agree(tdv.find_shards(given), find(given), tmp_path, MANY)
    found = tdv.search_index(find(given), MANY, tmp_path / "run", overwrite=True)
    assert found["duplicates"] == 1, "it is listed once"


def _are_equal(one, shards) -> None:
    assert list(shards.vocabulary.terms) == list(one.vocabulary.terms)
    for name in (
        "doc_freq", "total_term_freq", "weights", "priority", "posting_priority", "posting_factors"
    ):  # fmt: skip
        np.testing.assert_array_equal(getattr(shards, name), getattr(one, name), name)
    assert shards.manifest["network"]["received"] > 0
    others = ("index_bytes", "source", "network", "created")  # of several indexes, and later
    facts = [_without({**values.manifest}, others) for values in (shards, one)]
    assert facts[0] == facts[1]


def _without(content, names: tuple[str, ...]):
    if isinstance(content, dict):
        return {k: _without(v, names) for k, v in content.items() if k not in names}
    return [_without(v, names) for v in content] if isinstance(content, list) else content


def test_statistics_and_documents_are_those_of_one_matrix(case) -> None:
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
def _both(case):
    """Yield the matrix of the one index, and that of the shards."""
    with (
        open_index(case.one, "contents") as one,
        open_index(case.far, "contents") as far,
        open_matrix(one, positions=True) as whole,
        open_matrix(far, positions=True) as in_shards,
    ):
        yield whole, in_shards


def test_the_prior_and_what_is_pruned_by_it_are_those_of_one_index(
    case, find, temporary, tmp_path
) -> None:
    for options in ({}, {"model": "qld"}, {"model": "tfidf", "lead": False}):
        one, shards = (prior_values_of_index(each, **options) for each in (case.one, case.far))
        _are_equal(one, shards)
    assert one.vocabulary.find(["t999"])[0] >= 0, "a term of a single shard"
    for name, options in (("log", {"queries": case.files[0]}), ("OUT", {"reduction": 0.3})):
        report = tdv.prune_index(case.one, None, tmp_path / f"{name}-one", **options)
        of_shards = tdv.prune_index(case.far, None, tmp_path / name, **options)
        for fact in (
            "postings", "tokens", "reduction", "requested_reduction", "chosen", "scale", "search",
            "baked",
        ):  # fmt: skip
            assert of_shards[fact] == report[fact], fact
    assert abs(report["reduction"] - 0.3) < 0.01
    network = of_shards["network"]
    assert network is not None and min(network.values()) > 0 and report["network"] is None
    assert tdv.verify_pruned(case.far, find(tmp_path / "OUT", SHARDS))["equal"]
    assert _left_behind(temporary) == []


def _left_behind(temporary: Path) -> list[Path]:
    """Folders in which workers keep what they extracted."""
    return list(temporary.glob("tdv-lucene-" + 16 * "[0-9a-f]"))


def _forget_extracted(matrix: TermDocumentMatrix) -> None:
    """In a worker."""
    for home in _left_behind(Path(tempfile.gettempdir())):
        shutil.rmtree(home / matrix.source["commit"], True)


@pytest.mark.parametrize("pool", [0, 240])
def test_what_is_learned_is_what_one_index_teaches(pool, case, tmp_path) -> None:
    one, shards = (
        tdv.learn_from_index(index, *case.files, tmp_path / name, recipe=SHORT, pool=pool)
        for name, index in (("one", case.one), ("far", case.far))
    )
    _are_equal(one, shards)
    assert bool(one.manifest.get("pool")) == bool(pool)
    log = [tdv.learn_from_index(each, case.files[0], None, tmp_path / f"log{number}", pool=pool)
           for number, each in enumerate((case.one, case.far))]  # fmt: skip
    _are_equal(*log)


@pytest.mark.parametrize("judged", [False, True])
def test_tuned_shards_are_what_a_tuned_index_is(judged, case, temporary, tmp_path) -> None:
    asked = case.files if judged else (None, None)
    one = tdv.tune_index(case.one, *asked, tmp_path / "one")
    shards = tdv.tune_index(case.far, *asked, tmp_path / "OUT")
    for name in ("postings", "tokens", "search", "baked"):
        assert shards[name] == one[name], name
    assert len(shards["shards"]) == len(SHARDS) and _left_behind(temporary) == []


def test_shards_are_followed_by_the_workers_that_see_them(find, tmp_path) -> None:
    docs = _documents()[:80]
    for name, part in (("a", docs[:30]), ("b", docs[30:])):
        write_index(tmp_path / "S" / name, [part], POSITIONS)
    shards, pruned = find(tmp_path / "S", "ab"), find(tmp_path / "P", "ab")
    tdv.prune_index(shards, None, tmp_path / "P", reduction=0.3)
    assert not tdv.update_index(pruned)["updated"]
    shutil.copytree(tmp_path / "P", tmp_path / "here")
    new, gone = [Doc("new", ["t1", "t2", "brandnew"])], [docs[40].id]
    change(tmp_path / "S" / "b", new, gone, layout=POSITIONS)
    report = tdv.update_index(pruned)
    assert report == tdv.update_index(tdv.find_shards(f"{tmp_path}/here/*"))
    assert (report["updated"], report["segments_added"], report["deletions"]) == (True, 1, 1)
    assert tdv.verify_pruned(shards, pruned)["equal"]
    with pytest.raises(TdvError, match="scheduler"):
        tdv.watch_index(pruned)


def _own_process(folder: str) -> int:
    """In a worker."""
    return os.getpid()


def _die_first(folder: str, value: str, mark: str) -> str:
    """In a worker: end it when it is asked first."""
    if not os.path.exists(mark):
        open(mark, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return value


def _die_once(matrix: TermDocumentMatrix, mark: str) -> int:
    """In a worker: end it and lose what it extracted, when it is asked first."""
    if not os.path.exists(mark):
        _forget_extracted(matrix)
        _die_first("", "", mark)
    return matrix.postings


def test_a_worker_that_dies_is_waited_for_and_asked_again(case, find, base, tmp_path) -> None:
    """The one that has the resource; with all that was sent to it, and extracted by it."""
    with _both(case) as (one, in_shards):
        assert sum(in_shards.each(_die_once, mark=str(tmp_path / "died"))) == one.postings
        assert (tmp_path / "died").exists()
    shards = find(tmp_path / "S", "abcdef")
    with open_workers(shards) as started:
        found = started.each(_own_process, dict.fromkeys(shards.parts, ()), "", silent)
        assert found[0] != found[1] and found == [found[0], found[1]] * 3
        sent = started.send("values", shards)
        tasks = {
            part: (sent[part], str(tmp_path / f"{part.name}-died")) for part in shards.parts[:3]
        }
        assert started.each(_die_first, tasks, "", silent) == ["values"] * 3
    assert len(list(tmp_path.iterdir())) == 1 + 3, "each of them died once"


def test_a_worker_that_is_late_to_return_is_not_given_up(base, tmp_path) -> None:
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
