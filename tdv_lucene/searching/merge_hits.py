"""Hits of several shards become those of the whole, in the order that one search would give."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..jvm.hits import Hits
from ..vocabulary import ByteStrings


def merge_hits(parts: Sequence[Hits], depth: int) -> Hits:
    """Return the best ``depth`` hits of each query.

    Each part holds its own best ``depth``, or all it has, by the same statistics. Equal scores are
    ordered by the bytes of the ids where any part's are, and what is still equal by the order of
    the parts, and within each by its own: as Lucene does.
    """
    queries = np.concatenate([np.repeat(np.arange(len(p.counts)), p.counts) for p in parts])
    scores = np.concatenate([part.scores for part in parts])
    first = np.cumsum([0, *(len(part.ids) for part in parts)]).tolist()
    documents = np.concatenate([p.documents + np.int32(at) for p, at in zip(parts, first)])
    ids = ByteStrings.of(name for part in parts for name in part.ids)
    ties_by_id = any(part.ties_by_id for part in parts)
    order = np.lexsort((-scores, queries))  # stable
    if ties_by_id:
        places = _places_of_tied(order, queries, scores, documents, ids)
        order = np.lexsort((places, -scores, queries))
    found = np.sum([part.counts for part in parts], axis=0)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(found) - found, found)
    kept = order[rank < depth]
    return Hits(np.minimum(found, depth), scores[kept], documents[kept], ids, ties_by_id)


def _places_of_tied(
    order: np.ndarray,
    queries: np.ndarray,
    scores: np.ndarray,
    documents: np.ndarray,
    ids: ByteStrings,
) -> np.ndarray:
    """int64[n]: where each id that decides a tie is among them all in order; of others 0."""
    a, b = order[:-1], order[1:]
    equal = (queries[a] == queries[b]) & (scores[a] == scores[b])
    tied = np.union1d(a[equal], b[equal])
    names = [ids[i] for i in documents[tied].tolist()]
    place = {name: number for number, name in enumerate(sorted(set(names)))}
    places = np.zeros(len(order), np.int64)
    places[tied] = [place[name] for name in names]
    return places
