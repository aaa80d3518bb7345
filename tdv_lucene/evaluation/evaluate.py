"""Stage 7a: a run and qrels to one value per query and measure.

Two definitions stand side by side. The first is trectools', which the project reports; the second
is trec_eval's. They differ in one thing: among documents of equal score, trec_eval puts the higher
document id first for every measure, trectools the lower one first for nDCG and the higher one for
the others. Both take the grade as gain, discount by log2(rank + 1), and count a grade of at least
1 as relevant.

One NumPy formula gives both (see :mod:`.ndcg`); tests hold it to trectools and to trec_eval, ties
included.

trectools leaves out queries without an answer, and then divides by the number of queries that have
one. Here a judged query that retrieved nothing counts 0, as with ``trec_eval -c``.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import TdvError
from .further_measures import further_values, parse_measures
from .ndcg import ndcg
from .run_arrays import Run
from .topics import Qrels, judged_queries

if TYPE_CHECKING:  # pandas takes half a second to import
    import pandas as pd

MEASURES = ("nDCG@5", "nDCG@10", "MAP", "R@1000")
"""All over the first ``DEPTH`` documents of a query."""

DEPTH = 1000

_COLUMNS = ["query", "q0", "docid", "rank", "score", "system"]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Per-query values of one run.

    Attributes
    ----------
    queries : Q query ids
        The topics asked that have a relevant document, in topic order.
    values, trec_eval_values : measure -> float64[Q]
        By trectools' definition, and by trec_eval's. Further measures, by ir-measures, are among
        the first only.
    """

    queries: tuple[str, ...]
    values: dict[str, np.ndarray]
    trec_eval_values: dict[str, np.ndarray]

    def means(self) -> dict[str, float]:
        """Mean of each measure over all judged queries."""
        return {measure: float(values.mean()) for measure, values in self.values.items()}


def evaluate_run(
    run: str | os.PathLike[str] | pd.DataFrame | Run,
    topics: Mapping[str, str],
    qrels: Qrels,
    *,
    measures: str | Sequence[str] = (),
) -> Evaluation:
    """Measure a run of any system over the judged queries.

    Judged queries are the ``topics`` with at least one relevant document in ``qrels``. A query that
    the run does not answer counts as 0. Qrels of other topics are ignored, and so are answers to
    topics without a relevant document.

    Parameters
    ----------
    measures
        More of them, by their names in ir-measures, such as ``"RR@10 P@5"``. There an unanswered
        query gets the measure's own default.

    Raises
    ------
    TdvError
        When the run is malformed, topics and qrels share no query, or there is no such measure.
    """
    further = parse_measures(measures, MEASURES)
    if isinstance(run, (str, os.PathLike)):
        run = read_run(run)
    judged = _Judged.of(run, topics, qrels)
    run, hits = judged.run, judged.hits
    lower_first, higher_first = (_ranks(run, run.scores, higher)[hits] for higher in (False, True))
    values = _values(judged, lower_first, higher_first)
    if further:
        values |= further_values(further, run.frame(), qrels, run.queries)
    # trec_eval keeps scores in single precision, which makes ties of its own.
    ranks = _ranks(run, run.scores.astype(np.float32), higher_id_first=True)[hits]
    return Evaluation(tuple(run.queries), values, _values(judged, ranks, ranks))


