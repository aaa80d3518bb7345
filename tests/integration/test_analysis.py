"""An index of another analyzer than that of queries is told of, by each command that asks it."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from click.testing import CliRunner
from lucene_indexes import Doc

from tdv_lucene.cli.inspect import command as inspect_command
from tdv_lucene.comparison import serving
from tdv_lucene.comparison.config import CompareConfig
from tdv_lucene.comparison.explain import explain_query
from tdv_lucene.comparison.inputs import read_inputs
from tdv_lucene.comparison.side_by_side import SideBySide
from tdv_lucene.errors import TdvError
from tdv_lucene.indexes.analysis import _COMMON_WORDS, notes_on_analysis
from tdv_lucene.indexes.build import build_index
from tdv_lucene.indexes.inspection import inspect_index
from tdv_lucene.jvm.index import analyze
from tdv_lucene.learning import from_index
from tdv_lucene.searching.search import search_index

pytestmark = pytest.mark.jvm

TOPICS = {f"q{i}": " ".join(_COMMON_WORDS[i::4]) for i in range(4)}


@pytest.fixture
def unstemmed(make_index) -> Path:
    """English words as they are, as -stemmer none indexes them; it stores no text."""
    docs = [Doc(f"d{i}", _COMMON_WORDS[i::5]) for i in range(5)]
    return make_index([docs], "unstemmed", raw=False)


@pytest.fixture
def stemmed(make_index) -> Path:
    """The same by the default analyzer; a few words are missing from it."""
    docs = [Doc(f"d{i}", tokens) for i, tokens in enumerate(analyze([*_COMMON_WORDS])[5:])]
    return make_index([docs], "stemmed", raw=False)


def _search(index: Path, folder: Path) -> None:
    search_index(index, TOPICS, folder / "run")


def _explain(index: Path, folder: Path) -> None:
    explain_query(index, index, "information")


def _serve(index: Path, folder: Path) -> None:
    with SideBySide({"a": index, "b": index}) as session:
        serving._describe(session)


def _write(folder: Path) -> tuple[Path, Path]:
    """Topics and qrels."""
    topics, qrels = folder / "topics.tsv", folder / "qrels"
    topics.write_text("".join(f"{qid}\t{text}\n" for qid, text in TOPICS.items()))
    qrels.write_text("".join(f"{qid} 0 d1 1\n" for qid in TOPICS))
    return topics, qrels


def _learn(index: Path, folder: Path) -> None:
    """Before it begins: learning takes long."""
    topics, qrels = _write(folder)
    with pytest.raises(TdvError, match="stopped"):
        from_index.learn_from_index(index, topics, qrels, folder / "values")


def _compare(index: Path, folder: Path) -> None:
    """Its notes stand in the report."""
    pair = _write(folder)
    compared = read_inputs({"full": index, "other": index}, [pair], None, CompareConfig())
    for note in compared.notes([], "contents"):
        logging.getLogger(__name__).warning("%s", note)


@pytest.mark.parametrize("ask", [_search, _explain, _serve, _learn, _compare])
def test_queries_that_are_analysed_otherwise_are_told(
    ask, unstemmed: Path, stemmed: Path, tmp_path: Path, caplog, monkeypatch
) -> None:
    def stop(*_, **__):
        raise TdvError("stopped")

    monkeypatch.setattr(from_index, "open_matrix", stop)
    ask(stemmed, tmp_path)
    assert not [line for line in caplog.messages if "analyzer" in line]
    (tmp_path / "again").mkdir()
    ask(unstemmed, tmp_path / "again")
    told = [line for line in caplog.messages if "made with another analyzer" in line]
    assert told and "would have 100% by Anserini's -stemmer none" in told[0]


def test_inspect_tells_of_another_analyzer(unstemmed: Path, stemmed: Path) -> None:
    assert inspect_index(stemmed)["notes"] == []
    (note,) = inspect_index(unstemmed)["notes"]
    shown = CliRunner().invoke(inspect_command, ["--index", str(unstemmed)]).output
    assert "note            " in shown and note[:60] in shown


def test_stored_text_tells_an_analyzer_of_another_language(tmp_path: Path) -> None:
    """Where there are no queries, and no English word is in the dictionary."""
    text = (
        "книги книга читали читатели города городов странах страны людей людям языках языки "
        "школы школах учителя учителей дорогам дороги песнями песни реках реки горами горы "
        "ветрами ветры зимой зимы летом лета дождями дожди домами дома садах сады морями моря "
        "рыбами рыбы птицами птицы цветами цветы деревьями деревья камнями камни словами слова"
    )
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "docs.jsonl").write_text(json.dumps({"id": "d", "contents": text}), encoding="utf-8")
    flags = (
        "--collection JsonCollection --generator DefaultLuceneDocumentGenerator --threads 1 "
        f"-storeRaw --input {docs}"
    ).split()
    plain, russian = tmp_path / "plain", tmp_path / "russian"
    build_index(str(plain), flags)
    build_index(str(russian), [*flags, "-language", "ru"])
    for queries in ((), [text]):
        assert notes_on_analysis(plain, "contents", queries) == []
        (note,) = notes_on_analysis(russian, "contents", queries)
        assert "by Anserini's -language ru" in note
