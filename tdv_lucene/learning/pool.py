"""A sample of documents that represents a collection too large to process whole, and its memory.

In it are all judged documents, the best of what searches find for the training's queries, rank by
rank, and documents drawn at random from the rest, which represent it (see
:class:`..matrix.term_document_matrix.Pool`). Scores, idf and lengths are those of the whole
collection; a document's rank is an estimate: each drawn document above it counts for as many as it
represents.

Memory is the process's own, with Java's. Mapped files, the index and the matrix, come on top where
there is room: the system takes them out again when memory is short.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ..analysis import Analysis
from ..arguments import cores
from ..errors import TdvError
from ..index.sharded import ShardedIndex
from ..matrix.shards import select_documents
from ..matrix.term_document_matrix import Pool, TermDocumentMatrix, row_sums, term_kinds
from ..progress import Progress, silent
from ..ranking import MODELS, SearchParameters, ranking_function
from ..simulation.bytes import draw_lists
from ..simulation.collection import plain_collection
from ..simulation.retrieval import Queries, QueryPostings, numbers_of
from ..values.posting_rule import constants_of, stored_tokens

if TYPE_CHECKING:
    from ..jvm.searcher import Hits

Search: TypeAlias = Callable[[SearchParameters, int], Mapping[str, Sequence[str]]]
"""Called as ``search(parameters, hits)``; returns query id -> document ids, best first."""

POOL = 100_000
"""Documents of a pool by default."""
POOLED_FROM = 300_000
"""Collections of more documents are learned from by a pool, by default."""
LEAST_POOL = 10_000
"""The smallest pool chosen when memory is short."""
_DRAWN = 0.4
"""The least share of a pool that is drawn at random."""
_FEWEST_HITS, _MOST_HITS = 10, 1000


def pool_of(
    matrix: TermDocumentMatrix,
    queries: Queries,
    model: str,
    search: Search | None,
    size: int,
    seed: int,
    progress: Progress = silent,
) -> tuple[TermDocumentMatrix, Queries]:
    """Return the matrix and the queries to learn from: a pool of ``size``, or with 0 all documents.

    All documents are brought here where they are in shards. ``search`` None is
    :func:`search_matrix`.

    Raises :class:`TdvError` when the judged documents leave no room for others.
    """
    if not size:
        if matrix.shards is None:
            return matrix, queries
        every, _ = select_documents(matrix, np.arange(matrix.documents), progress)
        return replace(every, collection=None), queries
    found = set(queries.judged_docs.tolist())
    room = int((1 - _DRAWN) * size)
    if len(found) > room:
        raise TdvError(
            f"pool {size} is too small: {len(found):,} documents are judged, and "
            f"others must be drawn beside them; pass at least {int(len(found) / (1 - _DRAWN)) + 1}"
        )
    rankings = searched(search or search_matrix(matrix, queries, model), model, len(queries), size)
    known = numbers_of(matrix, chain.from_iterable(rankings))
    lists = [[known[doc] for doc in ranking if doc in known] for ranking in rankings]
    for doc in chain.from_iterable(zip_longest(*lists)):  # rank by rank
        if len(found) >= room:
            break
        if doc is not None:  # a list that has ended
            found.add(doc)
    certain = np.array(sorted(found), np.int64)
    others = matrix.documents - len(certain)
    drawn = np.random.default_rng(seed).choice(
        others, min(size - len(found), others), replace=False
    )
    # From numbers among the others to their own: those before each certain one are known.
    drawn += np.searchsorted(certain - np.arange(len(certain)), drawn, side="right")
    documents = np.sort(np.concatenate([certain, drawn]))
    pool = _with_pool(matrix, documents, ~np.isin(documents, certain), progress)
    renumbered = np.searchsorted(documents, queries.judged_docs).astype(np.int32)
    own = np.searchsorted(documents, queries.left_out)
    is_in_pool = np.isin(queries.left_out, documents)
    left_out = np.where(is_in_pool, own, -1).astype(np.int32)
    return pool, replace(queries, judged_docs=renumbered, left_out=left_out)


def searched(search: Search, model: str, queries: int, size: int) -> list[Sequence[str]]:
    """Return the ranking of each query with each setting, deep enough for a pool of ``size``."""
    # Lists have much in common: twice as many as fill it.
    hits = min(max(2 * size // max(1, queries), _FEWEST_HITS), _MOST_HITS)
    settings = constants_of(model).pool_searches
    found = [search(SearchParameters().with_values(setting), hits) for setting in settings]
    ids = dict.fromkeys(chain.from_iterable(found))  # a search may leave out who found nothing
    return [each[query_id] for query_id in ids for each in found if query_id in each]


def search_lucene(
    index: str | os.PathLike[str],
    topics: Mapping[str, str],
    model: str,
    field: str,
    analysis: Analysis,
    progress: Progress = silent,
) -> Search:
    """Return a search of the index, with all cores."""
    from ..jvm.searcher import make_similarity, open_searched

    def search(parameters: SearchParameters, hits: int) -> dict[str, list[str]]:
        similarity = make_similarity(parameters, model)
        with open_searched(
            index, similarity, field, analysis=analysis, threads=cores(None), progress=progress
        ) as find:
            return _by_query(topics, find(topics, hits, progress))

    return search


def search_shards(
    index: ShardedIndex,
    topics: Mapping[str, str],
    model: str,
    field: str,
    analysis: Analysis,
    progress: Progress = silent,
) -> Search:
    """Return :func:`search_lucene` of an index in shards, by their workers."""
    from ..index.sharded import FarShards, look_at_far_shards

    opened: list[FarShards] = []

    def search(parameters: SearchParameters, hits: int) -> dict[str, list[str]]:
        if not opened:
            opened.append(
                look_at_far_shards(index.workers, index.source, topics, field, analysis, progress)
            )
        own = {name: parameters.values()[name] for name in MODELS[model]}
        found = opened[0].find(SearchParameters(model, **own), topics, hits, progress=progress)
        return _by_query(topics, found)

    return search


def _by_query(topics: Mapping[str, str], found: Hits) -> dict[str, list[str]]:
    names = [name.decode() for name in found.ids]
    ids = map(names.__getitem__, found.documents.tolist())
    return {name: list(islice(ids, count)) for name, count in zip(topics, found.counts.tolist())}


def search_matrix(matrix: TermDocumentMatrix, queries: Queries, model: str) -> Search:
    """Return a search by NumPy alone, with all postings of the query terms in memory."""
    plain = plain_collection(matrix)
    postings = QueryPostings(matrix.with_position_boost(None), queries)

    def search(parameters: SearchParameters, hits: int) -> dict[str, list[str]]:
        impacts = postings.impacts(ranking_function(model).similarity(parameters), plain)
        best = postings.top(impacts, hits)
        return {
            query_id: [matrix.doc_ids[doc].decode() for doc in found[found >= 0].tolist()]
            for query_id, found in zip(queries.ids, best)
        }

    return search


def _with_pool(
    matrix: TermDocumentMatrix, documents: np.ndarray, drawn: np.ndarray, progress: Progress
) -> TermDocumentMatrix:
    """Return the rows of ``documents``, of which ``drawn`` bool[n] represent all others."""
    selected, mean_log_len = select_documents(matrix, documents, progress)
    of_drawn = drawn[selected.indices]
    sizes = np.diff(selected.indptr)
    doc_freq_drawn = row_sums(of_drawn, sizes).astype(np.int64)
    certain = selected.postings - int(doc_freq_drawn.sum())
    pool = Pool(
        drawn=drawn,
        doc_weight=_weight(matrix.documents - int((~drawn).sum()), int(drawn.sum())),
        posting_weight=_weight(matrix.collection_postings - certain, int(doc_freq_drawn.sum())),
        doc_freq_drawn=doc_freq_drawn,
        total_drawn=row_sums(selected.data * of_drawn, sizes).astype(np.int64),
        total=row_sums(selected.data, sizes).astype(np.int64),
        kinds=term_kinds(matrix.doc_freq, matrix.total_term_freq),
        stored_tokens=stored_tokens(matrix),
        mean_log_len=mean_log_len,
        lists=draw_lists(matrix),
    )
    return replace(selected, pool=pool)


def _weight(represented: int, drawn: int) -> float:
    return represented / drawn if drawn else 1.0


_PROCESS, _SEARCHES = 600e6, 250e6
_PER_POSTING, _PER_TERM, _PER_DOCUMENT = 65.0, 500.0, 80.0
"""Bytes. Measured, with a little on top: see scripts/bench/runs/2026-11-22-size."""
_PER_QUERY, _PER_QUERY_TERM, _MOST = 10e3, 4e3, 1.1e9
"""A query's thousand candidates: fewer where they would take more than a gigabyte."""
_LONGER = 1.25
"""Documents of a pool have more postings than others: searches find long ones."""


