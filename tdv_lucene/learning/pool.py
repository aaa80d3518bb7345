"""A sample of documents that represents a collection too large to process whole.

In it are all judged documents, the best of what searches find for the training's queries, rank by
rank, and documents drawn at random from the rest, which represent it (see
:class:`..matrix.term_document_matrix.Pool`). Scores, idf and lengths are those of the whole
collection; a document's rank is an estimate: each drawn document above it counts for as many as it
represents.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, zip_longest
from typing import TypeAlias

import numpy as np

from ..analysis import Analysis
from ..arguments import cores
from ..errors import TdvError
from ..index.sharded import ShardedIndex
from ..matrix.shards import select_documents
from ..matrix.term_document_matrix import Pool, TermDocumentMatrix, row_sums, term_kinds
from ..progress import Progress, silent
from ..ranking import MODELS, SearchParameters, ranking_function
from ..simulation.collection import plain_collection
from ..simulation.retrieval import Queries, QueryPostings, numbers_of
from ..values.posting_rule import constants_of, stored_tokens

Search: TypeAlias = Callable[[Sequence[SearchParameters], int], list[dict[str, list[str]]]]
"""Called as ``search(settings, hits)``; returns for each of the settings query id -> document ids,
best first: of the first setting's best ``hits * len(settings)`` the best ``hits`` by each."""

POOL = 100_000  # documents of a pool by default
POOLED_FROM = 300_000  # collections of more documents are learned from by a pool, by default
_DRAWN = 0.4  # the least share of a pool that is drawn at random
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
    """
    if not size:
        if matrix.shards is None:
            return matrix, queries
        every, _ = select_documents(matrix, np.arange(matrix.documents), progress)
        return replace(every, collection=None), queries
    found = set(queries.judged_docs.tolist())
    room = _room(size)
    if len(found) > room:
        raise TdvError(
            f"pool {size} is too small: {len(found):,} documents are judged, and "
            f"others must be drawn beside them; pass at least {int(len(found) / (1 - _DRAWN)) + 1}"
        )
    rankings = searched(search or search_matrix(matrix, queries, model), model, len(queries), size)
    by_rank = dict.fromkeys(chain.from_iterable(zip_longest(*rankings)))
    by_rank.pop(None, None)  # where a list has ended
    known = numbers_of(matrix, islice(by_rank, room))
    for doc in by_rank:
        if len(found) >= room:
            break
        if doc in known:
            found.add(known[doc])
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


def _room(size: int) -> int:
    """Return how many documents of a pool are judged or found."""
    return int((1 - _DRAWN) * size)


def searched(search: Search, model: str, queries: int, size: int) -> list[list[str]]:
    """Return the ranking of each query with each setting, deep enough for a pool of ``size``."""
    room = _room(size)
    hits, most = (
        min(max(number // max(1, queries), _FEWEST_HITS), _MOST_HITS) for number in (room, 2 * size)
    )
    settings = [SearchParameters().with_values(s) for s in constants_of(model).pool_searches]
    while True:
        found = search(settings, hits)
        ids = dict.fromkeys(chain.from_iterable(found))  # a search may leave out who found nothing
        rankings = [each[query_id] for query_id in ids for each in found if query_id in each]
        if hits == most or len(set(chain.from_iterable(rankings))) >= room:
            return rankings
        hits = min(2 * hits, most)  # lists have much in common


def search_lucene(
    index: str | os.PathLike[str] | ShardedIndex,
    topics: Mapping[str, str],
    model: str,
    field: str,
    analysis: Analysis,
    progress: Progress = silent,
) -> Search:
    """Return a search of the index, with all cores; of shards, by their workers."""
    from ..index.sharded import look_at_shards
    from ..jvm.searcher import make_similarity, open_searched

    opened: list[ShardedIndex] = []

    def search(settings: Sequence[SearchParameters], hits: int) -> list[dict[str, list[str]]]:
        first, *also = (
            SearchParameters(model, **{name: one.values()[name] for name in MODELS[model]})
            for one in settings
        )
        depth = hits * len(settings)
        if isinstance(index, ShardedIndex):
            if not opened:
                opened.append(
                    look_at_shards(index.workers, index.source, field, progress, analysis, topics)
                )
            found = opened[0].find(first, topics, depth, also=also, progress=progress)
        else:
            with open_searched(
                index, make_similarity(first), field, analysis=analysis, threads=cores(None),
                also=map(make_similarity, also), progress=progress,
            ) as find:  # fmt: skip
                found = find(topics, depth, progress)
        names, end = [name.decode() for name in found.ids], 0
        rankings: list[dict[str, list[str]]] = [{} for _ in settings]
        for query_id, count in zip(topics, found.counts.tolist()):
            of_query, end = slice(end, end + count), end + count
            documents = found.documents[of_query]
            scores = [found.scores[of_query]]
            if found.others is not None:
                scores += [*found.others[of_query].T]
            for ranking, by in zip(rankings, scores):
                ranking[query_id] = [names[doc] for doc in documents[_best(by, hits)].tolist()]
        return rankings

    return search


def _best(scores: np.ndarray, hits: int) -> np.ndarray:
    """Return the places of the best ``hits`` scores; equal ones stay in order."""
    return np.argsort(-scores, kind="stable")[:hits]


def search_matrix(matrix: TermDocumentMatrix, queries: Queries, model: str) -> Search:
    """Return a search by NumPy alone, with all postings of the query terms in memory."""
    plain = plain_collection(matrix)
    postings = QueryPostings(matrix.with_position_boost(None), queries)

    def search(settings: Sequence[SearchParameters], hits: int) -> list[dict[str, list[str]]]:
        impacts = [
            postings.impacts(ranking_function(model).similarity(one), plain) for one in settings
        ]
        found = postings.top(impacts[0], hits * len(settings))
        rankings: list[dict[str, list[str]]] = [{} for _ in settings]
        for ranking, by_setting in zip(rankings, impacts):
            for query, scores in postings.scores(by_setting):
                documents = found[query][found[query] >= 0]
                best = documents[_best(scores[documents], hits)]
                ranking[queries.ids[query]] = [matrix.doc_ids[d].decode() for d in best.tolist()]
        return rankings

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
    )
    return replace(selected, pool=pool)


def _weight(represented: int, drawn: int) -> float:
    return represented / drawn if drawn else 1.0


def pool_size(documents: int, asked: int | None) -> int:
    """Return how many of the ``documents`` to learn from, 0 for all.

    ``asked`` 0 is all; None takes ``POOL`` of more than ``POOLED_FROM``.
    """
    size = (POOL if documents > POOLED_FROM else 0) if asked is None else asked
    return 0 if size >= documents else size
