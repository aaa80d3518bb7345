"""What latencies say: ratios with intervals, strata of queries, postings visited."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import DEFAULT, Analysis
from ..errors import TdvError, argument
from ..jvm.analysis import analyze
from ..jvm.searcher import count_terms, make_similarity, time_queries
from ..progress import Progress, silent
from ..ranking import SearchParameters

DEPTH = 1000
"""Hits of the runs against which the timed searches are checked, and the deepest search timed."""

_LEAST_ROUNDS = 5
MODES = ("top10", "top1000", "top10_exhaustive", "top1000_exhaustive")
"""What is timed, in the order of ``TimedIndex.Mode``."""

_TOLD = ("warmup_rounds", "warmup_stable", "gc_collections", "gc_ms")
_COUNTED = ("top10", "top1000", "exhaustive")  # LatencyJob.COUNTED


@dataclass(frozen=True)
class LatencyPlan:
    """How latency is measured.

    Attributes
    ----------
    rounds : int, at least 5
        Timed rounds, not counting the warm-up.
    budget_seconds : float
        For checking hits, warming up and timing. If all queries do not fit, fewer are timed. On a
        machine that slows down meanwhile it is exceeded: no round is left out.
    seed : int
        For choosing the queries and their order.

    Raises
    ------
    TdvError
        When a value is out of its range.
    """

    rounds: int = 7
    budget_seconds: float = 60.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.rounds < _LEAST_ROUNDS:
            raise TdvError(
                f"{argument('rounds')} must be at least {_LEAST_ROUNDS}, got {self.rounds}"
            )
        if not 0 < self.budget_seconds < float("inf"):
            raise TdvError(
                f"{argument('latency_budget_seconds')} must be above 0 seconds, and finite, got "
                f"{self.budget_seconds:g}"
            )


@dataclass(frozen=True)
class TimedIndex:
    """An index to be timed, how to search it, and the run (1000 hits) this gave."""

    index: str | os.PathLike[str]
    parameters: SearchParameters
    run: Path


@dataclass(frozen=True, eq=False)
class Latency:
    """Latencies of the same queries on several indexes.

    Attributes
    ----------
    names : I names of indexes
    queries : Q query ids
        In the order timed; a seeded sample where all would have taken too long.
    rounds_ms : float64[R, 4, I, Q], milliseconds
        Every counted measurement; the second axis is top-10 and top-1000 with skipping by block
        maxima, then the same with every posting scored.
    postings_visited : mode -> int64[I, Q]
        Postings at which a search stops, of mode ``top10`` and ``top1000`` (with skipping) and
        ``exhaustive`` (every posting of the query's terms). Counted, apart from the timing.
    setup : dict
        Rounds, seed, how the warm-up went, and garbage collections within the counted rounds.
    """

    names: tuple[str, ...]
    queries: tuple[str, ...]
    rounds_ms: np.ndarray
    postings_visited: Mapping[str, np.ndarray]
    setup: dict[str, Any]

    def per_query_ms(self, mode: str, name: str) -> np.ndarray:
        """Median over the rounds, float64[Q], of mode ``top10``, ``top10_exhaustive``, ..."""
        mode_at, index_at = MODES.index(mode), self.names.index(name)
        medians: np.ndarray = np.median(self.rounds_ms[:, mode_at, index_at], axis=0)
        return medians

    def summary(self, name: str, *, exhaustive: bool = False) -> dict[str, dict[str, float]]:
        """``top10`` and ``top1000``: mean and percentiles over queries, in milliseconds."""
        ending = "_exhaustive" if exhaustive else ""
        return {
            depth: summarise_latency(self.per_query_ms(depth + ending, name))
            for depth in ("top10", "top1000")
        }


def measure_latency(
    indexes: Mapping[str, TimedIndex],
    topics: Mapping[str, str],
    plan: LatencyPlan,
    *,
    field: str = "contents",
    analysis: Analysis = DEFAULT,
    raw: Path,
    progress: Progress = silent,
) -> Latency:
    """Time all topics, or as many as the plan has time for, on all indexes in turn.

    ``raw`` is a file to be created: the measurements as ``.npy``, int64 nanoseconds, flat, in the
    order of :attr:`Latency.rounds_ms`.

    Raises
    ------
    TdvError
        When an index cannot be read.
    RuntimeError
        When a timed search returns other hits than the run.
    """
    found = time_queries(
        [(one.index, make_similarity(one.parameters), one.run) for one in indexes.values()],
        topics,
        field=field,
        analysis=analysis,
        **asdict(plan),
        output=raw,
        progress=progress,
    )
    queries: Sequence[str] = found.pop("queries")
    nanos = np.load(raw).reshape(plan.rounds, len(MODES), len(indexes), len(queries))
    visited = np.array(found["postings_visited"], np.int64).reshape(
        len(_COUNTED), len(indexes), len(queries)
    )
    setup = {
        "queries_timed": len(queries),
        "counted_rounds": plan.rounds,
        **{key: found[key] for key in _TOLD},
        "threads": 1,
        "seed": plan.seed,
        "budget_seconds": plan.budget_seconds,
    }
    return Latency(tuple(indexes), tuple(queries), nanos / 1e6, dict(zip(_COUNTED, visited)), setup)


def summarise_latency(per_query: np.ndarray) -> dict[str, float]:
    """Mean and percentiles over queries, of float64[Q] milliseconds."""
    percentiles = np.percentile(per_query, [50, 95, 99]).tolist()
    return {"mean": float(per_query.mean()), **dict(zip(("p50", "p95", "p99"), percentiles))}


_RESAMPLES = 2000
_LENGTHS = {
    "1 to 2 terms": (1, 2),
    "3 to 4 terms": (3, 4),
    "5 to 8 terms": (5, 8),
    "9 or more terms": (9, np.inf),
}
_DROPPED = {
    "no term dropped": (0.0, 0.0),
    "over 0% to 50% dropped": (np.nextafter(0.0, 1), 0.5),
    "over 50% to 100% dropped": (np.nextafter(0.5, 1), 1.0),
}
_GONE = {
    "0% to 25% gone": (0.0, np.nextafter(0.25, 0)),
    "25% to 50% gone": (0.25, np.nextafter(0.5, 0)),
    "50% to 75% gone": (0.5, np.nextafter(0.75, 0)),
    "75% to 90% gone": (0.75, np.nextafter(0.9, 0)),
    "90% to 100% gone": (0.9, 1.0),
}
"""Stratum -> the least and the most that a query in it has."""


@dataclass(frozen=True)
class QueryTerms:
    """A query's distinct index terms, and each one's document frequency by index."""

    terms: tuple[str, ...]
    doc_freq: Mapping[str, Mapping[str, int]]

    def thinned(self, first: str, name: str) -> dict[str, float]:
        """Term -> the share of its postings in ``first`` that ``name`` lacks; none at 0."""
        before, after = self.doc_freq[first], self.doc_freq[name]
        shares = {t: 1 - after[t] / before[t] for t in self.terms if before[t]}
        return {term: share for term, share in shares.items() if share > 0}

    def terms_gone(self, first: str, name: str) -> float:
        """The share of this query's terms in ``first`` that ``name`` lacks."""
        known = sum(self.doc_freq[first][term] > 0 for term in self.terms)
        dropped = sum(share == 1 for share in self.thinned(first, name).values())
        return dropped / known if known else 0.0

    def postings_gone(self, first: str, name: str) -> float:
        """The share of this query's postings in ``first`` that ``name`` lacks."""
        before, after = (
            sum(self.doc_freq[index][t] for t in self.terms) for index in (first, name)
        )
        return 1 - after / before if before else 0.0


def look_up_terms(
    paths: Mapping[str, Any], topics: Mapping[str, str], field: str, analysis: Analysis
) -> dict[str, QueryTerms]:
    """Query id -> its terms with their document frequencies in every index."""
    tokens = analyze(list(topics.values()), field, analysis)
    distinct = sorted({token for terms in tokens for token in terms})
    counted = {  # once an index, under however many names it is searched
        path: {term: count[0] for term, count in count_terms(path, field, distinct).items()}
        for path in set(paths.values())
    }
    doc_freq = {name: counted[path] for name, path in paths.items()}
    return {
        q: QueryTerms(tuple(dict.fromkeys(terms)), doc_freq) for q, terms in zip(topics, tokens)
    }


def paired_ratio(
    before: np.ndarray, after: np.ndarray, seed: int = 0
) -> dict[str, float | list[float] | None]:
    """``ratio`` of the means of float64[Q] latencies, ``before / after``, and its ``ci95``.

    The interval is a percentile bootstrap that resamples queries, both indexes together; None for
    fewer than two queries.
    """
    from scipy.stats import bootstrap

    found: dict[str, Any] = {"ratio": float(before.mean() / after.mean()), "ci95": None}
    if len(before) > 1:
        interval = bootstrap(
            (before, after),
            lambda b, a, axis: b.mean(axis=axis) / a.mean(axis=axis),
            paired=True,
            vectorized=True,
            n_resamples=_RESAMPLES,
            batch=200,
            method="percentile",
            rng=np.random.default_rng(seed),
        ).confidence_interval
        found["ci95"] = [float(interval.low), float(interval.high)]
    return found


def summarise_speed(
    latency: Latency, queries: Mapping[str, QueryTerms], seed: int = 0
) -> dict[str, Any]:
    """What :class:`Latency` says beyond its percentiles, for the report.

    Returns
    -------
    dict
        ``latency_ratio.NAME.MODE`` (see :func:`paired_ratio`; first index over NAME),
        ``latency_strata``: ``by_length``, ``by_dropped`` (share of the query's terms) and
        ``by_gone`` (share of its postings), lists of ``stratum``, ``index``, ``queries``,
        ``top10`` and ``top1000`` (ratio and ci95), ``postings_per_query.NAME``: means of
        ``top10``, ``top1000`` and ``exhaustive``, the postings at which searches stop.
    """
    return {
        "latency_ratio": {
            name: {mode: _ratio(latency, name, mode, seed) for mode in MODES}
            for name in latency.names[1:]
        },
        "latency_strata": _strata(latency, [queries[qid] for qid in latency.queries], seed),
        "postings_per_query": {
            name: {
                mode: float(counts[i].mean()) for mode, counts in latency.postings_visited.items()
            }
            for i, name in enumerate(latency.names)
        },
    }


def _ratio(
    latency: Latency, name: str, mode: str, seed: int, some: np.ndarray | slice = slice(None)
) -> dict[str, Any]:
    """:func:`paired_ratio` of the first index over ``name``, on ``some`` queries."""
    before, after = (latency.per_query_ms(mode, index)[some] for index in (latency.names[0], name))
    return paired_ratio(before, after, seed)


def _strata(latency: Latency, queries: Sequence[QueryTerms], seed: int) -> dict[str, Any]:
    """Queries of every index but the first by their distinct terms, and by what that index dropped
    of their terms and of their postings.

    One that dropped nothing, as the first index with tuned parameters, has only the first.
    """
    first, *others = latency.names
    found: dict[str, Any] = {"by_length": [], "by_dropped": [], "by_gone": []}

    def split(by: str, bounds: Mapping[str, tuple[float, float]], name: str, values: Any) -> None:
        values = np.array(values)
        for label, (least, most) in bounds.items():
            some = (values >= least) & (values <= most)
            if some.any():
                ratios = {m: _ratio(latency, name, m, seed, some) for m in ("top10", "top1000")}
                row = {"stratum": label, "index": name, "queries": int(some.sum()), **ratios}
                found[by].append(row)

    for name in others:
        split("by_length", _LENGTHS, name, [len(query.terms) for query in queries])
        gone = [query.postings_gone(first, name) for query in queries]
        if any(gone):
            split("by_dropped", _DROPPED, name, [q.terms_gone(first, name) for q in queries])
            split("by_gone", _GONE, name, gone)
    return found
