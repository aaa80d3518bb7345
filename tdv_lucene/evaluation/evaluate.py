"""Stage 7a: a run and qrels to one value per query and measure.

Two definitions stand side by side. The first is trectools', which the project reports; the second
is trec_eval's. They differ in one thing: among documents of equal score, trec_eval puts the higher
document id first for every measure, trectools the lower one first for nDCG and the higher one for
the others. Both take the grade as gain, discount by log2(rank + 1), and count a grade of at least
1 as relevant.

trectools leaves out queries without an answer, and then divides by the number of queries that have
one. Here a judged query that retrieved nothing counts 0, as with ``trec_eval -c``.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import TdvError
from .further_measures import further_values, parse_measures
from .topics import Qrels, judged_queries

if TYPE_CHECKING:  # pandas takes half a second to import
    import pandas as pd

MEASURES = ("nDCG@5", "nDCG@10", "MAP", "R@1000")
"""All over the first 1000 documents of a query."""

_DEPTH = 1000
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
    run: str | os.PathLike[str] | pd.DataFrame,
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
    frame = read_run(run) if isinstance(run, (str, os.PathLike)) else run
    queries = judged_queries(topics, qrels)
    frame = frame[frame["query"].isin(queries)]
    judgements = _judgements(qrels, queries)
    return Evaluation(
        tuple(queries),
        {
            **_trectools_values(frame, judgements, queries),
            **further_values(further, frame, qrels, queries),
        },
        _trec_eval_values(frame, judgements, queries),
    )


def trec_eval_values(
    run: pd.DataFrame, topics: Mapping[str, str], qrels: Qrels
) -> tuple[tuple[str, ...], dict[str, np.ndarray]]:
    """Return the judged queries and their values by trec_eval's definition alone.

    As :func:`evaluate_run` without trectools' half, which takes most of its time. ``run`` needs
    the columns query, docid and score.
    """
    queries = judged_queries(topics, qrels)
    run = run[run["query"].isin(queries)]
    return tuple(queries), _trec_eval_values(run, _judgements(qrels, queries), queries)


def read_run(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read a TREC run: columns query, q0, docid, rank, score (float64), system; ids as strings.

    Raises
    ------
    TdvError
        When there is no such file, a line has not six columns or no number as score, or a document
        is listed twice for a query; each with file and line.
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


def _judgements(qrels: Qrels, queries: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    rows = [(q, "0", doc, grade) for q in queries for doc, grade in qrels[q].items()]
    return pd.DataFrame(rows, columns=["query", "q0", "docid", "rel"])


def _trectools_values(
    run: pd.DataFrame, judgements: pd.DataFrame, queries: Sequence[str]
) -> dict[str, np.ndarray]:
    """trectools' own numbers per query, its missing ones filled with 0.

    The run is put in the order in which trectools' reader leaves it. That reader itself is not
    used: it turns ids that look like numbers into numbers.
    """
    from trectools import TrecEval, TrecQrel, TrecRun

    if run.empty:  # trectools cannot group nothing
        return {measure: np.zeros(len(queries)) for measure in MEASURES}
    trec_run, trec_qrels = TrecRun(), TrecQrel()
    trec_run.load_run_from_dataframe(
        run.sort_values(["query", "score", "docid"], ascending=[True, False, True])
    )
    trec_qrels.qrels_data = judgements
    evaluation = TrecEval(trec_run, trec_qrels)
    per_query = {
        "nDCG@5": evaluation.get_ndcg(depth=5, per_query=True),
        "nDCG@10": evaluation.get_ndcg(depth=10, per_query=True),
        "MAP": evaluation.get_map(depth=_DEPTH, per_query=True),
        "R@1000": evaluation.get_recall(depth=_DEPTH, per_query=True),
    }
    return {
        measure: frame.iloc[:, 0].reindex(queries).fillna(0.0).to_numpy(np.float64)
        for measure, frame in per_query.items()
    }


def _trec_eval_values(
    run: pd.DataFrame, judgements: pd.DataFrame, queries: Sequence[str]
) -> dict[str, np.ndarray]:
    """trec_eval's ``ndcg_cut_5``, ``ndcg_cut_10``, ``map`` and ``recall_1000`` per query."""
    import pandas as pd

    number = {query: i for i, query in enumerate(queries)}
    relevant = judgements[judgements["rel"] > 0]
    # trec_eval keeps scores in single precision, which makes ties of its own.
    ordered = run.assign(score=run["score"].to_numpy(np.float32))
    ordered = ordered.sort_values(["query", "score", "docid"], ascending=[True, False, False])
    ordered = ordered.assign(position=ordered.groupby("query").cumcount() + 1)
    found = pd.merge(ordered, relevant[["query", "docid", "rel"]], on=["query", "docid"])
    found = found[found["position"] <= _DEPTH]
    ideal = relevant.sort_values(["query", "rel"], ascending=[True, False])

    def summed(frame: pd.DataFrame, weights: np.ndarray) -> np.ndarray:
        numbers = frame["query"].map(number).to_numpy(np.int64)
        return np.bincount(numbers, weights, minlength=len(queries))

    def dcg(frame: pd.DataFrame, rank: np.ndarray, cutoff: int) -> np.ndarray:
        gain = frame["rel"].to_numpy(np.float64)
        return summed(frame, np.where(rank <= cutoff, gain / np.log2(rank + 1), 0.0))

    rank = found["position"].to_numpy(np.float64)
    ideal_rank = ideal.groupby("query").cumcount().to_numpy(np.float64) + 1
    nth_relevant = found.groupby("query").cumcount().to_numpy(np.float64) + 1
    relevant_count = summed(relevant, np.ones(len(relevant)))
    return {
        "nDCG@5": dcg(found, rank, 5) / dcg(ideal, ideal_rank, 5),
        "nDCG@10": dcg(found, rank, 10) / dcg(ideal, ideal_rank, 10),
        "MAP": summed(found, nth_relevant / rank) / relevant_count,
        "R@1000": summed(found, np.ones(len(found))) / relevant_count,
    }
