"""What latencies say: ratios with intervals, strata of queries, postings visited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..analysis import Analysis
from ..jvm.analysis import analyze
from ..jvm.searcher import count_terms
from .latency import MODES, Latency

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
