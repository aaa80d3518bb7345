"""Stage 7a: a run and qrels to one value per query and measure.

ir_measures computes them by trec_eval's definitions: the grade is the gain, discounted by
log2(rank + 1), a grade of at least 1 is relevant, and among documents of equal score the higher id
comes first. A judged query that retrieved nothing counts 0, as with ``trec_eval -c``.
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
from .named_measures import measure_run, parse_measure, parse_measures
from .run_arrays import Run
from .topics import Qrels, judged_queries

if TYPE_CHECKING:  # pandas takes half a second to import
    import pandas as pd

_NAMES = {"nDCG@5": "nDCG@5", "nDCG@10": "nDCG@10", "MAP": "AP@1000", "R@1000": "R@1000"}
MEASURES = (*_NAMES,)

_COLUMNS = ["query", "q0", "docid", "rank", "score", "system"]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Per-query values of one run.

    Attributes
    ----------
    queries : Q query ids
        The topics asked that have a relevant document, in topic order.
    values : measure -> float64[Q]
    """

    queries: tuple[str, ...]
    values: dict[str, np.ndarray]

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
    run = run if isinstance(run, Run) else Run.of_frame(run)
    queries = judged_queries(topics, qrels)
    asked = {name: parse_measure(of) for name, of in _NAMES.items()}
    values = measure_run(asked, run, qrels, queries)
    for name, measure in further.items():  # one at a time, so that one which fails is named
        values |= measure_run({name: measure}, run, qrels, queries)
    return Evaluation(tuple(queries), values)


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
