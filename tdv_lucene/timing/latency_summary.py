"""What latencies say: ratios with intervals, strata of queries, throughput, costs beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..analysis import Analysis
from ..jvm.analysis import analyze
from ..jvm.searcher import count_terms, make_similarity, measure_throughput, time_service
from ..progress import Progress, silent
from .latency import MODES, Latency, TimedIndex

_RESAMPLES = 2000
_LENGTHS = ((1, 2), (3, 4), (5, 8), (9, None))
_DROPPED = ((0.0, 0.0), (0.0, 0.5), (0.5, 1.0))
_GONE = ((0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 0.9), (0.9, 1.0))
_THROUGHPUT_ROUNDS = 5
_ROUND_SECONDS = 1.0
_WARM_UP_SECONDS = 0.5
_FETCHED = 10


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
        ``top10`` and ``top1000`` (ratio and ci95), ``queries_per_second.NAME``
        (of one thread), ``postings_per_query.NAME``: means of ``top10``, ``top1000`` and
        ``exhaustive``, the postings at which searches stop.
    """
    first, *others = latency.names
    return {
        "latency_ratio": {name: _ratios(latency, name, seed) for name in others},
        "latency_strata": {
            "by_length": list(_strata(latency, _by_length(latency, queries), seed)),
            "by_dropped": list(_strata_of_each(latency, queries, _by_dropped, seed)),
            "by_gone": list(_strata_of_each(latency, queries, _by_gone, seed)),
        },
        "queries_per_second": {
            name: {
                depth: 1000 / summary["mean"] for depth, summary in latency.summary(name).items()
            }
            for name in latency.names
        },
        "postings_per_query": {
            name: {
                mode: float(counts[i].mean()) for mode, counts in latency.postings_visited.items()
            }
            for i, name in enumerate(latency.names)
        },
    }


def _ratios(latency: Latency, name: str, seed: int) -> dict[str, Any]:
    first = latency.names[0]
    return {
        mode: paired_ratio(
            latency.per_query_ms(mode, first), latency.per_query_ms(mode, name), seed
        )
        for mode in MODES
    }


def _by_length(latency: Latency, queries: Mapping[str, QueryTerms]) -> dict[str, np.ndarray]:
    """Stratum -> bool[Q], by the number of distinct terms."""
    lengths = np.array([len(queries[qid].terms) for qid in latency.queries])
    strata = {}
    for low, high in _LENGTHS:
        label = f"{low} or more terms" if high is None else f"{low} to {high} terms"
        strata[label] = (lengths >= low) & (lengths <= (high or np.inf))
    return strata


def _by_dropped(
    latency: Latency, queries: Mapping[str, QueryTerms], name: str
) -> dict[str, np.ndarray]:
    """Stratum -> bool[Q], by the share of the terms the first index has that ``name`` dropped."""
    first = latency.names[0]
    shares = np.array([queries[qid].terms_gone(first, name) for qid in latency.queries])
    strata = {}
    for low, high in _DROPPED:
        label = "no term dropped" if high == 0 else f"over {low:.0%} to {high:.0%} dropped"
        strata[label] = shares == 0 if high == 0 else (shares > low) & (shares <= high)
    return strata


def _by_gone(
    latency: Latency, queries: Mapping[str, QueryTerms], name: str
) -> dict[str, np.ndarray]:
    """Stratum -> bool[Q], by the share of the query's postings that ``name`` dropped."""
    first = latency.names[0]
    shares = np.array([queries[qid].postings_gone(first, name) for qid in latency.queries])
    return {
        f"{low:.0%} to {high:.0%} gone": (shares >= low) & ((shares < high) | (high == 1))
        for low, high in _GONE
    }


def _strata(
    latency: Latency, strata: Mapping[str, np.ndarray], seed: int, only: str | None = None
) -> Iterator[dict[str, Any]]:
    first, *others = latency.names
    for name in others if only is None else [only]:
        for label, members in strata.items():
            if members.any():
                row = {"stratum": label, "index": name, "queries": int(members.sum())}
                for mode in ("top10", "top1000"):
                    before, after = (latency.per_query_ms(mode, index) for index in (first, name))
                    row[mode] = paired_ratio(before[members], after[members], seed)
                yield row


def _strata_of_each(
    latency: Latency,
    queries: Mapping[str, QueryTerms],
    split: Callable[[Latency, Mapping[str, QueryTerms], str], dict[str, np.ndarray]],
    seed: int,
) -> Iterator[dict[str, Any]]:
    """The strata of every index but the first, split by what that index dropped.

    One that dropped nothing, as the first index with tuned parameters, has none.
    """
    first, *others = latency.names
    for name in others:
        if any(queries[query].postings_gone(first, name) for query in latency.queries):
            yield from _strata(latency, split(latency, queries, name), seed, name)


def measure_service(
    indexes: Mapping[str, TimedIndex],
    topics: Mapping[str, str],
    sample: Sequence[str],
    *,
    field: str,
    analysis: Analysis,
    threads: int | None,
    seed: int,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Costs beside the search, of a ``sample`` of query ids, and throughput with ``threads`` at
    once, of all topics.

    Returns ``service_ms`` (``analysis_ms`` a query, ``stored_fields_ms.NAME`` a query of ``hits``
    documents) and ``throughput`` (``threads``, ``queries_per_second.NAME``: each round's), None
    without threads.
    """
    searched = [(index.path, make_similarity(index.parameters)) for index in indexes.values()]
    some = {query: topics[query] for query in sample}
    asked: dict[str, Any] = {"field": field, "analysis": analysis}
    found = time_service(
        searched, some, **asked, hits=_FETCHED, warm_up_seconds=_WARM_UP_SECONDS, progress=progress
    )
    service = {
        "analysis_ms": found["analysis_ms"],
        "stored_fields_ms": dict(zip(indexes, found["stored_fields_ms"])),
        "hits": found["hits"],
    }
    throughput = None
    if threads is not None:
        rates: Sequence[list[float]] = measure_throughput(
            searched,
            topics,
            **asked,
            threads=threads,
            rounds=_THROUGHPUT_ROUNDS,
            round_seconds=_ROUND_SECONDS,
            seed=seed,
            progress=progress,
        )
        throughput = {"threads": threads, "queries_per_second": dict(zip(indexes, rates))}
    return {"service_ms": service, "throughput": throughput}