class Extent(NamedTuple):
    """The size of a field of an index, of the judged topics, and the terms of the longest."""

    terms: int
    documents: int
    postings: int
    queries: int = 0
    longest: int = 0

    @classmethod
    def of(cls, matrix: TermDocumentMatrix) -> Extent:
        """Return the extent of a collection, without topics."""
        return cls(matrix.shape[0], matrix.documents, matrix.collection_postings)

    def with_topics(
        self, topics: Mapping[str, Sequence[str]], qrels: Mapping[str, object]
    ) -> Extent:
        """Return the same with the judged ones of the topics (query id -> index terms)."""
        judged = [len(set(terms)) for query_id, terms in topics.items() if query_id in qrels]
        return self._replace(queries=len(judged), longest=max(judged, default=0))


def learning_bytes(extent: Extent, pool: int) -> int:
    """Return the most bytes that learning takes; ``pool`` 0 is from all documents."""
    held = extent.postings
    if pool:
        held = min(held, round(_LONGER * pool * extent.postings / max(1, extent.documents)))
    candidates = extent.queries * (_PER_QUERY + _PER_QUERY_TERM * extent.longest)
    return round(
        _PROCESS
        + (_SEARCHES if pool else 0)
        + min(candidates, _MOST)
        + _PER_POSTING * held
        + _PER_TERM * extent.terms
        + _PER_DOCUMENT * extent.documents
    )


