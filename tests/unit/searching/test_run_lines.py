"""Scores are printed as Anserini and Java print them; names that no run can hold are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tdv_lucene.errors import TdvError
from tdv_lucene.jvm.searcher import Hits
from tdv_lucene.searching.run_lines import append_run, lower_ties, require_run_names
from tdv_lucene.vocabulary import ByteStrings


def _hits(scores: list[list[float]], names: list[bytes], ties_by_id: bool = False) -> Hits:
    counts = np.array([len(one) for one in scores], np.int64)
    flat = np.array([score for one in scores for score in one], np.float32)
    documents = np.concatenate([np.arange(len(one)) for one in scores]).astype(np.int32)
    return Hits(counts, flat, documents, ByteStrings.of(names), ties_by_id)


@pytest.mark.parametrize(
    ("score", "printed"),
    [
        (1.5, "1.500000"),
        (2**-7, "0.007813"),  # half a millionth is rounded up, as Java does
        (3 * 2**-7, "0.023438"),
        (-(2**-7), "-0.007813"),
        (0.1, "0.100000"),  # of a float, which is a little more
        (2**60, "1152921504606847000.000000"),  # the shortest decimals that stand for it
        (0, "0.000000"),
    ],
)
def test_scores_are_printed_as_java_prints_them(score: float, printed: str, tmp_path: Path) -> None:
    told, read = append_run(_hits([[score]], [b"d"]), {"q": "x"}, tmp_path / "run", "t")
    assert (tmp_path / "run").read_text() == f"q Q0 d 1 {printed} t\n"
    assert told == {"hits": 1, "queries_without_hits": []} and read.tolist() == [float(printed)]


def test_ties_are_lowered_one_after_another() -> None:
    """Against the arithmetic of Anserini's ScoreTiesAdjusterReranker, hit by hit."""
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 40, 30)
    scores = np.concatenate(
        [-np.sort(-rng.integers(0, 60, n) / 17777 - 1).astype(np.float32) for n in counts]
    )
    expected, at = [], 0
    for count in counts:
        lowered: list[np.float32] = []
        tied = 0
        for score in scores[at : at + count].tolist():
            now = np.float32(np.floor(score * 1e4 + 0.5) / 1e4)
            tied = tied + 1 if lowered and lowered[-1] - now <= np.float32(1e-4) else 0
            lowered.append(now - np.float32(1e-6) * np.float32(tied))
        expected += lowered
        at += count
    np.testing.assert_array_equal(lower_ties(scores, counts), expected)


def test_runs_are_gone_on_with_and_say_which_queries_found_nothing(tmp_path: Path) -> None:
    found = _hits([[2, 1], []], [b"a", "ä".encode()])
    for _ in range(2):
        told, _ = append_run(found, {"q": "x", "empty": "y"}, tmp_path / "run", "t")
    lines = "q Q0 a 1 2.000000 t\nq Q0 ä 2 1.000000 t\n"
    assert (tmp_path / "run").read_text(encoding="utf-8") == 2 * lines
    assert told == {"hits": 2, "queries_without_hits": ["empty"]}


@pytest.mark.parametrize("name", ["", "a b", "a\t", "\x85", "a\u00a0", "\u2028b"])
def test_names_that_no_run_can_hold_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(TdvError, match="query id"):
        require_run_names([name], "t")
    with pytest.raises(TdvError, match="tag"):
        require_run_names(["q"], name)
    with pytest.raises(TdvError, match="document id"):
        append_run(_hits([[1]], [name.encode()]), {"q": "x"}, tmp_path / "run", "t")


def test_a_document_is_in_a_ranking_once(tmp_path: Path) -> None:
    with pytest.raises(TdvError, match="'same'"):
        append_run(_hits([[2, 1]], [b"same", b"same"]), {"q": "x"}, tmp_path / "run", "t")
