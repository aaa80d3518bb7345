"""The best documents of each query, found in an index or a shard."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import Analysis
from ..progress import Progress, silent
from ..ranking.parameters import Tiers
from ..vocabulary import ByteStrings
from ._jobs import JavaObject, ask, java_class, java_index, run_job
from .searcher import make_queries, make_tiers

_ARRAYS = ("counts", "scores", "documents", "text", "ends")


@dataclass(frozen=True, eq=False)
class Hits:
    """The hits of some queries.

    Attributes
    ----------
    counts : int64[Q]
        Hits of each query.
    scores : float32[n]
        Scores of the first query's hits, best first, then of the second's, and so on; as they were
        ranked by, not as runs print them.
    documents : int32[n]
        The place of each hit's document in ``ids``.
    ids : ByteStrings
        The documents' own.
    ties_by_id : bool
        Whether equal scores are ordered by id; runs then print them as Anserini does.
    """

    counts: np.ndarray
    scores: np.ndarray
    documents: np.ndarray
    ids: ByteStrings
    ties_by_id: bool


@dataclass(frozen=True)
class Statistics:
    """Statistics of a field that its scores depend on; the sums of all shards are the whole's.

    Attributes
    ----------
    counts : four int
        Documents, those with the field, its tokens, its postings; deleted documents count.
    terms : dict
        Term -> documents with it, occurrences; absent terms are left out.
    """

    counts: tuple[int, ...]
    terms: dict[str, tuple[int, int]]

    @classmethod
    def sum(cls, parts: Sequence[Statistics]) -> Statistics:
        """Add up those of all shards."""
        terms: dict[str, tuple[int, int]] = {}
        for part in parts:
            for term, (documents, occurrences) in part.terms.items():
                before = terms.get(term, (0, 0))
                terms[term] = before[0] + documents, before[1] + occurrences
        return cls(tuple(map(sum, zip(*(part.counts for part in parts)))), terms)


def shard_statistics(
    index: str | os.PathLike[str], field: str, topics: Mapping[str, str], analysis: Analysis
) -> tuple[Statistics, dict[str, str]]:
    """Statistics of a field and of the topics' terms; and name -> how a field was indexed.

    Raises :class:`TdvError` when the index cannot be read or is damaged, or the field has no
    frequencies.
    """
    queries = make_queries(topics, field, analysis)
    found = ask(java_class("tdvlucene.search.Statistics").ofShard, java_index(index), queries)
    terms = {term: (documents, count) for term, documents, count in found["terms"]}
    return Statistics(tuple(found["counts"]), terms), found["fields"]


@dataclass(frozen=True)
class OpenSearch:
    """A search of an index that is open, by :func:`open_searched`."""

    java: Any
    field: str
    analysis: Analysis
    threads: int
    ties_by_id: bool

    def __call__(self, topics: Mapping[str, str], hits: int, progress: Progress = silent) -> Hits:
        """Return so many of the best documents of each topic, in the order of the topics."""
        with tempfile.TemporaryDirectory(prefix="tdv-lucene-") as folder:
            job = java_class("tdvlucene.search.SearchJob")
            run_job(job(self.java, self._queries(topics), hits, self.threads, folder), progress)
            counts, scores, documents, text, ends = (
                np.load(Path(folder) / f"{name}.npy") for name in _ARRAYS
            )
        found = np.zeros(documents.max(initial=-1) + 1, bool)
        found[documents] = True
        places = np.cumsum(found, dtype=np.int32) - 1
        ids = ByteStrings(text, np.r_[0, ends].astype(np.int64))
        return Hits(counts, scores, places[documents], ids, self.ties_by_id)

    def visits(self, topics: Mapping[str, str], hits: int) -> int:
        """Return at how many postings the searches for all topics stop, without feedback."""
        job = java_class("tdvlucene.search.VisitsJob")
        return json.loads(run_job(job(self.java, self._queries(topics), hits, self.threads)))

    def _queries(self, topics: Mapping[str, str]) -> Any:
        return make_queries(topics, self.field, self.analysis)


@contextmanager
def open_searched(
    index: str | os.PathLike[str],
    similarity: Any,
    field: str,
    *,
    analysis: Analysis,
    threads: int,
    tiers: Tiers | None = None,
    statistics: Mapping[str, Statistics] | None = None,
    feedback: str | None = None,
    progress: Progress = silent,
) -> Iterator[OpenSearch]:
    """Open the last commit of an index, see that it can be searched, and yield its search.

    ``statistics`` are those of the whole that the index is a shard of, with all terms of the
    topics; None for its own. ``feedback`` expands the queries by ``"rm3"`` or ``"rocchio"``: of
    field ``contents`` only.
    """
    given = java_index(index), similarity, make_queries({}, field, analysis)
    with JavaObject("tdvlucene.search.SearchedIndex", *given) as opened:
        java = opened.java
        if tiers is not None:
            java.findIn(make_tiers(tiers))
        for name, of in (statistics or {}).items():
            rows = [[term, *map(str, counts)] for term, counts in of.terms.items()]
            java.useStatistics(name, json.dumps(list(map(str, of.counts))), json.dumps(rows))
        if feedback is not None:
            java.expand(feedback)
        ties_by_id = json.loads(run_job(java, progress))

        yield OpenSearch(java, field, analysis, threads, ties_by_id)
