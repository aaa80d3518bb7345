"""Measures beyond the four reported ones, by their names in ir-measures, which computes them.

trec_eval, inside ir-measures, orders equal scores by document id, the higher one first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import TdvError

if TYPE_CHECKING:
    import pandas as pd

_NAME = re.compile(r"(?:[^\s(]|\([^)]*\))+")  # of RBP(rel=1, p=0.9) the space is a part


def parse_measures(measures: str | Sequence[str], known: Sequence[str] = ()) -> dict[str, Any]:
    """Name -> measure of ir-measures, of one string with spaces between or of several names.

    Raises :class:`TdvError` when a name is not one of ir-measures', what computes it is not
    installed, or it is no mean over queries.

    Parameters
    ----------
    known
        Names of measures that another reports; they are left out.
    """
    text = measures if isinstance(measures, str) else " ".join(measures)
    found = {}
    for name in _NAME.findall(text):
        measure = _parse(name)
        if str(measure) not in known:
            found[str(measure)] = measure
    return found


def further_values(
    measures: Mapping[str, Any],
    run: pd.DataFrame,
    qrels: Mapping[str, Mapping[str, int]],
    queries: Sequence[str],
) -> dict[str, np.ndarray]:
    """Name -> float64[Q], the values of ``queries``; without an answer, the measure's default.

    Raises :class:`TdvError` when a measure cannot be computed from these.

    Parameters
    ----------
    run : columns query, docid, score; answers ``queries`` only
    qrels : holds each of the queries
    """
    import ir_measures

    asked = run.rename(columns={"query": "query_id", "docid": "doc_id"})
    asked = asked.astype({"query_id": str, "doc_id": str})
    judged = {query: dict(qrels[query]) for query in queries}
    row = {query: i for i, query in enumerate(queries)}
    found = {}
    for name, measure in measures.items():
        values = found[name] = np.full(len(queries), float(measure.DEFAULT))
        try:
            for metric in ir_measures.iter_calc([measure], judged, asked):
                values[row[metric.query_id]] = metric.value
        except Exception as error:  # whatever its many providers raise
            raise TdvError(f"measure {name} cannot be computed from this run: {error!r}") from error
        if not np.isfinite(values).all():
            query = queries[int(np.argmin(np.isfinite(values)))]
            raise TdvError(f"measure {name} has no finite value for query '{query}': leave it out")
    return found


def _parse(name: str) -> Any:
    import ir_measures

    try:
        measure = ir_measures.parse_measure(name)
        pipeline: Any = ir_measures.DefaultPipeline
        supported = pipeline.supports(measure)
    except (NameError, ValueError, AssertionError) as error:
        raise TdvError(
            f"no such measure: '{name}' ({error}); names are those of ir-measures, such as "
            "nDCG@20, RR@10, P@5, R@100, AP(rel=2)"
        ) from error
    if not supported:
        raise TdvError(f"measure {name} needs more than is installed: see ir-measures' providers")
    if type(measure.aggregator()).__name__ != "MeanAgg":
        raise TdvError(f"measure {name} is no mean over queries, so it cannot be compared")
    return measure
