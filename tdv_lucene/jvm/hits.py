"""The best documents of each query as arrays: found in an index or a shard, written as a run."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import Analysis
from ..progress import Progress, silent
from ..vocabulary import ByteStrings
from ._jobs import ask, java_class, java_path, run_job, translate_errors
from .searcher import make_queries


@dataclass(frozen=True, eq=False)
class Hits:
    """What a search found.

    Attributes
    ----------
    counts : int64[Q]
        Hits of each query.
    scores : float32[n]
        Of the first query's hits, best first, then of the second's, and so on; as they were ranked
        by, not as runs print them.
    ids : ByteStrings, n of them
        The documents' own.
    """

    counts: np.ndarray
    scores: np.ndarray
    ids: ByteStrings


@dataclass(frozen=True)
class Statistics:
    """What a field's scores depend on beside the postings; of shards, the sums are the whole's.

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
        """Those of the whole, of which these are all shards'."""
        terms: dict[str, tuple[int, int]] = {}
        for part in parts:
            for term, (documents, occurrences) in part.terms.items():
                before = terms.get(term, (0, 0))
                terms[term] = before[0] + documents, before[1] + occurrences
        return cls(tuple(map(sum, zip(*(part.counts for part in parts)))), terms)


def shard_statistics(
    index: str | os.PathLike[str], field: str, topics: Mapping[str, str], analysis: Analysis
) -> tuple[Statistics, dict[str, Any]]:
    """Statistics of a field and of the topics' terms; and ``fields``, name -> how it was indexed,
    and ``ties_by_id``, whether equal scores are ordered by document id.

    Raises
    ------
    TdvError
        When the index cannot be read or is damaged, or the field has no frequencies.
    """
    queries = make_queries(topics, field, analysis)
    found = ask(java_class("tdvlucene.search.ShardStatistics").of, java_path(index), queries)
    terms = {term: (documents, count) for term, documents, count in found.pop("terms")}
    return Statistics(tuple(found.pop("counts")), terms), found


def find_hits(
    index: str | os.PathLike[str],
    similarity: Any,
    field: str,
    topics: Mapping[str, str],
    *,
    analysis: Analysis,
    hits: int,
    threads: int,
    statistics: Statistics | None = None,
    progress: Progress = silent,
) -> Hits:
    """The best ``hits`` documents of each topic, in the order of the topics.

    ``statistics`` are those of the whole that the index is a shard of, with all terms of the
    topics; None for its own.
    """
    with tempfile.TemporaryDirectory(prefix="tdv-lucene-") as folder:
        job = java_class("tdvlucene.search.HitsJob")(
            java_path(index),
            similarity,
            make_queries(topics, field, analysis),
            hits,
            threads,
            folder,
        )
        if statistics is not None:
            rows = [[term, *map(str, counts)] for term, counts in statistics.terms.items()]
            job.useStatistics(json.dumps(list(map(str, statistics.counts))), json.dumps(rows))
        run_job(job, progress)
        counts, scores, text, ends = (
            np.load(Path(folder) / f"{name}.npy") for name in ("counts", "scores", "text", "ends")
        )
    return Hits(counts, scores, ByteStrings(text, np.r_[0, ends]))


def require_run_names(topics: Mapping[str, str], tag: str) -> None:
    """Raise :class:`TdvError` for a query id or a tag that no run can hold."""
    with translate_errors():
        java_class("tdvlucene.search.MergedRun").requireNames(json.dumps(list(topics)), tag)


def append_run(
    found: Hits, topics: Mapping[str, str], output: Path, *, tag: str, ties_by_id: bool
) -> dict[str, Any]:
    """Append to a TREC run, which is begun where there is none, as a search writes it.

    Returns ``hits`` (int, lines written) and ``queries_without_hits`` (list of query ids).

    Raises
    ------
    TdvError
        When a topic has a document twice, or a document's id is none for a run.
    """
    arrays = {
        "counts": found.counts.astype("<i8"),
        "scores": found.scores.astype("<f4"),
        "text": found.ids.data,
        "ends": found.ids.indptr[1:].astype("<i8"),
    }
    with tempfile.TemporaryDirectory(prefix="tdv-lucene-") as folder:
        for name, array in arrays.items():
            np.save(Path(folder) / f"{name}.npy", array)
        append = java_class("tdvlucene.search.MergedRun").append
        return ask(append, folder, json.dumps(list(topics)), ties_by_id, tag, java_path(output))
