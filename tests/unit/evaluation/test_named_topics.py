"""Topics and qrels by identifiers of ir_datasets, from what it has stored."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from command_line import run_apart

from tdv_lucene.comparison.inputs import QuerySet
from tdv_lucene.errors import TdvError
from tdv_lucene.evaluation.topics import read_qrels, read_topics

NAME = "tdv-lucene-test/tiny"


@pytest.fixture
def ir_datasets(monkeypatch, tmp_path):
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "cache"))
    return pytest.importorskip("ir_datasets")


@pytest.fixture
def registered(ir_datasets, tmp_path):
    """A data set of two files, registered for one test."""
    (tmp_path / "queries.tsv").write_text("1\tnaïve  query\n2\tfox\n", encoding="utf-8")
    (tmp_path / "qrels").write_text("1 0 d1 2\n1 0 d2 0\n2 0 d1 1\n")
    made = ir_datasets.create_dataset(
        queries_tsv=str(tmp_path / "queries.tsv"), qrels_trec=str(tmp_path / "qrels")
    )
    made.metadata = lambda: None
    ir_datasets.registry._registered[NAME] = made
    yield NAME
    del ir_datasets.registry._registered[NAME]


@pytest.mark.parametrize("prefix", ["ir_datasets:", "irds:"])
def test_a_registered_data_set(registered, prefix):
    download = pytest.importorskip("ir_datasets.util").download
    before = download.RequestsDownload.stream
    assert read_topics(prefix + registered) == {"1": "naïve query", "2": "fox"}
    assert read_qrels(prefix + registered) == {"1": {"d1": 2, "d2": 0}, "2": {"d1": 1}}
    read = QuerySet.read(prefix + registered, prefix + registered)
    assert (read.label, len(read.topics)) == ("tiny", 2)
    assert download.RequestsDownload.stream is before, "downloads are possible again"


def test_the_part_of_a_topic_that_is_asked_for(ir_datasets, monkeypatch):
    query = SimpleNamespace(query_id="7", title="the  title", description="what it says")
    made = SimpleNamespace(has_queries=lambda: True, queries_iter=lambda: iter([query]))
    monkeypatch.setattr(ir_datasets, "load", lambda name: made)
    assert read_topics("irds:x") == {"7": "the title"}
    assert read_topics("irds:x", "desc") == {"7": "what it says"}
    query.title = ""
    for part, name in (("narr", "narr"), ("title", "title")):
        with pytest.raises(TdvError, match=f"query '7' has no {name}"):
            read_topics("irds:x", part)


def test_what_a_data_set_has_not(registered, ir_datasets, monkeypatch):
    with pytest.raises(TdvError, match="ir_datasets has no 'no-such'"):
        read_topics("ir_datasets:no-such")
    bare = SimpleNamespace(has_qrels=lambda: False)
    monkeypatch.setattr(ir_datasets, "load", lambda name: bare)
    with pytest.raises(TdvError, match="has no qrels"):
        read_qrels(f"irds:{registered}")


def test_nothing_is_downloaded(tmp_path, ir_datasets):
    """In a process with a cache of its own, and where any connection would be an error."""
    program = """
import socket
from tdv_lucene.errors import TdvError
from tdv_lucene.evaluation.topics import read_qrels, read_topics
def connect(*_): raise SystemExit("a connection was tried")
socket.socket.connect = socket.getaddrinfo = connect
for read in (read_topics, read_qrels):
    try:
        read("irds:vaswani")
    except TdvError as error:
        print(error)
"""
    homes = {"IR_DATASETS_HOME": f"{tmp_path}/empty", "IR_DATASETS_TMP": f"{tmp_path}/tmp"}
    done = run_apart("-c", program, **homes)
    assert done.returncode == 0, done.stderr
    for what in ("queries", "qrels"):
        assert f"the {what} of ir_datasets:vaswani are not stored on this machine" in done.stdout
        assert f"'ir_datasets export vaswani {what}'" in done.stdout


def test_without_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(TdvError, match=r"pip install 'tdv-lucene\[ir-datasets\]'"):
        read_qrels("irds:vaswani")