def fitting_pool(extent: Extent, asked: int | None, memory: int | None) -> int:
    """Return the size of the pool to learn from, 0 for all documents, within ``memory`` bytes.

    ``asked`` 0 is all; None takes a pool of collections of more than ``POOLED_FROM`` documents, or
    if all would take too much memory, and a smaller one than ``POOL`` if that would. ``memory``
    None is no limit.

    Raises :class:`TdvError` when the pool asked for, or the smallest, takes more.
    """
    size = (POOL if extent.documents > POOLED_FROM else 0) if asked is None else asked
    size = 0 if size >= extent.documents else size
    if memory is None or learning_bytes(extent, size) <= memory:
        return size
    largest = _largest_pool(extent, memory)
    if asked is None and largest:
        return min(largest, POOL)
    needed = learning_bytes(extent, size)
    smallest = min(needed, learning_bytes(extent, LEAST_POOL))
    of = f"a pool of {size:,}" if size else f"all {extent.documents:,}"
    remedy = (
        f"pool {largest} fits"
        if largest
        else f"pass at least {_size(smallest)}"
        + (f", for the smallest pool ({LEAST_POOL:,} documents)" if smallest < needed else "")
    )
    raise TdvError(
        f"learning from {of} documents takes about {_size(needed)}, more than "
        f"memory {_size(memory)}: {remedy}"
    )


def within(memory: int | None, progress: Progress) -> Progress:
    """Return ``progress`` that also ends learning when the process takes more than ``memory``.

    Estimates can be exceeded, as by large vectors from a file. An error between two steps names the
    remedy, the system's kill nothing.
    """
    if memory is None:
        return progress

    def checked(label: str, done: int, total: int) -> None:
        taken = _taken()
        if taken > memory:
            raise TdvError(
                f"learning took {_size(taken)} at '{label}', more than "
                f"memory {_size(memory)}, and was ended; nothing was written: "
                "pass a smaller pool, or more memory"
            )
        progress(label, done, total)

    return checked


def _taken() -> int:
    """Return the bytes of the process's own memory; 0 if the system does not report them."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    lines = (line.split() for line in status.splitlines() if line.startswith("RssAnon:"))
    return next((int(kilobytes) * 1024 for _, kilobytes, _ in lines), 0)


def _largest_pool(extent: Extent, memory: int) -> int:
    """Return a round number of documents, 0 where not even the smallest pool fits."""
    room = memory - learning_bytes(extent._replace(postings=0), 1)
    each = _LONGER * _PER_POSTING * extent.postings / max(1, extent.documents)
    found = int(room / max(each, 1e-9)) // 1000 * 1000
    return found if found >= LEAST_POOL else 0


def _size(size: float) -> str:
    """Return a size for --memory, rounded up so that it is enough."""
    return f"{math.ceil(size / 1e6)}MB" if size < 1e9 else f"{math.ceil(size / 1e8) / 10:.1f}GB"
