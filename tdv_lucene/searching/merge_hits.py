"""Hits of several shards become those of the whole, in the order that one search would give."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..jvm.hits import Hits
from ..vocabulary import ByteStrings


def merge_hits(parts: Sequence[Hits], depth: int, *, ties_by_id: bool) -> Hits:
    """Return the best ``depth`` hits of each query.

    Each part holds its own best ``depth``, or all it has, by the same statistics. Equal scores are
    ordered by the bytes of the ids where ``ties_by_id``, and what is still equal by the order of
    the parts, and within each by its own: as Lucene does.
    """
    queries = np.concatenate([np.repeat(np.arange(len(p.counts)), p.counts) for p in parts])
    scores = np.concatenate([part.scores for part in parts])
    ids = _joined([part.ids for part in parts])
    order = np.lexsort((-scores, queries))  # stable
    if ties_by_id:
        order = np.lexsort((_places_of_tied(order, queries, scores, ids), -scores, queries))
    found = np.sum([part.counts for part in parts], axis=0)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(found) - found, found)
    kept = order[rank < depth]
    return Hits(np.minimum(found, depth), scores[kept], _taken(ids, kept))


def _places_of_tied(
    order: np.ndarray, queries: np.ndarray, scores: np.ndarray, ids: ByteStrings
) -> np.ndarray:
    """int64[n]: where each id that decides a tie is among them all in order; of others 0."""
    a, b = order[:-1], order[1:]
    equal = (queries[a] == queries[b]) & (scores[a] == scores[b])
    tied = np.union1d(a[equal], b[equal])
    names = [ids[i] for i in tied.tolist()]
    place = {name: number for number, name in enumerate(sorted(set(names)))}
    places = np.zeros(len(order), np.int64)
    places[tied] = [place[name] for name in names]
    return places


def _joined(parts: Sequence[ByteStrings]) -> ByteStrings:
    lengths = np.concatenate([np.diff(part.indptr) for part in parts])
    return ByteStrings(np.concatenate([part.data for part in parts]), _indptr(lengths))


def _taken(strings: ByteStrings, which: np.ndarray) -> ByteStrings:
    lengths = np.diff(strings.indptr)[which]
    indptr = _indptr(lengths)
    moved = np.repeat(strings.indptr[which] - indptr[:-1], lengths)
    return ByteStrings(strings.data[np.arange(indptr[-1]) + moved], indptr)


def _indptr(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
