"""An index is opened once, at one commit, and asked little; that commit stays open."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crash_check import digest
from lucene_indexes import Doc, change, open_writer, say, write_index
from pruning_inputs import values_of
from testing_jar import dump_index
from tiny_collection import tiny_segments

from tdv_lucene import Index, extract_matrix, inspect_index, prune_index, verify_pruned
from tdv_lucene.jvm import _jobs, java_class
from tdv_lucene.searching.search import search_index

pytestmark = pytest.mark.jvm

TOPICS = {"q1": "quick fox", "q2": "index postings"}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What Java is asked, call by call."""
    calls: list[Any] = []
    for name in ("call", "run_job"):
        real = getattr(_jobs, name)

        def counted(*given: Any, real: Any = real) -> Any:
            calls.append(given[0])
            return real(*given)

        for module in [m for path, m in sys.modules.items() if path.startswith("tdv_lucene.")]:
            if getattr(module, name, None) is real:
                monkeypatch.setattr(module, name, counted)
    return calls


@pytest.fixture
def openings() -> Iterator[Any]:
    """``openings()`` counts how often Lucene has looked for the last commit of a folder."""
    told = java_class("java.io.ByteArrayOutputStream")()
    infos = java_class("org.apache.lucene.index.SegmentInfos")
    stream = java_class("java.io.PrintStream")
    infos.setInfoStream(stream(told, True))
    yield lambda: told.toString().count("directory listing gen=")
    infos.setInfoStream(stream(java_class("java.io.OutputStream").nullOutputStream()))


def test_pruning_opens_its_source_once_and_asks_java_four_times(
    tiny_index, tmp_path, asked, openings
) -> None:
    values = values_of(extract_matrix(tiny_index, tmp_path / "matrix"))
    asked.clear()
    before = openings()
    prune_index(tiny_index, values, tmp_path / "pruned", reduction=0.3)
    assert len(asked) <= 4, asked
    assert openings() - before <= 2, "the source, and what was written"
    asked.clear()
    before = openings()
    assert verify_pruned(tiny_index, tmp_path / "pruned")["equal"]
    assert len(asked) <= 6, asked
    assert openings() - before == 2, "each of the two"


def _go_on(index: Path) -> None:
    """Another program replaces all segments, and what the commit says."""
    change(index, [Doc("n1", ["quick", "brandnew"])], ["d0", "d9"])
    change(index, merge=1)
    writer = open_writer(index)
    say(writer, {"said": "anew"})
    writer.commit()
    writer.close()


def test_what_is_read_of_an_open_index_is_of_its_commit(tmp_path: Path) -> None:
    source = write_index(tmp_path / "source", tiny_segments())
    before = dump_index(source)
    with Index.open(source) as index:
        values = values_of(extract_matrix(index, tmp_path / "before"))
        search_index(index, TOPICS, tmp_path / "before.run")
        told = inspect_index(index)
        _go_on(source)
        prune_index(index, values, tmp_path / "pruned", reduction=0)
        extract_matrix(index, tmp_path / "after")
        search_index(index, TOPICS, tmp_path / "after.run")
        assert (tmp_path / "after.run").read_bytes() == (tmp_path / "before.run").read_bytes()
        assert digest(tmp_path / "after", "*.npy") == digest(tmp_path / "before", "*.npy")
        with Index.open(index) as again:
            assert again.user_data == told["user_data"] and again.commit == told["commit"]
        assert inspect_index(index)["fields"] == told["fields"]
        assert verify_pruned(index, tmp_path / "pruned")["equal"]
    assert dump_index(tmp_path / "pruned")["documents"] == before["documents"]
    assert verify_pruned(source, tmp_path / "pruned")["difference"]["what"].startswith(
        "pruned from"
    )
    with Index.open(source) as index:
        assert index.user_data == {"said": "anew"} and index.documents == 9
