"""Query latency of several indexes, measured inside the JVM, and its summary.

The search itself is timed: one thread, no query cache, warm, without analysing the query and
without fetching documents. See ``tdvlucene.search.LatencyJob``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import DEFAULT, Analysis
from ..errors import TdvError
from ..jvm.analysis import analyze
from ..jvm.searcher import count_terms, make_similarity, time_queries
from ..progress import Progress, silent
from ..ranking import SearchParameters

DEPTH = 1000
"""Hits of the runs against which the timed searches are checked, and the deepest search timed."""

MODES = ("top10", "top1000", "top10_exhaustive", "top1000_exhaustive")
"""Kinds of timed searches, in the order of ``TimedIndex.Mode``: with skipping by block maxima, then
with every posting scored."""

_LEAST_ROUNDS = 5
_TOLD = ("warmup_rounds", "warmup_stable", "gc_collections", "gc_ms")
_COUNTED = ("top10", "top1000", "exhaustive")  # LatencyJob.COUNTED
_RESAMPLES = 2000

# Stratum -> the least and the most that a query in it has: terms, share of its terms that were
# dropped, share of its postings that were dropped.
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


@dataclass(frozen=True)
class LatencyPlan:
    """Plan for measuring latency.

    Attributes
    ----------
    rounds : int, at least 5
        Timed rounds, not counting the warm-up.
    budget_seconds : float
        Time for checking hits, warming up and timing. If all queries do not fit, fewer are timed.
        It is exceeded on a machine that slows down meanwhile: no round is left out.
    seed : int
        Random seed that chooses and orders the queries.
    """

    rounds: int = 7
    budget_seconds: float = 60.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.rounds < _LEAST_ROUNDS:
            raise TdvError(f"rounds must be at least {_LEAST_ROUNDS}, got {self.rounds}")
        if not 0 < self.budget_seconds < float("inf"):
            raise TdvError(
                f"latency_budget_seconds must be above 0 seconds, and finite, got "
                f"{self.budget_seconds:g}"
            )


@dataclass(frozen=True)
class TimedIndex:
    """An index to time, its search parameters, and its run with them (1000 hits)."""

    index: str | os.PathLike[str]
    parameters: SearchParameters
    run: Path


@dataclass(frozen=True, eq=False)
class Latency:
    """Latencies of the same queries on several indexes.

    ``postings_visited``, at which a search stops, are counted apart from the timing: of mode
    ``top10`` and ``top1000`` (with skipping) and ``exhaustive`` (all of the query's terms).
    """

    names: tuple[str, ...]  # of I indexes
    queries: tuple[str, ...]  # Q in the order timed; a seeded sample if all take too long
    rounds_ms: np.ndarray  # float64[R, 4, I, Q]: every counted round, by MODES
    postings_visited: Mapping[str, np.ndarray]  # mode -> int64[I, Q]
    setup: dict[str, Any]  # rounds, seed, how the warm-up went, garbage collections

    def per_query_ms(self, mode: str, name: str) -> np.ndarray:
        """Return float64[Q]: the median over rounds, of a mode in ``MODES``."""
        mode_at, index_at = MODES.index(mode), self.names.index(name)
        medians: np.ndarray = np.median(self.rounds_ms[:, mode_at, index_at], axis=0)
        return medians

    def summary(self, name: str, *, exhaustive: bool = False) -> dict[str, dict[str, float]]:
        """Return mean and percentiles over queries, in ms, of ``top10`` and ``top1000``."""
        found = {}
        for depth in ("top10", "top1000"):
            times = self.per_query_ms(depth + "_exhaustive" * exhaustive, name)
            percentiles = dict(zip(("p50", "p95", "p99"), np.percentile(times, [50, 95, 99])))
            found[depth] = {k: float(v) for k, v in {"mean": times.mean(), **percentiles}.items()}
        return found


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

    Creates the file ``raw`` with every measurement: ``.npy``, int64 nanoseconds, flat, in the order
    of :attr:`Latency.rounds_ms`. Raises :class:`TdvError` when an index cannot be read, and
    RuntimeError when a timed search returns other hits than the run.
    """
    found = time_queries(
        [
            (one.index, make_similarity(one.parameters), one.parameters.tiers, one.run)
            for one in indexes.values()
        ],
        topics, field=field, analysis=analysis, **asdict(plan), output=raw, progress=progress,
    )  # fmt: skip
    queries: Sequence[str] = found.pop("queries")
    nanos = np.load(raw).reshape(plan.rounds, len(MODES), len(indexes), len(queries))
    shape = len(_COUNTED), len(indexes), len(queries)
    visited = np.array(found["postings_visited"], np.int64).reshape(shape)
    setup = {
        "queries_timed": len(queries),
        "counted_rounds": plan.rounds,
        **{key: found[key] for key in _TOLD},
        "threads": 1,
        "seed": plan.seed,
        "budget_seconds": plan.budget_seconds,
    }
    return Latency(tuple(indexes), tuple(queries), nanos / 1e6, dict(zip(_COUNTED, visited)), setup)


@dataclass(frozen=True)
class QueryTerms:
    """Different index terms of a query, and their document frequencies: index -> term -> number."""

    terms: tuple[str, ...]
    doc_freq: Mapping[str, Mapping[str, int]]

    def thinned(self, first: str, name: str) -> dict[str, float]:
        """Return term -> the share of its postings in ``first`` that ``name`` lacks, if any."""
        before, after = self.doc_freq[first], self.doc_freq[name]
        shares = {t: 1 - after[t] / before[t] for t in self.terms if before[t]}
        return {term: share for term, share in shares.items() if share > 0}

    def terms_gone(self, first: str, name: str) -> float:
        """Return the share of this query's terms in ``first`` that ``name`` lacks."""
        known = sum(self.doc_freq[first][term] > 0 for term in self.terms)
        dropped = sum(share == 1 for share in self.thinned(first, name).values())
        return dropped / known if known else 0.0

    def postings_gone(self, first: str, name: str) -> float:
        """Return the share of this query's postings in ``first`` that ``name`` lacks."""
        before, after = (sum(self.doc_freq[n][t] for t in self.terms) for n in (first, name))
        return 1 - after / before if before else 0.0


def look_up_terms(
    paths: Mapping[str, Any], topics: Mapping[str, str], field: str, analysis: Analysis
) -> dict[str, QueryTerms]:
    """Return query id -> its terms with their document frequencies in every index."""
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


def paired_ratio(before: np.ndarray, after: np.ndarray, seed: int = 0) -> dict[str, Any]:
    """Return ``ratio``, the mean float64[Q] of ``before`` over ``after``, and its ``ci95``.

    The interval is a percentile bootstrap that resamples queries, both indexes together; None for
    fewer than two queries.
    """
    from scipy.stats import bootstrap

    found: dict[str, Any] = {"ratio": float(before.mean() / after.mean()), "ci95": None}
    if len(before) > 1:
        interval = bootstrap(
            (before, after), lambda b, a, axis: b.mean(axis=axis) / a.mean(axis=axis),
            paired=True, vectorized=True, n_resamples=_RESAMPLES, batch=200, method="percentile",
            rng=np.random.default_rng(seed),
        ).confidence_interval  # fmt: skip
        found["ci95"] = [float(interval.low), float(interval.high)]
    return found


def summarise_speed(
    latency: Latency, queries: Mapping[str, QueryTerms], seed: int = 0
) -> dict[str, Any]:
    """Return the report's entries on speed, besides the percentiles of latency.

    Returns
    -------
    dict
        ``latency_ratio.NAME.MODE`` (see :func:`paired_ratio`; first index over NAME),
        ``latency_strata``: ``by_length``, ``by_dropped`` (share of the query's terms) and
        ``by_gone`` (share of its postings), lists of ``stratum``, ``index``, ``queries``,
        ``top10`` and ``top1000`` (ratio and ci95), ``postings_per_query.NAME``: means of
        ``top10``, ``top1000`` and ``exhaustive``, the postings at which searches stop.
    """
    first, *others = latency.names
    timed = [queries[qid] for qid in latency.queries]
    strata: dict[str, list[dict[str, Any]]] = {"by_length": [], "by_dropped": [], "by_gone": []}

    def ratio(name: str, mode: str, of: np.ndarray | slice = slice(None)) -> dict[str, Any]:
        before, after = (latency.per_query_ms(mode, index)[of] for index in (first, name))
        return paired_ratio(before, after, seed)

    def split(by: str, bounds: Mapping[str, tuple[float, float]], name: str, values: Any) -> None:
        values = np.array(values)
        for label, (least, most) in bounds.items():
            within = (values >= least) & (values <= most)
            if within.any():
                row = {"stratum": label, "index": name, "queries": int(within.sum())}
                row |= {mode: ratio(name, mode, within) for mode in ("top10", "top1000")}
                strata[by].append(row)

    for name in others:
        split("by_length", _LENGTHS, name, [len(query.terms) for query in timed])
        gone = [query.postings_gone(first, name) for query in timed]
        if any(gone):  # not for the first index with tuned parameters
            split("by_dropped", _DROPPED, name, [q.terms_gone(first, name) for q in timed])
            split("by_gone", _GONE, name, gone)
    return {
        "latency_ratio": {name: {mode: ratio(name, mode) for mode in MODES} for name in others},
        "latency_strata": strata,
        "postings_per_query": {
            name: {mode: float(n[i].mean()) for mode, n in latency.postings_visited.items()}
            for i, name in enumerate(latency.names)
        },
    }
