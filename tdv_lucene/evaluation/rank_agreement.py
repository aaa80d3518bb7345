"""How far two rankings of the same queries agree: what pruning moved, whether judged or not."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from .run_arrays import Run

TOP = 10
RBO_PERSISTENCE = 0.9
TAU_DEPTH = 100

Document = Hashable
"""An id, or a number in its place."""


def overlap(first: Sequence[Document], second: Sequence[Document], depth: int = TOP) -> float:
    """Share of the first ranking's best ``depth`` documents that the second's best hold too.

    Of fewer than ``depth`` documents, the share of those there are. ``first`` must not be empty.
    """
    best = set(first[:depth])
    return len(best & set(second[:depth])) / len(best)


def rank_biased_overlap(first: Sequence[Document], second: Sequence[Document]) -> float:
    """Rank-biased overlap with p = ``RBO_PERSISTENCE``, extrapolated, within [0, 1].

    Webber, Moffat and Zobel, "A similarity measure for indefinite rankings" (2010), eq. 32, which
    also serves rankings of different lengths. With an empty ranking the overlap is 0.

    >>> rank_biased_overlap(["a", "b"], ["a", "b"])
    1.0
    """
    p = RBO_PERSISTENCE
    short, long = sorted((first, second), key=len)
    if not short:
        return 0.0
    places, s = _places(long, short), len(short)
    depth = np.arange(1, len(long) + 1)
    shared_from = np.maximum(depth - 1, places)[places >= 0]
    shared = np.cumsum(np.bincount(shared_from, minlength=len(long))).astype(np.float64)  # X_d
    agreement = shared + shared[s - 1] * np.maximum(depth - s, 0) / s
    weights = p**depth
    seen = (1 - p) / p * float(np.sum(agreement / depth * weights))
    tail = (shared[-1] - shared[s - 1]) / len(long) + shared[s - 1] / s
    return min(1.0, seen + float(tail * weights[-1]))


def _places(documents: Sequence[Document], ranking: Sequence[Document]) -> np.ndarray:
    """int64[n]: where the documents are in a ranking, from 0; -1 for nowhere."""
    place = {document: rank for rank, document in enumerate(ranking)}
    return np.fromiter((place.get(d, -1) for d in documents), np.int64, len(documents))


def _tau(ranks: np.ndarray) -> float | None:
    """Return Kendall's tau of distinct numbers with their order; None for fewer than 2."""
    from scipy.stats import kendalltau

    return None if len(ranks) < 2 else float(kendalltau(np.arange(len(ranks)), ranks).statistic)


def compare_rankings(baseline: Run, other: Run) -> dict[str, float | int | None]:
    """Mean agreement of two runs with the same ``names``, over queries.

    Queries count when the baseline answers them; where the other run has no answer, overlap and
    RBO are 0. Tau is the mean over the queries that have one.

    Returns
    -------
    dict
        ``queries``, ``overlap_at_10``, ``rbo`` (p = 0.9), ``kendall_tau`` (of the documents in
        both top-100); None where no query has a value.
    """
    aligned = other.of_queries(baseline.queries)
    overlaps, rbos, taus = [], [], []
    for query in _answered(baseline):
        first, second = (
            run.documents[run.starts[query] : run.starts[query + 1]].tolist()
            for run in (baseline, aligned)
        )
        overlaps.append(overlap(first, second))
        rbos.append(rank_biased_overlap(first, second))
        ranks = _places(first[:TAU_DEPTH], second[:TAU_DEPTH])
        taus.append(_tau(ranks[ranks >= 0]))
    return {
        "queries": len(overlaps),
        "overlap_at_10": _mean(overlaps),
        "rbo": _mean(rbos),
        "kendall_tau": _mean([tau for tau in taus if tau is not None]),
    }


def _answered(run: Run) -> list[int]:
    """The queries with a hit, those with the best scores first: so sums are to the last digit those
    of earlier reports.
    """
    answered = np.flatnonzero(np.diff(run.starts))
    order = np.argsort(-run.scores[run.starts[answered]], kind="stable")
    found: list[int] = answered[order].tolist()
    return found


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
