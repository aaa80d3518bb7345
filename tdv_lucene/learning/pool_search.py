"""Searches that find a pool's documents: Lucene's, or without Java those of learning."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from ..analysis import Analysis
from ..arguments import cores
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..progress import Progress, silent
from ..ranking import SearchParameters, ranking_function
from ..simulation.queries import Queries
from ..simulation.retrieval import QueryPostings
from ..simulation.weighted_collection import plain_collection

Search: TypeAlias = Callable[[SearchParameters, int], Mapping[str, Sequence[str]]]
"""Called as ``search(parameters, hits)``; returns query id -> document ids, best first."""

_FEWEST_HITS, _MOST_HITS = 10, 1000


def searched(search: Search, model: str, queries: int, size: int) -> dict[str, list[Sequence[str]]]:
    """Return query id -> what it finds with each setting, deep enough for a pool of ``size``."""
    # Lists have much in common: twice as many as fill it.
    hits = min(max(2 * size // max(1, queries), _FEWEST_HITS), _MOST_HITS)
    rankings: dict[str, list[Sequence[str]]] = {}
    for setting in ranking_function(model).pool_searches:
        for query_id, found in search(SearchParameters().with_values(setting), hits).items():
            rankings.setdefault(query_id, []).append(found)
    return rankings


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
        ) as searched:
            found = searched.find(topics, hits, progress)
        names = [name.decode() for name in found.ids]
        ids = map(names.__getitem__, found.documents.tolist())
        return {
            name: list(itertools.islice(ids, count))
            for name, count in zip(topics, found.counts.tolist())
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
