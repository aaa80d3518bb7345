"""Query latency of several indexes, measured inside the JVM.

What is timed is the search itself: one thread, no query cache, warm, without analysing the query
and without fetching documents. See ``tdvlucene.search.LatencyJob`` for how.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import DEFAULT, Analysis
from ..errors import TdvError, argument
from ..jvm.searcher import make_similarity, time_queries
from ..progress import Progress, silent
from ..ranking import SearchParameters

DEPTH = 1000
"""Hits of the runs against which the timed searches are checked, and the deepest search timed."""

_LEAST_ROUNDS = 5
MODES = ("top10", "top1000", "top10_exhaustive", "top1000_exhaustive")
"""What is timed, in the order of ``LatencyJob.Mode``."""

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
