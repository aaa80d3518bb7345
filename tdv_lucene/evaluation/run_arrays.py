"""Runs in memory as numbers, for documents and scores by the million.

Ids compared as text take longer than the search that found them, and so does reading a run's lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # pandas takes half a second to import
    import pandas as pd

    from ..jvm.hits import Hits


@dataclass(frozen=True, eq=False)
class Run:
    """A run as numbers.

    Attributes
    ----------
    queries : Q query ids
    names : D document ids
        In order, each once: so the numbers of documents are ordered as their ids are. Runs that are
        compared have the same.
    starts : int64[Q + 1]
        The hits of query i are those from ``starts[i]`` to ``starts[i + 1]``.
    documents : int32[n]
        Of each hit, its place in ``names``.
    scores : float64[n]
        Descending within a query.
    """

    queries: Sequence[str]
    names: Sequence[str]
    starts: np.ndarray
    documents: np.ndarray
    scores: np.ndarray

    @classmethod
    def of_frame(cls, frame: pd.DataFrame) -> Run:
        """A run that :func:`.evaluate.read_run` read; equal scores stay in the order of its rows.

        ``frame`` needs the columns query, docid and score.
        """
        queries, query = _coded(frame["query"])
        names, documents = _coded(frame["docid"])
        scores = frame["score"].to_numpy(np.float64)
        order = np.lexsort((-scores, query))
        starts = np.r_[0, np.cumsum(np.bincount(query, minlength=len(queries)))]
        return cls(queries, names, starts, documents[order].astype(np.int32), scores[order])

    @classmethod
    def of_hits(cls, queries: Sequence[str], hits: Hits, scores: np.ndarray) -> Run:
        """A run that was written of ``hits``; ``scores``, float64[n], are those printed.

        Documents, order and scores are those of the run's file; queries without a hit are there.
        """
        names = [name.decode() for name in hits.ids]
        run = cls(queries, names, np.r_[0, np.cumsum(hits.counts)], hits.documents, scores)
        return share_names([run])[0]

    def best(self, queries: Sequence[str], depth: int) -> dict[str, list[str]]:
        """Query -> the ids of its best ``depth`` documents, none where the run has no answer."""
        found = self.of_queries(queries)
        return {
            query: [found.names[n] for n in found.documents[start : min(start + depth, end)]]
            for query, start, end in zip(queries, found.starts, found.starts[1:])
        }

    def scored(self, queries: Sequence[str]) -> dict[str, dict[str, float]]:
        """Query -> document id -> score; without the queries that the run does not answer."""
        found = self.of_queries(queries)
        names = [found.names[number] for number in found.documents]
        scores = found.scores.tolist()
        return {
            query: dict(zip(names[start:end], scores[start:end]))
            for query, start, end in zip(queries, found.starts.tolist(), found.starts[1:].tolist())
            if end > start
        }

    def of_queries(self, queries: Sequence[str]) -> Run:
        """The hits of these queries, in this order; none of a query that the run does not know."""
        numbers = {query: number for number, query in enumerate(self.queries)}
        rows = np.array([numbers.get(query, -1) for query in queries], np.int64)
        starts, ends = self.starts[rows], self.starts[rows + 1]
        sizes = np.where(rows < 0, 0, ends - starts)
        at = np.r_[0, np.cumsum(sizes)]
        hits = np.repeat(starts - at[:-1], sizes) + np.arange(at[-1])
        return Run(queries, self.names, at, self.documents[hits], self.scores[hits])


def share_names(runs: Sequence[Run]) -> list[Run]:
    """Return the runs with the documents of all of them as ``names``."""
    names = sorted({name for run in runs for name in run.names})
    numbers = {name: number for number, name in enumerate(names)}
    return [
        replace(
            run,
            names=names,
            documents=np.array([numbers[name] for name in run.names], np.int32)[run.documents],
        )
        for run in runs
    ]


def join(runs: Sequence[Run]) -> Run:
    """Return one run of the queries of all, which differ, in the order of the runs."""
    if len(runs) == 1:
        return runs[0]
    runs = share_names(runs)
    sizes = np.concatenate([np.diff(run.starts) for run in runs])
    return Run(
        [query for run in runs for query in run.queries],
        runs[0].names,
        np.r_[0, np.cumsum(sizes)],
        np.concatenate([run.documents for run in runs]),
        np.concatenate([run.scores for run in runs]),
    )


def _coded(column: pd.Series) -> tuple[list[str], np.ndarray]:
    """Return the strings of a column, in order, each once, and int64[n], their places."""
    # By categories: twice as fast on millions of ids as sorting with pandas.factorize.
    categories = column.astype("category").cat.remove_unused_categories().cat
    names = categories.categories.astype(object)
    ordered = names.sort_values()
    places: np.ndarray = ordered.get_indexer(names)[categories.codes].astype(np.int64)
    return ordered.tolist(), places
