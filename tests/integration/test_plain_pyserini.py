"""Pyserini by itself, after ``eval "$(tdv-lucene env)"``, on an index we pruned; qrels and indexes
by Pyserini's names, with its own functions and without the network."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request

import pytest
from command_line import ROOT, json_of, run_apart, write_judged
from lucene_indexes import Doc
from pruning_inputs import read_user_data

from tdv_lucene import TdvError, prune_index, read_qrels, search_index
from tdv_lucene.jvm import find_java, installation, pyserini_jar
from tdv_lucene.jvm.installation import plain_pyserini
from tdv_lucene.jvm.named import find_index, importing_pyserini

pytestmark = [pytest.mark.jvm, pytest.mark.pyserini, pytest.mark.slow]

SEARCH = """
import json, sys
from pyserini.search.lucene import LuceneSearcher
searcher = LuceneSearcher(sys.argv[1])
hits = searcher.search("quick fox", 1000)
print(json.dumps([[hit.docid, f"{hit.score:.6f}"] for hit in hits]))
"""


READY = 'eval "$("$1" -m tdv_lucene env)"'


def shell(script: str, *arguments: str) -> subprocess.CompletedProcess:
    """In a new shell, where nobody has thought of Pyserini."""
    known = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return subprocess.run(
        ["bash", "-euc", script, "bash", sys.executable, *arguments],
        env={**known, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
    )  # fmt: skip


def test_plain_pyserini_searches_a_pruned_index(make_index, tmp_path):
    """Without any parameter: norms hold those that suit the pruned index."""
    docs = [
        Doc(f"d{i}", ["quick", "fox"] * (1 + i % 3) + [f"t{(i * j) % 31}" for j in range(50)])
        for i in range(40)
    ]
    index = make_index([docs], options="DOCS_AND_FREQS_AND_POSITIONS")
    prune_index(index, None, tmp_path / "pruned", reduction=0.2)
    assert float(read_user_data(tmp_path / "pruned")["tdv.baked.k1"]) > 0.9
    used = search_index(tmp_path / "pruned", {"q": "quick fox"}, tmp_path / "run")
    run = [line.split() for line in (tmp_path / "run").read_text().splitlines()]
    done = shell(f'{READY}; "$1" -c "$2" "$3"', SEARCH, str(tmp_path / "pruned"))
    assert (used["k1"], used["b"]) == (0.9, 0.4)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [[line[2], line[4]] for line in run] != []


def test_a_shell_that_was_prepared_twice_is_as_after_once(tiny_index):
    """So Pyserini searches there too: what it needs is in the environment alone. Ours goes on."""
    inspect = '"$1" -m tdv_lucene inspect --index "$2"'
    done = shell(f"{READY}; env; echo; {READY}; env; echo; {inspect}", str(tiny_index))
    assert done.returncode == 0, done.stderr
    once, twice, shown = done.stdout.split("\n\n", 2)
    assert "JAVA_HOME=" in once and "can be pruned" in shown
    assert sorted(once.split()) == sorted(twice.split())


def test_a_key_is_not_printed(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert "secret" not in str(plain_pyserini())
    monkeypatch.delenv("OPENAI_API_KEY")
    assert plain_pyserini()["OPENAI_API_KEY"] == "unused"


@pytest.mark.parametrize("has_module", [True, False])
def test_the_class_path_is_needed_where_java_lacks_the_module(has_module, monkeypatch):
    monkeypatch.setattr(installation, "has_module", lambda home, name: has_module)
    monkeypatch.setattr(installation, "_refuse_pyserini_2", lambda runtime: None)
    for name in ("CLASSPATH", "ANSERINI_CLASSPATH", "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    found = plain_pyserini()
    assert found["JAVA_HOME"] == str(find_java().home)
    assert ("CLASSPATH" in found) == ("ANSERINI_CLASSPATH" in found) == (not has_module)
    if not has_module:
        assert str(pyserini_jar()) in found["CLASSPATH"].split(os.pathsep)
        monkeypatch.setenv("ANSERINI_CLASSPATH", found["ANSERINI_CLASSPATH"])
        assert pyserini_jar().is_file(), "ours still finds the jar"


NAME = "tdv-lucene-test"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Pyserini's cache in a folder of the test's, which is the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYSERINI_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def prebuilt(tiny_index, tmp_path, cache, monkeypatch):
    """A name in Pyserini's table of indexes, for an archive of the tiny one on this machine."""
    with importing_pyserini():
        import pyserini.util
    archive = tmp_path / f"{NAME}-20261122.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tiny_index, arcname=f"{NAME}-20261122")
    about = {
        "description": "for a test",
        "filename": archive.name,
        "urls": [archive.as_uri()],
        "md5": hashlib.md5(archive.read_bytes()).hexdigest(),
        "size compressed (bytes)": archive.stat().st_size,
    }
    monkeypatch.setitem(pyserini.util.TF_INDEX_INFO, NAME, about)
    return about


