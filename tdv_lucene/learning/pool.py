"""The pool: the documents that learning looks at where a collection is too large to look at all.

In it are all judged documents, the best of what searches find for the training's queries, rank by
rank, and documents drawn at random from the rest, which stand for it (see :mod:`..matrix.pool`).
Scores, idf and lengths are those of the whole collection; a document's rank is an estimate: each
drawn document above it counts for as many as it stands for.
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
from ..errors import TdvError, argument
from ..matrix.blocks import row_sums
from ..matrix.pool import Pool, term_kinds
from ..matrix.selection import select_documents
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..progress import Progress, silent
from ..ranking import SearchParameters, ranking_function
from ..simulation.list_sample import draw_lists
from ..simulation.queries import Queries, find_documents
from ..simulation.retrieval import QueryPostings
from ..simulation.weighted_collection import plain_collection

Search: TypeAlias = Callable[[SearchParameters, int], Mapping[str, Sequence[str]]]
"""Called as ``search(parameters, hits)``; returns query id -> document ids, best first."""

POOL = 100_000
"""Documents of a pool, unless another number is asked for."""
POOLED_FROM = 300_000
"""Collections of more documents are learned from by a pool, unless it is asked for otherwise."""
LEAST_POOL = 10_000
"""The smallest that is chosen where memory is short."""
_DRAWN = 0.4
"""The share of a pool that is drawn at random, at least."""
_FEWEST_HITS, _MOST_HITS = 10, 1000


def pool_size(documents: int, asked: int | None) -> int:
    """Return the number of documents of a pool; 0 where learning looks at all of them.

    ``asked`` None leaves it to the size of the collection, 0 is all.
    """
    size = (POOL if documents > POOLED_FROM else 0) if asked is None else asked
    return 0 if size >= documents else size


def pool_of(
    matrix: TermDocumentMatrix,
    queries: Queries,
    model: str,
    search: Search | None,
    size: int,
    seed: int,
    progress: Progress = silent,
) -> tuple[TermDocumentMatrix, Queries]:
    """Return ``size`` rows of ``matrix``, one pass over its postings, and the queries of them.

    ``search`` finds what the ``queries`` of the whole matrix ask for; None for NumPy.

    Raises :class:`TdvError` when the judged documents leave no room for others.
    """
    found = set(queries.judged_docs.tolist())
    room = int((1 - _DRAWN) * size)
    if len(found) > room:
        raise TdvError(
            f"{argument('pool', size)} is too small: {len(found):,} documents are judged, and "
            f"others must be drawn beside them; pass at least {int(len(found) / (1 - _DRAWN)) + 1}"
        )
    rankings = searched(search or search_matrix(matrix, queries, model), model, len(queries), size)
    known = find_documents(matrix.doc_ids, chain.from_iterable(rankings))
    lists = [[known[doc] for doc in ranking if doc in known] for ranking in rankings]
    for doc in chain.from_iterable(zip_longest(*lists)):  # rank by rank
        if len(found) >= room:
            break
        if doc is not None:  # a list that has ended
            found.add(doc)
    certain = np.zeros(matrix.shape[1], bool)
    certain[list(found)] = True
    others = np.flatnonzero(~certain)
    number = min(size - len(found), len(others))
    drawn = np.random.default_rng(seed).choice(others, number, replace=False)
    documents = np.sort(np.concatenate([np.flatnonzero(certain), drawn]))
    pool = _with_pool(matrix, documents, ~certain[documents], progress)
    renumbered = np.searchsorted(documents, queries.judged_docs).astype(np.int32)
    return pool, replace(queries, judged_docs=renumbered)


def searched(search: Search, model: str, queries: int, size: int) -> list[Sequence[str]]:
    """Return what each query finds with each setting, deep enough for a pool of ``size``."""
    # Lists have much in common: twice as many as fill it.
    hits = min(max(2 * size // max(1, queries), _FEWEST_HITS), _MOST_HITS)
    settings = ranking_function(model).pool_searches
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
    from ..jvm.hits import open_searched
    from ..jvm.searcher import make_similarity

    def search(parameters: SearchParameters, hits: int) -> dict[str, list[str]]:
        similarity = make_similarity(parameters, model)
        with open_searched(
            index, similarity, field, analysis=analysis, threads=cores(None), progress=progress
        ) as find:
            found = find(topics, hits, progress)
        names = [name.decode() for name in found.ids]
        ids = map(names.__getitem__, found.documents.tolist())
        return {
            name: list(islice(ids, count)) for name, count in zip(topics, found.counts.tolist())
        }

    return search


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
    """Return the rows of ``documents``, of which ``drawn`` bool[n] stand for all others."""
    selected, mean_log_len = select_documents(matrix, documents, progress)
    of_drawn = drawn[selected.indices]
    sizes = np.diff(selected.indptr)
    lengths = matrix.stored_lengths()
    doc_freq_drawn = row_sums(of_drawn, sizes).astype(np.int64)
    certain = selected.postings - int(doc_freq_drawn.sum())
    pool = Pool(
        drawn=drawn,
        doc_weight=_weight(matrix.shape[1] - int((~drawn).sum()), int(drawn.sum())),
        posting_weight=_weight(matrix.postings - certain, int(doc_freq_drawn.sum())),
        doc_freq_drawn=doc_freq_drawn,
        total_drawn=row_sums(selected.data * of_drawn, sizes).astype(np.int64),
        total=row_sums(selected.data, sizes).astype(np.int64),
        kinds=term_kinds(matrix.doc_freq, matrix.total_term_freq),
        stored_tokens=int(lengths.sum()),
        mean_log_len=mean_log_len,
        lists=draw_lists(matrix, lengths),
    )
    return replace(selected, pool=pool)


def _weight(stood_for: int, drawn: int) -> float:
    return stood_for / drawn if drawn else 1.0
