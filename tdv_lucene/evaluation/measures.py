"""Measures of a run against judgements: one value per query and measure.

ir_measures computes them by trec_eval's definitions: the grade is the gain, discounted by
log2(rank + 1), a grade of at least 1 is relevant, and of documents with equal scores the higher id
comes first. A judged query that retrieved nothing counts 0, as with ``trec_eval -c``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import TdvError
from .runs import Run, read_run
from .topics import Qrels, judged_queries

if TYPE_CHECKING:  # pandas takes half a second to import
    import pandas as pd

_NAMES = {"nDCG@5": "nDCG@5", "nDCG@10": "nDCG@10", "MAP": "AP@1000", "R@1000": "R@1000"}
MEASURES = (*_NAMES,)

JUDGED_DEPTH = 10
CONDENSED = "nDCG(judged_only=True)@10"  # of a ranking without its unjudged documents
_MOST = 0.5  # judged documents, of the best ten

_NAME = re.compile(r"(?:[^\s(]|\([^)]*\))+")  # the space in RBP(rel=1, p=0.9) separates nothing
_TOGETHER = 1000  # queries: ir-measures takes a run as dicts, many times as large as its arrays

_CHANCE_DEPTH = 5
_CHANCE_ERRORS = 2.0  # standard errors above what chance gives on average
_POOR = 0.1  # mean nDCG@5 of real collections too: if chance may reach it, queries are too few


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Values of one run: measure -> float64[Q], for the Q topics with a relevant document, in topic
    order."""

    queries: tuple[str, ...]
    values: dict[str, np.ndarray]

    def means(self) -> dict[str, float]:
        """Return the mean of each measure over all judged queries."""
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

    ``measures`` are further ones by their names in ir-measures, such as ``"RR@10 P@5"``: there an
    unanswered query gets the measure's own default.

    Raises :class:`TdvError` when the run is malformed, topics and qrels share no query, or there is
    no such measure.
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


def parse_measures(measures: str | Sequence[str], known: Sequence[str] = ()) -> dict[str, Any]:
    """Return name -> measure of ir-measures for names in a string or sequence, but ``known``."""
    text = measures if isinstance(measures, str) else " ".join(measures)
    parsed = {str(measure): measure for measure in map(parse_measure, _NAME.findall(text))}
    return {name: measure for name, measure in parsed.items() if name not in known}


def parse_measure(name: str) -> Any:
    """Return the measure that ir-measures calls ``name``.

    Raises :class:`TdvError` when there is none, what computes it is not installed, or it is not a
    mean over queries.
    """
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


def measure_run(
    measures: Mapping[str, Any], run: Run, qrels: Mapping[str, Mapping[str, int]],
    queries: Sequence[str],
) -> dict[str, np.ndarray]:  # fmt: skip
    """Return name -> float64[Q], the values of ``queries``, all of which ``qrels`` must judge.

    A query without an answer gets the measure's default. Raises :class:`TdvError` when a measure
    cannot be computed from these.
    """
    import ir_measures

    names = {measure: name for name, measure in measures.items()}
    found = {name: np.full(len(queries), float(m.DEFAULT)) for name, m in measures.items()}
    row = {query: i for i, query in enumerate(queries)}
    for start in range(0, len(queries), _TOGETHER):
        batch = queries[start : start + _TOGETHER]
        judged, hits = {query: dict(qrels[query]) for query in batch}, run.scored(batch)
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


def judged_share(best: Collection[Any], judged: Collection[Any]) -> float:
    """Return the share of a query's ``best`` documents that are judged; 1 if there are none."""
    return float(np.isin([*best], [*judged]).mean()) if len(best) else 1.0


def condenses(shares: Iterable[float], grades: Iterable[int]) -> bool:
    """Tell whether condensed lists say more: most of what a system returns is unjudged, and of the
    judged documents some are not relevant, so that there is an order to measure."""
    return min(shares) < _MOST and min(grades) <= 0


def ndcg(
    queries: np.ndarray, ranks: np.ndarray, grades: np.ndarray,
    ideal_queries: np.ndarray, ideal_grades: np.ndarray, *, depth: int, number: int,
) -> np.ndarray:  # fmt: skip
    """Return float64[number]: nDCG at ``depth`` of queries 0, 1, ... ``number`` - 1 at once.

    Learning calls it thousands of times. It is trec_eval's ``ndcg_cut``: the ideal ranking has all
    relevant documents of the qrels, whether the index holds them or not. ``queries``, ``ranks``
    (from 1, infinite if not found) and ``grades`` are those of relevant documents that were found;
    ``ideal_queries``, ascending, and ``ideal_grades``, best first, are of all relevant documents.
    """

    def dcg(queries: np.ndarray, ranks: np.ndarray, grades: np.ndarray) -> np.ndarray:
        gains = np.where(ranks <= depth, grades / np.log2(ranks + 1), 0.0)
        sums: np.ndarray = np.bincount(queries, gains, minlength=number)
        return sums

    first = np.searchsorted(ideal_queries, ideal_queries)
    perfect = np.arange(1.0, len(ideal_queries) + 1) - first
    found: np.ndarray = dcg(queries, ranks, grades) / dcg(ideal_queries, perfect, ideal_grades)
    return found


def note_on_chance(
    mean: float, judged: Iterable[Mapping[str, int]], documents: int, index: str, files: str
) -> str:
    """Return a warning when a mean nDCG@5 is no better than chance, else nothing.

    The judgements may then be those of another collection whose documents have ids of the same
    kind (1, 2, 3, ...). ``mean`` is that of the full index with its number of ``documents``,
    ``judged`` has document id -> grade for each query asked, and ``index`` and ``files`` are names
    for the warning.
    """
    graded = [sorted((g for g in grades.values() if g > 0), reverse=True) for grades in judged]
    relevant = [grades for grades in graded if grades]
    if not relevant:
        return ""
    queries = np.arange(len(relevant))
    # In a random order each rank has the mean grade.
    mean_grades = np.array([sum(grades) for grades in relevant]) / documents
    ranks = np.tile(np.arange(1.0, _CHANCE_DEPTH + 1), len(relevant))
    at_random = ndcg(
        np.repeat(queries, _CHANCE_DEPTH), ranks, np.repeat(mean_grades, _CHANCE_DEPTH),
        np.repeat(queries, [len(grades) for grades in relevant]), np.concatenate(relevant),
        depth=_CHANCE_DEPTH, number=len(relevant),
    )  # fmt: skip
    expected = float(at_random.clip(max=1.0).mean())
    # A measure within [0, 1] has at most its mean as variance.
    most = expected + _CHANCE_ERRORS * float(np.sqrt(expected / len(relevant)))
    if not mean <= most < _POOR:
        return ""
    return (
        f"{index} ranks what is judged relevant in {files} no better than chance (mean nDCG@5 "
        f"{mean:.4f}, at random {expected:.4f}): are topics and judgements those of this "
        "collection? Documents of others may have the same ids"
    )
