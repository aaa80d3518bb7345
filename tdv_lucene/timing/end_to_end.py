"""What a user of Pyserini waits for: query in, documents out, bridge to Java and all."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..analysis import DEFAULT, Analysis
from ..jvm.searcher import make_similarity, open_pyserini
from ..progress import Progress, silent
from .latency import TimedIndex, summarise_latency

_HITS = 10
_MOST_QUERIES = 200
_WARM_UP_ROUNDS = 2
_COUNTED_ROUNDS = 5


def measure_end_to_end(
    indexes: Mapping[str, TimedIndex],
    topics: Mapping[str, str],
    *,
    analysis: Analysis = DEFAULT,
    seed: int = 0,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Time ``LuceneSearcher.search(text, 10)`` on every index, in turns; field ``contents``.

    This holds analysis, the search as Anserini does it, fetching stored fields and the crossing
    to Python. Returns ``queries`` (a seeded sample of at most 200), ``rounds`` and ``ms.NAME``:
    mean, p50, p95 and p99 over queries of the median over rounds, milliseconds.
    """
    rng = np.random.default_rng(seed)
    texts = list(topics.values())
    sample = [texts[i] for i in rng.permutation(len(texts))[:_MOST_QUERIES]]
    searchers = {
        n: open_pyserini(index.path, make_similarity(index.parameters), analysis)
        for n, index in indexes.items()
    }
    rounds: dict[str, list[np.ndarray]] = {name: [] for name in indexes}
    for number in range(_WARM_UP_ROUNDS + _COUNTED_ROUNDS):
        order = rng.permutation(len(sample))
        for name, searcher in searchers.items():
            rounds[name].append(_one_round(searcher, sample, order))
        progress("end to end", number + 1, _WARM_UP_ROUNDS + _COUNTED_ROUNDS)
    for searcher in searchers.values():
        searcher.close()
    ms = {name: np.median(measured[_WARM_UP_ROUNDS:], axis=0) for name, measured in rounds.items()}
    return {
        "queries": len(sample),
        "rounds": _COUNTED_ROUNDS,
        "ms": {name: summarise_latency(measured) for name, measured in ms.items()},
    }


def _one_round(searcher: Any, sample: list[str], order: np.ndarray) -> np.ndarray:
    """Milliseconds of each query of the sample, float64[Q], asked in ``order``."""
    took = np.empty(len(sample))
    for i in order:
        before = time.perf_counter_ns()
        searcher.search(sample[i], _HITS)
        took[i] = (time.perf_counter_ns() - before) / 1e6
    return took