def test_a_prebuilt_index_is_fetched_once_and_used(prebuilt, cache):
    found = json_of("inspect", "--index", NAME)
    assert found["documents"] == 10
    assert found["path"].startswith(str(cache / "indexes"))
    prebuilt["urls"] = ["file:///nowhere.tar.gz"]
    assert json_of("inspect", "--index", NAME)["path"] == found["path"]


def test_commands_that_name_several_indexes(prebuilt, tmp_path, tiny_index):
    topics, qrels = write_judged(tmp_path, {"1": "fox"}, {"1": "d0"})
    more = ["--topics", topics, "--qrels", qrels, "--latency-budget", 0.2, "--output", "out"]
    for words in (
        ["--index", NAME, "--pruned", tiny_index],
        ["--index", f"full={NAME}", "--index", f"b={tiny_index}", "--overwrite"],
    ):
        report = json_of("compare", *words, *more)
        assert report["indexes"]["full"]["documents"] == 10


def test_a_folder_of_that_name_wins(prebuilt, tmp_path):
    (tmp_path / NAME).mkdir()
    assert find_index(NAME) == NAME
    assert find_index(str(tmp_path / NAME)) == str(tmp_path / NAME)


def test_without_network_the_error_says_so(prebuilt, monkeypatch):
    def refuse(*_, **__):
        raise urllib.error.URLError("Network is unreachable")

    monkeypatch.setattr(urllib.request, "urlopen", refuse)
    with pytest.raises(TdvError, match=NAME):
        find_index(NAME)


def test_a_damaged_download_is_refused(prebuilt):
    prebuilt["md5"] = "0" * 32
    with pytest.raises(TdvError, match="checksum"):
        find_index(NAME)


def test_unknown_names(cache):
    with pytest.raises(TdvError, match="did you mean.*msmarco-v1-passage"):
        find_index("msmarco-v1-pasage")
    assert find_index("/nowhere/index") == "/nowhere/index", "a path is told by who opens it"


def test_qrels_by_name(cache, tmp_path, monkeypatch):
    """From Pyserini's cache, as after a first use with the network."""
    with importing_pyserini():
        from pyserini.search import _base

    def stored(name):
        if name != "robust04":
            raise FileNotFoundError(f"no qrels file for {name}")
        (tmp_path / "stored.qrels").write_text("301 0 d1 1\n")
        return str(tmp_path / "stored.qrels")

    monkeypatch.setattr(_base, "get_qrels_file", stored)
    assert read_qrels("robust04") == {"301": {"d1": 1}}
    with pytest.raises(TdvError, match="'robust044' .*robust04"):
        read_qrels("robust044")


def test_qrels_that_cannot_be_fetched(tmp_path):
    """By Pyserini's own function, in a process whose Java has nowhere to go."""
    program = """
from tdv_lucene import TdvError, read_qrels, start_jvm
start_jvm()
from jnius import autoclass
for kind in ("http", "https"):
    autoclass("java.lang.System").setProperty(kind + ".proxyHost", "127.0.0.1")
    autoclass("java.lang.System").setProperty(kind + ".proxyPort", "9")
try:
    print(len(read_qrels("core17")))
except TdvError as error:
    print(error)
"""
    home = {"HOME": str(tmp_path), "PYSERINI_CACHE": str(tmp_path)}
    home["JAVA_TOOL_OPTIONS"] = f"-Duser.home={tmp_path}"
    done = run_apart("-c", program, cwd=tmp_path, **home)
    assert "the qrels 'core17' are not stored" in done.stdout, done.stderr
