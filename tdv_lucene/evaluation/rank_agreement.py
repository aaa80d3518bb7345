"""How far two rankings of the same queries agree: what pruning moved, whether judged or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # pandas takes half a second to import
    import pandas as pd

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
    if not len(short):
        return 0.0
    place = {document: rank for rank, document in enumerate(short)}
    shared_from = [max(rank, place[d]) for rank, d in enumerate(long) if d in place]
    shared = np.cumsum(np.bincount(shared_from, minlength=len(long))).astype(np.float64)  # X_d
    s, depth = len(short), np.arange(1, len(long) + 1)
    agreement = shared + shared[s - 1] * np.maximum(depth - s, 0) / s
    weights = persistence**depth
    seen = (1 - persistence) / persistence * float(np.sum(agreement / depth * weights))
    tail = (shared[-1] - shared[s - 1]) / len(long) + shared[s - 1] / s
    return min(1.0, seen + float(tail * weights[-1]))


def kendall_tau(
    first: Sequence[str], second: Sequence[str], depth: int = TAU_DEPTH
) -> float | None:
    """Kendall's tau of the documents among the best ``depth`` of both; None for fewer than 2."""
    from scipy.stats import kendalltau

    place = {document: rank for rank, document in enumerate(second[:depth])}
    ranks = [place[document] for document in first[:depth] if document in place]
    if len(ranks) < 2:
        return None
    return float(kendalltau(np.arange(len(ranks)), ranks).statistic)


def compare_rankings(baseline: pd.DataFrame, other: pd.DataFrame) -> dict[str, float | int | None]:
    """Mean agreement of two runs (see :func:`.evaluate.read_run`), over queries.

    Queries count when the baseline answers them; where the other run has no answer, overlap and
    RBO are 0. Tau is the mean over the queries that have one.

    Returns
    -------
    dict
        ``queries``, ``overlap_at_10``, ``rbo`` (p = 0.9), ``kendall_tau`` (of the documents in
        both top-100); None where no query has a value.
    """
    before, after = _rankings(baseline), _rankings(other)
    pairs = [(ranking, after.get(query, [])) for query, ranking in before.items()]
    taus = [tau for pair in pairs if (tau := kendall_tau(*pair)) is not None]
    return {
        "queries": len(pairs),
        "overlap_at_10": _mean([overlap(*pair) for pair in pairs]),
        "rbo": _mean([rank_biased_overlap(*pair) for pair in pairs]),
        "kendall_tau": _mean(taus),
    }


def _rankings(run: pd.DataFrame) -> Mapping[str, list[str]]:
    ordered = run.sort_values("score", ascending=False, kind="stable")
    return {
        str(query): rows["docid"].tolist() for query, rows in ordered.groupby("query", sort=False)
    }


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
