"""nDCG, recall and reciprocal rank by trec_eval's definitions, from judged documents' ranks.

Learning evaluates tens of thousands of rankings of a whole collection, and the ranks of the few
judged documents are found without sorting. Run files are measured by
:func:`tdv_lucene.evaluate_run`, with the same nDCG (see :mod:`..evaluation.measures`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..evaluation.measures import ndcg
from ..evaluation.tuning import OBJECTIVE
from .retrieval import QueryPostings

MEASURES = ("nDCG@5", "R@1000", "nDCG@1000", "nDCG@10", "RR@10", "R@100")

_SIGNIFICANCE = 0.05
_CHOSEN_BY = (OBJECTIVE, "nDCG@1000")
"""Their mean decides how far TDVs are trusted and what is dropped.

The objective alone tunes k1, b, mu and the boost, which leave every posting: whatever has a query's
term is still found. TDVs and orders can lose what only some terms find, far below the first five,
and that must count too.
"""


def evaluate(
    postings: QueryPostings, impacts: np.ndarray, some: np.ndarray | None = None
) -> np.ndarray:
    """Return float64[n, measures]: the ``MEASURES`` of the full ranking of each query.

    ``some`` int64[n] chooses queries; None is all of them. From a pool ranks are estimated. Equal
    scores fall by :attr:`.QueryPostings.tie_order`.
    """
    queries = postings.queries
    some = np.arange(len(queries)) if some is None else some
    if not len(some):
        return np.zeros((0, len(MEASURES)))
    pool, order = postings.pool, postings.tie_order
    drawn = np.zeros(0, np.int64) if pool is None else np.flatnonzero(pool.drawn)
    ranks, grades = [], []
    for query, scores in postings.scores(impacts, some):
        docs, of_query = queries.judged_of(query)
        relevant = docs[of_query > 0]
        found = ranks_of(scores, relevant, order)
        if pool is not None:
            of_drawn = scores[drawn]
            for i, doc in enumerate(relevant):
                above = np.count_nonzero(of_drawn > scores[doc])
                if order is not None:
                    tied = of_drawn == scores[doc]
                    above += np.count_nonzero(tied & (order[drawn] < order[doc]))
                found[i] += (pool.doc_weight - 1) * above
        ranks.append(found)
        grades.append(of_query[of_query > 0])
    return _measures(ranks, grades, [queries.ideal_grades[query] for query in some])


def ranks_of(scores: np.ndarray, docs: np.ndarray, order: np.ndarray | None = None) -> np.ndarray:
    """Return float64[n] ranks from 1, infinite if not retrieved. Ties fall by ``order`` int64[D],
    or by document number."""
    ranks = np.full(len(docs), np.inf)
    for i, doc in enumerate(docs):
        if scores[doc] > 0:
            if order is None:
                tied_before = np.count_nonzero(scores[:doc] == scores[doc])
            else:
                tied = np.flatnonzero(scores == scores[doc])
                tied_before = np.count_nonzero(order[tied] < order[doc])
            ranks[i] = 1 + np.count_nonzero(scores > scores[doc]) + tied_before
    return ranks


def _measures(
    ranks: list[np.ndarray], grades: list[np.ndarray], ideal: list[np.ndarray]
) -> np.ndarray:
    """Return float64[n, measures], from each query's relevant documents and their ideal grades."""
    numbers = np.arange(len(ideal))
    query = np.repeat(numbers, [len(of_query) for of_query in ranks])
    relevant = np.array([len(of_query) for of_query in ideal])
    rank = np.concatenate(ranks)
    all_of_them = (
        query, rank, np.concatenate(grades).astype(np.float64),
        np.repeat(numbers, relevant), np.concatenate(ideal).astype(np.float64),
    )  # fmt: skip
    found = {f"nDCG@{k}": ndcg(*all_of_them, depth=k, number=len(ideal)) for k in (5, 10, 1000)}
    for depth in (100, 1000):
        found[f"R@{depth}"] = np.bincount(query, rank <= depth, minlength=len(ideal)) / relevant
    found["RR@10"] = np.zeros(len(ideal))
    np.maximum.at(found["RR@10"], query, np.where(rank <= 10, 1 / rank, 0))
    return np.stack([found[name] for name in MEASURES], axis=1)


def mean_measures(per_query: np.ndarray) -> dict[str, float]:
    """Return the means of float64[n, measures] by name."""
    return dict(zip(MEASURES, map(float, per_query.mean(axis=0))))


def clearly_better(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether ``one`` float64[n] is above ``other`` by a two-tailed paired t-test (p < .05).

    ``one`` must have the larger mean.
    """
    if len(one) < 2:
        return False
    if np.ptp(one - other) == 0:  # no spread, no test
        return bool(one[0] > other[0])
    from scipy import stats  # takes longer to import than all else here

    return bool(stats.ttest_rel(one, other).pvalue < _SIGNIFICANCE)


def first_of_the_best(served_by: Sequence[np.ndarray]) -> int:
    """Return the first of some choices that the best is not :func:`clearly_better` than, by
    float64[n] for each: how it serves the queries.

    With the mildest first it is the one that goes no further than the queries make sure: the best
    for one kind of query goes too far for others, and few queries would choose it by chance.
    """
    best = max(served_by, key=np.mean)
    return next(k for k, served in enumerate(served_by) if not clearly_better(best, served))


def clearly_best(served_by: np.ndarray) -> int:
    """Return the best row of float64[ways, queries] if it is clearly better than the first.

    The first suits all kinds of query well enough; a few queries of one kind would move away from
    it by chance.
    """
    best = int(np.argmax(served_by.mean(axis=1)))
    return best if best and clearly_better(served_by[best], served_by[0]) else 0


def deciding(measured: np.ndarray) -> np.ndarray:
    """Return float64[n], what decides (see ``_CHOSEN_BY``), from all ``MEASURES``."""
    chosen = measured[:, [MEASURES.index(name) for name in _CHOSEN_BY]]
    return np.asarray(chosen.mean(axis=1))
