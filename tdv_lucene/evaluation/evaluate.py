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
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import TdvError
from .further_measures import further_values, parse_measures
from .run_arrays import all_names, codes
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
    coded = _Coded.of(frame, qrels, queries)
    return Evaluation(
        tuple(queries),
        {**_trectools_values(coded), **further_values(further, frame, qrels, queries)},
        _trec_eval_values(coded),
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
    return tuple(queries), _trec_eval_values(_Coded.of(run, qrels, queries))


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


class _Coded(NamedTuple):
    """A run of judged queries and their judgements, with numbers for ids that sort as they do.

    Attributes
    ----------
    run : columns query, docid (int64) and score
    judgements : columns query, q0, docid, rel
    queries : int64[Q]
        The numbers of the queries, in topic order.
    """

    run: pd.DataFrame
    judgements: pd.DataFrame
    queries: np.ndarray

    @classmethod
    def of(cls, run: pd.DataFrame, qrels: Qrels, queries: Sequence[str]) -> _Coded:
        import pandas as pd

        rows = [(query, doc, grade) for query in queries for doc, grade in qrels[query].items()]
        judged = pd.DataFrame(rows, columns=["query", "docid", "rel"])
        names, ids = sorted(queries), all_names(run["docid"], judged["docid"])
        numbers = [
            {"query": codes(one["query"], names), "docid": codes(one["docid"], ids)}
            for one in (run, judged)
        ]
        return cls(
            pd.DataFrame({**numbers[0], "score": run["score"].to_numpy()}),
            pd.DataFrame({**numbers[1], "q0": "0", "rel": judged["rel"].to_numpy()}),
            codes(pd.Series(list(queries), dtype=object), names),
        )


def _trectools_values(coded: _Coded) -> dict[str, np.ndarray]:
    """trectools' own numbers per query, its missing ones filled with 0.

    The run is put in the order in which trectools' reader leaves it. That reader itself is not
    used: it turns ids that look like numbers into numbers, and numbers into text.
    """
    from trectools import TrecEval, TrecQrel, TrecRun

    run = coded.run
    if run.empty:  # trectools cannot group nothing
        return {measure: np.zeros(len(coded.queries)) for measure in MEASURES}
    trec_run, trec_qrels = TrecRun(), TrecQrel()
    order = np.lexsort((run["docid"], -run["score"], run["query"]))
    trec_run.run_data = run.iloc[order].reset_index(drop=True)
    trec_qrels.qrels_data = coded.judgements
    evaluation = TrecEval(trec_run, trec_qrels)
    per_query = {
        "nDCG@5": evaluation.get_ndcg(depth=5, per_query=True),
        "nDCG@10": evaluation.get_ndcg(depth=10, per_query=True),
        "MAP": evaluation.get_map(depth=_DEPTH, per_query=True),
        "R@1000": evaluation.get_recall(depth=_DEPTH, per_query=True),
    }
    return {
        measure: frame.iloc[:, 0].reindex(coded.queries).fillna(0.0).to_numpy(np.float64)
        for measure, frame in per_query.items()
    }


def _trec_eval_values(coded: _Coded) -> dict[str, np.ndarray]:
    """trec_eval's ``ndcg_cut_5``, ``ndcg_cut_10``, ``map`` and ``recall_1000`` per query."""
    import pandas as pd

    place = np.empty(len(coded.queries), np.int64)
    place[coded.queries] = np.arange(len(coded.queries))
    relevant = coded.judgements[coded.judgements["rel"] > 0]
    # trec_eval keeps scores in single precision, which makes ties of its own.
    run = coded.run
    order = np.lexsort((-run["docid"], -run["score"].to_numpy(np.float32), run["query"]))
    ordered = run.iloc[order]
    ordered = ordered.assign(position=ordered.groupby("query").cumcount() + 1)
    found = pd.merge(ordered, relevant[["query", "docid", "rel"]], on=["query", "docid"])
    found = found[found["position"] <= _DEPTH]
    ideal = relevant.sort_values(["query", "rel"], ascending=[True, False])

    def summed(frame: pd.DataFrame, weights: np.ndarray) -> np.ndarray:
        return np.bincount(place[frame["query"]], weights, minlength=len(place))

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
