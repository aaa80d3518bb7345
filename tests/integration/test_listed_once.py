"""Each document is listed once, the query's own or passages as asked: alike in all commands."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from command_line import write_judged
from lucene_indexes import Doc

from tdv_lucene.comparison.compare import compare_indexes
from tdv_lucene.errors import TdvError
from tdv_lucene.learning.from_index import learn_from_index
from tdv_lucene.searching.search import search_index
from tdv_lucene.searching.tune import tune_index

pytestmark = pytest.mark.jvm


def _lines(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines()]


@pytest.mark.slow
def test_an_id_that_comes_twice_costs_its_document_in_all_commands(
    make_index, tmp_path, caplog
) -> None:
    docs = [Doc(f"d{n}", [f"w{n}", "all", *["filler"] * n]) for n in range(6)]
    twice = [Doc(f"d{n}", ["all", *["filler"] * 30]) for n in range(6)]
    index, once = make_index([docs, twice]), make_index([docs], name="once")
    summary = search_index(index, {"q": "all"}, tmp_path / "run")
    assert (summary["hits"], summary["duplicates"]) == (6, 6) and "6 hits" in caplog.text
    assert "duplicates" not in search_index(once, {"q": "all"}, tmp_path / "once.run")
    ranked = [[line[2] for line in _lines(tmp_path / run)] for run in ("run", "once.run")]
    assert ranked[0] == ranked[1]
    topics = {f"q{n}": f"w{n} all" for n in range(6)}
    files = write_judged(tmp_path, topics, {f"q{n}": f"d{n}" for n in range(6)})
    report = compare_indexes(index, index, *files, tmp_path / "report", latency_budget_seconds=0.1)
    assert report["measures"]["nDCG@5"]["pruned"] == 1
    assert sum("36 hits" in note for note in report["notes"]) == 2
    caplog.clear()
    tune_index(index, *files, tmp_path / "tuned", search_as="0.01,0.5")
    assert caplog.text.count("of a better one") == 1


@pytest.mark.slow
def test_queries_that_are_documents_do_not_find_themselves(make_index, tmp_path, caplog) -> None:
    """Pyserini's --remove-query, and the warning of who forgets it, in all commands."""
    words = [[f"w{n}", f"w{n + 1}", "all"] for n in range(24)]
    docs = [Doc(f"d{n}", own * 3) for n, own in enumerate(words)]
    index = make_index([docs])
    topics = {f"d{n}": " ".join(own) for n, own in enumerate(words)}
    relevant = {f"d{n}": f"d{n + 1}" for n in range(23)}
    files = write_judged(tmp_path, topics, relevant)

    def told() -> int:
        count = caplog.text.count("remove_query")
        caplog.clear()
        return count

    for removed in (False, True):
        work = tmp_path / f"{removed}"
        work.mkdir()
        search_index(index, files[0], work / "run", remove_query=removed)
        own = [line for line in _lines(work / "run") if line[0] == line[2]]
        assert (len(own), told()) == ((0, 0) if removed else (24, 1))
        report = compare_indexes(
            index, index, *files, work / "report", latency_budget_seconds=0.1, remove_query=removed
        )
        assert sum("remove_query" in note for note in report["notes"]) == (not removed)
        best = report["measures"]["nDCG@10"]["full"]
        learned = learn_from_index(index, *files, work / "tdv", remove_query=removed)
        assert told() == (not removed)
        measured = learned.points[0]["full"]["nDCG@5"]
        assert (measured > 0.62, best > 0.62) == (removed, removed), "the first place is lost"
        tune_index(index, *files, work / "tuned", search_as="0.01,0.5", remove_query=removed)
        assert told() == (not removed)


@pytest.mark.slow
def test_documents_are_ranked_by_their_best_passages(make_index, tmp_path) -> None:
    """Pyserini's --max-passage; without, the error names it."""
    docs = [Doc(f"d{n}#{p}", [f"w{n}", "all", *["x"] * p]) for n in range(12) for p in range(3)]
    index = make_index([docs])
    topics = {f"q{n}": f"w{n} all" for n in range(6)}
    files = write_judged(tmp_path, topics, {f"q{n}": f"d{n}" for n in range(6)})
    search_index(index, {"q": "w3 all"}, tmp_path / "run", max_passage=True)
    ranked = [line[2] for line in _lines(tmp_path / "run")]
    assert ranked[0] == "d3" and sorted(ranked) == sorted(f"d{n}" for n in range(12))
    commands = {
        "compare": partial(compare_indexes, index, index, latency_budget_seconds=0.1),
        "tune": partial(tune_index, index, search_as="0.01,0.5"),
    }
    for name, command in commands.items():
        with pytest.raises(TdvError, match="max_passage"):
            command(*files, tmp_path / name)
        command(*files, tmp_path / name, max_passage=True)
    report = json.loads((tmp_path / "compare" / "report.json").read_text())
    assert report["measures"]["nDCG@5"]["full"] == 1 and not report["notes"]
    with pytest.raises(TdvError, match="passages"):
        learn_from_index(index, *files, tmp_path / "tdv")
