"""Qrels and indexes by Pyserini's names, with its own functions and without the network."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request

import pytest
from command_line import json_of, write_judged

from tdv_lucene import TdvError, read_qrels
from tdv_lucene.jvm.named import find_index, importing_pyserini

pytestmark = [pytest.mark.jvm, pytest.mark.pyserini]
NAME = "tdv-lucene-test"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Pyserini's cache in a folder of the test's."""
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


def test_a_prebuilt_index_is_fetched_once_and_used(prebuilt, cache, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    found = json_of("inspect", "--index", NAME)
    assert found["documents"] == 10
    assert found["path"].startswith(str(cache / "indexes"))
    prebuilt["urls"] = ["file:///nowhere.tar.gz"]
    assert json_of("inspect", "--index", NAME)["path"] == found["path"]


def test_commands_that_name_several_indexes(prebuilt, monkeypatch, tmp_path, tiny_index):
    monkeypatch.chdir(tmp_path)
    topics, qrels = write_judged(tmp_path, {"1": "fox"}, {"1": "d0"})
    for number, words in enumerate(
        (
            ["--index", NAME, "--pruned", tiny_index],
            ["--index", f"full={NAME}", "--index", f"b={tiny_index}"],
        )
    ):
        report = json_of(
            "compare", *words, "--topics", topics, "--qrels", qrels, "--latency-budget", "0.2",
            "--output", f"out{number}",
        )  # fmt: skip
        assert report["indexes"]["full"]["documents"] == 10


def test_a_folder_of_that_name_wins(prebuilt, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / NAME).mkdir()
    assert find_index(NAME) == NAME
    assert find_index(str(tmp_path / NAME)) == str(tmp_path / NAME)


def test_without_network_the_error_says_so(prebuilt, monkeypatch, tmp_path):
    def refuse(*_, **__):
        raise urllib.error.URLError("Network is unreachable")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(urllib.request, "urlopen", refuse)
    with pytest.raises(TdvError, match=NAME):
        find_index(NAME)


def test_a_damaged_download_is_refused(prebuilt, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    prebuilt["md5"] = "0" * 32
    with pytest.raises(TdvError, match="checksum"):
        find_index(NAME)


def test_unknown_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TdvError, match="did you mean.*msmarco-v1-passage"):
        find_index("msmarco-v1-pasage")
    assert find_index("/nowhere/index") == "/nowhere/index", "a path is told by who opens it"


def test_a_list_that_anserini_cannot_fetch_is_told():
    """Anserini 2 fetches it when Pyserini is imported; here Java fails as without a network."""
    from jnius import autoclass

    with pytest.raises(TdvError, match="list of indexes"):
        with importing_pyserini():
            autoclass("java.net.URI").create("https://no host").toURL()


def test_qrels_by_name(cache, tmp_path, monkeypatch):
    """From Pyserini's cache, as after a first use with the network."""
    monkeypatch.chdir(tmp_path)
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
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path), "PYSERINI_CACHE": str(tmp_path),
             "JAVA_TOOL_OPTIONS": f"-Duser.home={tmp_path}"},
    )  # fmt: skip
    assert "the qrels 'core17' are not stored" in done.stdout, done.stderr
