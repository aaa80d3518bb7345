"""Pyserini by itself, after ``eval "$(tdv-lucene env)"``, on an index we pruned."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lucene_indexes import Doc
from pruning_inputs import read_user_data

from tdv_lucene import prune_index, search_index
from tdv_lucene.jvm import find_java, installation, pyserini_jar
from tdv_lucene.jvm.installation import plain_pyserini

pytestmark = [pytest.mark.jvm, pytest.mark.pyserini, pytest.mark.slow]

SEARCH = """
import json, sys
from pyserini.search.lucene import LuceneSearcher
searcher = LuceneSearcher(sys.argv[1])
hits = searcher.search("quick fox", 1000)
print(json.dumps([[hit.docid, f"{hit.score:.6f}"] for hit in hits]))
"""


READY = 'eval "$("$1" -m tdv_lucene env)"'


def bare_environment() -> dict[str, str]:
    """As of a new shell, where nobody has thought of Pyserini."""
    known = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**known, "PYTHONPATH": str(Path(__file__).parents[2])}


def shell(script: str, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["bash", "-euc", script, "bash", sys.executable, *arguments],
        env=bare_environment(), capture_output=True, text=True,
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


def test_a_shell_that_was_prepared_twice_is_as_after_once():
    """So Pyserini searches there too: what it needs is in the environment alone."""
    done = shell(f"{READY}; env; echo; {READY}; env; echo")
    assert done.returncode == 0, done.stderr
    once, twice = done.stdout.strip().split("\n\n")
    assert "JAVA_HOME=" in once
    assert sorted(once.split()) == sorted(twice.split())


def test_ours_goes_on_in_that_shell(tiny_index):
    done = shell(f'{READY}; "$1" -m tdv_lucene inspect --index "$2"', str(tiny_index))
    assert done.returncode == 0, done.stderr
    assert "can be pruned" in done.stdout


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
