"""Hits: a run lists each document once, those of shards are merged, and scores are printed as
Anserini and Java print them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tdv_lucene.errors import TdvError
from tdv_lucene.index.sharded import merge_hits
from tdv_lucene.jvm.searcher import Hits, Statistics
from tdv_lucene.searching.run_lines import Listing, append_run, lower_ties, require_run_names
from tdv_lucene.vocabulary import ByteStrings

Ranking = list[tuple[str, float]]
Row = tuple[float, bytes]


def _hits(queries: Sequence[Sequence[Row]], ties_by_id: bool = True) -> Hits:
    rows = [row for query in queries for row in query]
    counts = np.array([len(query) for query in queries], np.int64)
    scores = np.array([score for score, _ in rows], np.float32)
    names = sorted({name for _, name in rows})
    documents = np.array([names.index(name) for _, name in rows], np.int32)
    return Hits(counts, scores, documents, ByteStrings.of(names), ties_by_id)


def _rows(hits: Hits) -> list[list[Row]]:
    ends = np.cumsum(hits.counts)
    flat = [(s, hits.ids[d]) for s, d in zip(hits.scores.tolist(), hits.documents)]
    return [flat[end - count : end] for end, count in zip(ends, hits.counts)]


def _listed(ranking: Ranking, topic: str, listing: Listing) -> Ranking:
    best: dict[str, float] = {}
    for name, score in ranking:
        best.setdefault(name.split("#")[0] if listing.max_passage else name, score)
    return [(n, s) for n, s in best.items() if not (listing.remove_query and n == topic)]


@pytest.mark.parametrize("remove_query", [False, True])
@pytest.mark.parametrize("max_passage", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_run_lists_each_document_by_its_best_hit(
    seed: int, remove_query: bool, max_passage: bool
) -> None:
    rng = np.random.default_rng(seed)
    names = [f"é{n}{suffix}" for n in rng.integers(0, 9, 30) for suffix in ("", "#0", "#1#x")]
    at = [rng.permutation(90)[: rng.integers(0, 60)].tolist() for _ in range(12)]
    rankings = [[(names[place], float(-rank)) for rank, place in enumerate(one)] for one in at]
    topics = {f"é{n}": "" for n in range(12)}
    listing = Listing(remove_query, max_passage)
    found = [[(score, name.encode()) for name, score in one] for one in rankings]
    hits = _hits(found, ties_by_id=False)
    of_places = np.array([place for one in at for place in one], np.int32)
    ids = ByteStrings.of(name.encode() for name in names)  # of several documents, some of them
    listed = listing.of(replace(hits, documents=of_places, ids=ids), topics)
    expected = [_listed(one, topic, listing) for one, topic in zip(rankings, topics)]
    assert _rows(listed.hits) == [[(s, n.encode()) for n, s in one] for one in expected]
    distinct = [{name for name, _ in one} for one in rankings]
    twice = sum(len(one) - len(names) for one, names in zip(rankings, distinct))
    assert listed.duplicates == (0 if max_passage else twice)
    all_of_them = [_listed(one, "", Listing(False, max_passage)) for one in rankings]
    own = [topic for topic, one in zip(topics, all_of_them) if one and one[0][0] == topic]
    assert listed.own_first == own


@pytest.mark.parametrize("ties_by_id", [True, False])
@pytest.mark.parametrize("depth", [1, 4, 100])
def test_any_shards_give_the_best_of_the_whole(ties_by_id: bool, depth: int) -> None:
    """Few scores, so that ties are everywhere, also at the cut-off."""
    rng = np.random.default_rng(depth)

    def order(row: Row) -> tuple[float, bytes]:
        return -row[0], row[1] if ties_by_id else b""

    parts, whole = [], [[] for _ in range(6)]
    for shard in range(5):
        found = []
        for query in whole:
            rows = [
                (float(rng.integers(1, 4)), b"%x\x00\xff"[: 2 + i % 3] % rng.integers(1 << 30))
                for i in range(rng.integers(0, 12) if shard != 2 else 0)
            ]
            query += rows
            found.append(sorted(rows, key=order)[:depth])
        parts.append(_hits(found, ties_by_id))
    merged = merge_hits(parts, depth)
    assert _rows(merged) == [sorted(query, key=order)[:depth] for query in whole]
    assert merged.scores.dtype == np.float32 and merged.counts.dtype == np.int64


def test_nothing_found_is_nothing_merged() -> None:
    merged = merge_hits([_hits([[], []]), _hits([[], []])], 10)
    assert _rows(merged) == [[], []] and len(merged.ids) == 0


def test_statistics_of_the_whole_are_sums() -> None:
    a = Statistics((10, 9, 100, 60), {"fox": (2, 3)})
    b = Statistics((5, 0, 0, 0), {})
    c = Statistics((1, 1, 2**40, 7), {"fox": (1, 1), "dog": (1, 4)})
    whole = Statistics.sum([a, b, c])
    assert whole == Statistics((16, 10, 2**40 + 100, 67), {"fox": (3, 4), "dog": (1, 4)})


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
    told, read = append_run(_hits([[(score, b"d")]]), ["q"], tmp_path / "run", "t")
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
    found = _hits([[(2, b"a"), (1, "ä".encode())], []])
    for _ in range(2):
        told, _ = append_run(found, ["q", "empty"], tmp_path / "run", "t")
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
        append_run(_hits([[(1, name.encode())]]), ["q"], tmp_path / "run", "t")
