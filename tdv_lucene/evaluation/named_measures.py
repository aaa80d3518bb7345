"""Measures by their names in ir-measures, which computes them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import TdvError
from .run_arrays import Run

_TOGETHER = 1000  # queries: ir-measures takes a run as dicts, many times as large as its arrays

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
        measure = parse_measure(name)
        if str(measure) not in known:
            found[str(measure)] = measure
    return found


def measure_run(
    measures: Mapping[str, Any],
    run: Run,
    qrels: Mapping[str, Mapping[str, int]],
    queries: Sequence[str],
) -> dict[str, np.ndarray]:
    """Return name -> float64[Q], the values of ``queries``, each of which ``qrels`` must hold.

    A query without an answer has the measure's default. Raises :class:`TdvError` when a measure
    cannot be computed from these.
    """
    import ir_measures

    names = {measure: name for name, measure in measures.items()}
    found = {name: np.full(len(queries), float(m.DEFAULT)) for name, m in measures.items()}
    row = {query: i for i, query in enumerate(queries)}
    for start in range(0, len(queries), _TOGETHER):
        some = queries[start : start + _TOGETHER]
        judged, hits = {query: dict(qrels[query]) for query in some}, run.scored(some)
        try:
            for metric in ir_measures.iter_calc([*names], judged, hits) if hits else ():
                found[names[metric.measure]][row[metric.query_id]] = metric.value
        except Exception as error:  # whatever its many providers raise
            which = ", ".join(measures)
            raise TdvError(f"{which} cannot be computed from this run: {error!r}") from error
    for name, values in found.items():
        if not np.isfinite(values).all():
            query = queries[int(np.argmin(np.isfinite(values)))]
            raise TdvError(f"measure {name} has no finite value for query '{query}': leave it out")
    return found


def parse_measure(name: str) -> Any:
    """Return the measure of one name; raises :class:`TdvError` as :func:`parse_measures`."""
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
