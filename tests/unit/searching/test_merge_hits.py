"""Merged hits are those that one ranking of all documents gives, also where scores are equal."""

from __future__ import annotations

import numpy as np
import pytest

from tdv_lucene.index.sharded import merge_hits
from tdv_lucene.jvm.searcher import Hits, Statistics
from tdv_lucene.vocabulary import ByteStrings

Row = tuple[float, bytes]


def _hits(queries: list[list[Row]], ties_by_id: bool = True) -> Hits:
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
