"""Query latency of several indexes, measured inside the JVM, and its summary.

The search itself is timed: one thread, no query cache, warm, without analysing the query and
without fetching documents. See ``tdvlucene.search.LatencyJob``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import DEFAULT, Analysis
from ..jvm.analysis import analyze
from ..jvm.searcher import count_terms, make_similarity, time_queries
from ..progress import Progress, silent
from ..ranking import SearchParameters

MODES = ("top10", "top1000")
"""Timed searches, by the hits they ask for: those of ``tdvlucene.search.LatencyJob``."""
_RESAMPLES = 2000


@dataclass(frozen=True, eq=False)
class Latency:
    """Latencies of the same queries on several indexes."""

    names: tuple[str, ...]  # of I indexes
    queries: tuple[str, ...]  # Q in the order timed; a seeded sample if all take too long
    rounds_ms: np.ndarray  # float64[R, 2, I, Q]: every counted round, by MODES
    setup: dict[str, Any]  # rounds, seed, how the warm-up went, garbage collections

    def per_query_ms(self, mode: str, name: str) -> np.ndarray:
        """Return float64[Q]: the median over rounds, of a mode in ``MODES``."""
        mode_at, index_at = MODES.index(mode), self.names.index(name)
        return np.asarray(np.median(self.rounds_ms[:, mode_at, index_at], axis=0))

    def summary(self, name: str) -> dict[str, dict[str, float]]:
        """Return mean and percentiles over queries, in ms, by mode."""
        found = {}
        for mode in MODES:
            times = self.per_query_ms(mode, name)
            percentiles = dict(zip(("p50", "p95", "p99"), np.percentile(times, [50, 95, 99])))
            found[mode] = {k: float(v) for k, v in {"mean": times.mean(), **percentiles}.items()}
        return found

    def ratios(self, seed: int = 0) -> dict[str, dict[str, dict[str, Any]]]:
        """Return by name of each further index, by mode, the first index's :func:`paired_ratio`."""
        first, *others = self.names
        before = {mode: self.per_query_ms(mode, first) for mode in MODES}
        return {
            n: {m: paired_ratio(before[m], self.per_query_ms(m, n), seed) for m in MODES}
            for n in others
        }


def measure_latency(
    indexes: Mapping[str, tuple[str | os.PathLike[str], SearchParameters]],
    topics: Mapping[str, str],
    *,
    seed: int,
    budget_seconds: float,
    rounds: int = 7,
    exhaustive: bool = False,
    field: str = "contents",
    analysis: Analysis = DEFAULT,
    raw: Path,
    progress: Progress = silent,
) -> Latency:
    """Time all topics on all indexes in turn, each with the parameters it is searched with.

    Creates the file ``raw`` with every measurement: ``.npy``, int64 nanoseconds, flat, in the order
    of :attr:`Latency.rounds_ms`. The ``seed`` chooses and orders the queries. If warming up and
    timing all of them does not fit into ``budget_seconds``, fewer are timed; no round is left out,
    so a machine that slows down meanwhile takes longer. ``rounds``, at least 5, do not count the
    warm-up. ``exhaustive`` scores every posting, as the paper's timings do: block maxima skip none.
    """
    found = time_queries(
        [(one, make_similarity(by), by.tiers) for one, by in indexes.values()],
        topics, field=field, analysis=analysis, rounds=rounds, budget_seconds=budget_seconds,
        seed=seed, exhaustive=exhaustive, output=raw, progress=progress,
    )  # fmt: skip
    queries: Sequence[str] = found.pop("queries")
    nanos = np.load(raw).reshape(rounds, len(MODES), len(indexes), len(queries))
    setup = {
        "queries_timed": len(queries),
        "counted_rounds": rounds,
        **found,
        "threads": 1,
        "seed": seed,
        "budget_seconds": budget_seconds,
    }
    return Latency(tuple(indexes), tuple(queries), nanos / 1e6, setup)


DocFreqs = Mapping[str, Mapping[str, int]]
"""Term -> name of an index -> its document frequency there, of the different terms of a query."""


def look_up_terms(
    paths: Mapping[str, Any], topics: Mapping[str, str], field: str, analysis: Analysis
) -> dict[str, DocFreqs]:
    """Return query id -> its terms with their document frequencies in every index."""
    tokens = analyze(list(topics.values()), field, analysis)
    distinct = sorted({token for terms in tokens for token in terms})
    # Once an index, under however many names it is searched.
    counted = {path: count_terms(path, field, distinct) for path in set(paths.values())}
    doc_freq = {t: {n: counted[path][t][0] for n, path in paths.items()} for t in distinct}
    return {q: {t: doc_freq[t] for t in terms} for q, terms in zip(topics, tokens)}


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
