"""Runs in memory as numbers, and how far two of them agree.

Millions of ids compared as text, or read from a run's lines, take longer than the search.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import TdvError

if TYPE_CHECKING:  # pandas takes half a second to import
    import pandas as pd

    from ..jvm.searcher import Hits

TOP = 10
_COLUMNS = ["query", "q0", "docid", "rank", "score", "system"]

Document = Hashable  # an id, or a number in its place


@dataclass(frozen=True, eq=False)
class Run:
    """A run as numbers."""

    queries: Sequence[str]  # Q ids
    names: Sequence[str]  # document ids; a join of runs may have one several times
    starts: np.ndarray  # int64[Q + 1]: query i has the hits from starts[i] to starts[i + 1]
    documents: np.ndarray  # int32[n]: the position in names of each hit
    scores: np.ndarray  # float64[n], descending within a query

    @classmethod
    def of_frame(cls, frame: pd.DataFrame) -> Run:
        """Convert the columns query, docid and score; equal scores keep the order of the rows."""
        import pandas as pd

        query, queries = pd.factorize(frame["query"], sort=True)
        documents, names = pd.factorize(frame["docid"], sort=True)
        scores = frame["score"].to_numpy(np.float64)
        order = np.lexsort((-scores, query))
        starts = np.r_[0, np.cumsum(np.bincount(query, minlength=len(queries)))]
        documents = documents[order].astype(np.int32)
        return cls(queries.tolist(), names.tolist(), starts, documents, scores[order])

    @classmethod
    def of_hits(cls, queries: Sequence[str], hits: Hits, scores: np.ndarray) -> Run:
        """Convert hits with ``scores`` float64[n] as printed; also holds queries without a hit."""
        names = [name.decode() for name in hits.ids]
        return cls(queries, names, np.r_[0, np.cumsum(hits.counts)], hits.documents, scores)

    def best(self, queries: Sequence[str], depth: int) -> dict[str, list[str]]:
        """Return query -> ids of its best ``depth`` documents, none where it has no answer."""
        found = self.of_queries(queries)
        return {
            query: [found.names[n] for n in found.documents[start : min(start + depth, end)]]
            for query, start, end in zip(queries, found.starts, found.starts[1:])
        }

    def scored(self, queries: Sequence[str]) -> dict[str, dict[str, float]]:
        """Return query -> document id -> score, without queries that have no answer."""
        found = self.of_queries(queries)
        names = [found.names[number] for number in found.documents]
        scores = found.scores.tolist()
        return {
            query: dict(zip(names[start:end], scores[start:end]))
            for query, start, end in zip(queries, found.starts.tolist(), found.starts[1:].tolist())
            if end > start
        }

    def of_queries(self, queries: Sequence[str]) -> Run:
        """Return the hits of these queries, in this order; unknown queries have none."""
        numbers = {query: number for number, query in enumerate(self.queries)}
        rows = np.array([numbers.get(query, -1) for query in queries], np.int64)
        starts, ends = self.starts[rows], self.starts[rows + 1]
        sizes = np.where(rows < 0, 0, ends - starts)
        at = np.r_[0, np.cumsum(sizes)]
        hits = np.repeat(starts - at[:-1], sizes) + np.arange(at[-1])
        return Run(queries, self.names, at, self.documents[hits], self.scores[hits])


def read_run(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read a TREC run: columns query, q0, docid, rank, score (float64), system; ids as strings.

    Raises :class:`TdvError` when there is no such file, a line does not have six columns or a
    number as score, or a document is listed twice for a query; each with file and line.
    """
    import pandas as pd

    path = Path(path)
    if not path.is_file():
        raise TdvError(f"no such run file: {path}")
    try:
        frame = pd.read_csv(
            path, sep=r"\s+", names=[*_COLUMNS, "surplus"], index_col=False, dtype=str,
            na_filter=False, quoting=csv.QUOTE_NONE, skip_blank_lines=False,
        )  # fmt: skip
    except pd.errors.EmptyDataError:
        frame = pd.DataFrame(columns=[*_COLUMNS, "surplus"], dtype=str)
    except (pd.errors.ParserError, UnicodeDecodeError) as error:
        raise TdvError(f"{path} is not a TREC run: {error}") from error
    scores = pd.to_numeric(frame["score"], errors="coerce")
    is_short = (frame["system"] == "") | (frame.pop("surplus") != "")
    for wrong, message in (
        (is_short, "expected 6 columns (qid Q0 docid rank score tag)"),
        (~np.isfinite(scores), "the score is not a finite number"),
        (frame.duplicated(["query", "docid"]), "the document is listed twice for this query"),
    ):
        if wrong.any():
            raise TdvError(f"{path}, line {int(np.argmax(wrong)) + 1}: {message}")
    return frame.assign(score=scores)


def join(runs: Sequence[Run]) -> Run:
    """Join runs of different queries into one, in the order of the runs."""
    before = np.cumsum([0, *(len(run.names) for run in runs)]).tolist()
    sizes = np.concatenate([np.diff(run.starts) for run in runs])
    return Run(
        [query for run in runs for query in run.queries],
        [name for run in runs for name in run.names],
        np.r_[0, np.cumsum(sizes)],
        np.concatenate([run.documents + first for run, first in zip(runs, before)]),
        np.concatenate([run.scores for run in runs]),
    )


def overlap(first: Sequence[Document], second: Sequence[Document], depth: int = TOP) -> float:
    """Return the share of the first ranking's best ``depth`` that is also in the second's.

    Of fewer than ``depth`` documents, the share of those there are. ``first`` must not be empty.
    """
    best = set(first[:depth])
    return len(best & set(second[:depth])) / len(best)