def read_run(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read a TREC run: columns query, q0, docid, rank, score (float64), system; ids as strings.

    Raises :class:`TdvError` when there is no such file, a line has not six columns or no number as
    score, or a document is listed twice for a query; each with file and line.
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
    problems = (
        (
            (frame["system"] == "") | (frame.pop("surplus") != ""),
            "expected 6 columns (qid Q0 docid rank score tag)",
        ),
        (~np.isfinite(scores), "the score is not a finite number"),
        (frame.duplicated(["query", "docid"]), "the document is listed twice for this query"),
    )
    for wrong, message in problems:
        if wrong.any():
            raise TdvError(f"{path}, line {int(np.argmax(wrong)) + 1}: {message}")
    return frame.assign(score=scores)


class _Judged(NamedTuple):
    """A run of Q judged queries and their R relevant documents.

    Attributes
    ----------
    run : the hits of the judged queries
    queries : int64[R]
        Of each relevant document the number of its query, ascending.
    grades : float64[R]
        Above zero; within a query the best first.
    hits : int64[H]
        Those of the run that are relevant, ascending.
    relevant : int64[H]
        Which of the R documents each of them is.
    """

    run: Run
    queries: np.ndarray
    grades: np.ndarray
    hits: np.ndarray
    relevant: np.ndarray

    @classmethod
    def of(cls, run: pd.DataFrame | Run, topics: Mapping[str, str], qrels: Qrels) -> _Judged:
        queries = judged_queries(topics, qrels)
        run = (run if isinstance(run, Run) else Run.of_frame(run)).of_queries(queries)
        numbers = {name: number for number, name in enumerate(run.names)}
        rows = [
            (query, numbers.get(doc, -1), grade)
            for query, name in enumerate(queries)
            for doc, grade in sorted(qrels[name].items(), key=lambda item: -item[1])
            if grade > 0
        ]
        of_query, documents, grades = np.array(rows, np.int64).T
        hits, relevant = _find(run, of_query, documents)
        return cls(run, of_query, grades.astype(np.float64), hits, relevant)

    def sums(self, queries: np.ndarray, values: np.ndarray) -> np.ndarray:
        """float64[Q]: the sum over those of each query."""
        found: np.ndarray = np.bincount(queries, values, minlength=len(self.run.queries))
        return found


def _find(run: Run, queries: np.ndarray, documents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the hits that are one of these pairs, and which; a document of -1 is none."""
    wanted = np.zeros(len(run.names) + 1, bool)  # the last is that of -1
    wanted[documents] = True
    hits = np.flatnonzero(wanted[run.documents])  # few are left to be looked up
    query = np.searchsorted(run.starts, hits, side="right") - 1
    pairs = queries * len(wanted) + documents % len(wanted)
    order = np.argsort(pairs)
    places = np.searchsorted(pairs, query * len(wanted) + run.documents[hits], sorter=order)
    which = order[np.minimum(places, len(order) - 1)]
    same = (queries[which] == query) & (documents[which] == run.documents[hits])
    return hits[same], which[same]


def _ranks(run: Run, scores: np.ndarray, higher_id_first: bool) -> np.ndarray:
    """float64[n]: the rank of each hit, from 1; ids order hits of equal score.

    ``scores``, those of the run or rounded ones, descend within a query as they do.
    """
    sizes = np.diff(run.starts)
    ranks: np.ndarray = np.arange(1, len(scores) + 1.0) - np.repeat(run.starts[:-1], sizes)
    first = np.ones(len(scores), bool)  # of those of equal score
    first[1:] = scores[1:] != scores[:-1]
    first[run.starts[:-1][sizes > 0]] = True
    tied = np.flatnonzero(~(first & np.roll(first, -1)))  # others are the first and the last
    ids = run.documents[tied]
    order = np.lexsort((-ids if higher_id_first else ids, np.cumsum(first)[tied]))
    ranks[tied[order]] = ranks[tied]
    return ranks


def _values(judged: _Judged, of_ndcg: np.ndarray, ranks: np.ndarray) -> dict[str, np.ndarray]:
    """The ``MEASURES``, float64[Q] each, from the ranks float64[H] of relevant hits.

    nDCG is of other ranks than the rest where equal scores are ordered otherwise for it.
    """
    relevant = judged.sums(judged.queries, np.ones(len(judged.queries)))
    query = judged.queries[judged.relevant]
    within = ranks <= DEPTH
    by_rank = np.lexsort((ranks, query))
    grouped = query[by_rank]
    nth = np.empty(len(ranks))  # of its query's relevant hits, from 1
    nth[by_rank] = np.arange(1.0, len(ranks) + 1) - np.searchsorted(grouped, grouped)
    found = judged.sums(query, within.astype(np.float64))
    return {
        "nDCG@5": _ndcg(judged, of_ndcg, 5),
        "nDCG@10": _ndcg(judged, of_ndcg, 10),
        "MAP": judged.sums(query, np.where(within, nth / ranks, 0.0)) / relevant,
        "R@1000": found / relevant,
    }


def _ndcg(judged: _Judged, ranks: np.ndarray, depth: int) -> np.ndarray:
    query, grades = judged.queries[judged.relevant], judged.grades[judged.relevant]
    ideal = judged.queries, judged.grades
    return ndcg(query, ranks, grades, *ideal, depth=depth, number=len(judged.run.queries))
