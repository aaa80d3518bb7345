"""How far two rankings of the same queries agree: what pruning moved, whether judged or not."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from .run_arrays import Run

TOP = 10
RBO_PERSISTENCE = 0.9
TAU_DEPTH = 100


def overlap(first: Sequence[str], second: Sequence[str], depth: int = TOP) -> float:
    """Share of the first ranking's best ``depth`` documents that the second's best hold too.

    Of fewer than ``depth`` documents, the share of those there are. ``first`` must not be empty.
    """
    best = set(first[:depth])
    return len(best & set(second[:depth])) / len(best)


def rank_biased_overlap(
    first: Sequence[str], second: Sequence[str], persistence: float = RBO_PERSISTENCE
) -> float:
    """Rank-biased overlap, extrapolated, within [0, 1].

    Webber, Moffat and Zobel, "A similarity measure for indefinite rankings" (2010), eq. 32, which
    also serves rankings of different lengths. ``persistence`` is their p, within (0, 1). With an
    empty ranking the overlap is 0.

    >>> rank_biased_overlap(["a", "b"], ["a", "b"])
    1.0
    """
    short, long = sorted((first, second), key=len)
    place = {document: rank for rank, document in enumerate(short)}
    places = np.fromiter((place.get(d, -1) for d in long), np.int64, len(long))
    return _extrapolated(places, len(short), persistence)


def _extrapolated(places: np.ndarray, s: int, persistence: float) -> float:
    """:func:`rank_biased_overlap` of the longer ranking's documents, by their ``places`` in the
    shorter one, of ``s`` documents; -1 for those that are not in it.
    """
    if not s:
        return 0.0
    depth = np.arange(1, len(places) + 1)
    shared_from = np.maximum(depth - 1, places)[places >= 0]
    shared = np.cumsum(np.bincount(shared_from, minlength=len(places))).astype(np.float64)  # X_d
    agreement = shared + shared[s - 1] * np.maximum(depth - s, 0) / s
    weights = _weights(persistence, len(places))
    seen = (1 - persistence) / persistence * float(np.sum(agreement / depth * weights))
    tail = (shared[-1] - shared[s - 1]) / len(places) + shared[s - 1] / s
    return min(1.0, seen + float(tail * weights[-1]))


@cache
def _weights(persistence: float, depth: int) -> np.ndarray:
    """float64[depth]: the persistence to the power of 1, 2, and so on."""
    weights: np.ndarray = persistence ** np.arange(1, depth + 1)
    weights.setflags(write=False)
    return weights


def _tau(ranks: np.ndarray) -> float | None:
    """Kendall's tau of distinct numbers with their order, of all pairs, how many agree; None for
    fewer than 2."""
    if len(ranks) < 2:
        return None
    pairs = len(ranks) * (len(ranks) - 1) // 2
    discordant = int(np.count_nonzero((ranks[:, None] > ranks) & _later(len(ranks))))
    tau = (pairs - 2 * discordant) / np.sqrt(pairs) / np.sqrt(pairs)  # as SciPy computes it
    return float(min(1.0, max(-1.0, tau)))


@cache
def _later(size: int) -> np.ndarray:
    """bool[size, size]: whether the second of two places comes after the first."""
    later: np.ndarray = np.triu(np.ones((size, size), bool), 1)
    later.setflags(write=False)
    return later


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
    place = np.full(len(baseline.names), -1)  # of each document in one ranking at a time
    overlaps, rbos, taus = [], [], []
    for query in _answered(baseline):
        first, second = (_ranking(run, query) for run in (baseline, aligned))
        short, long = sorted((first, second), key=len)
        overlaps.append(overlap(first[:TOP].tolist(), second[:TOP].tolist()))
        rbos.append(_extrapolated(_places(long, short, place), len(short), RBO_PERSISTENCE))
        ranks = _places(first[:TAU_DEPTH], second[:TAU_DEPTH], place)
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


def _ranking(run: Run, query: int) -> np.ndarray:
    """The numbers of a query's documents, best first."""
    return run.documents[run.starts[query] : run.starts[query + 1]]


def _places(documents: np.ndarray, ranking: np.ndarray, place: np.ndarray) -> np.ndarray:
    """int64[n]: where the documents are in a ranking, -1 for nowhere; ``place`` is all -1."""
    place[ranking] = np.arange(len(ranking))
    found: np.ndarray = place[documents]
    place[ranking] = -1
    return found


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
