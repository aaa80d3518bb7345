"""nDCG at 5 and 1000 and Recall@1000 by trec_eval's definitions, from judged documents' ranks.

Learning evaluates tens of thousands of rankings of a whole collection, and the ranks of the few
judged documents are found without sorting. Run files are measured by
:func:`tdv_lucene.evaluate_run`; a test checks that the two agree.
"""

from __future__ import annotations

import numpy as np

from .retrieval import QueryPostings

MEASURES = ("nDCG@5", "R@1000", "nDCG@1000")


def evaluate(
    postings: QueryPostings, impacts: np.ndarray, some: np.ndarray | None = None
) -> np.ndarray:
    """Return float64[n, 3]: the ``MEASURES`` of the full ranking of each query.

    ``some`` int64[n] chooses queries; None is all of them. From a pool ranks are estimated.
    """
    queries = postings.queries
    some = np.arange(len(queries)) if some is None else some
    result = np.zeros((len(some), len(MEASURES)))
    pool = postings.pool
    drawn = np.zeros(0, np.int64) if pool is None else np.flatnonzero(pool.drawn)
    for row, (query, scores) in enumerate(postings.scores(impacts, some)):
        docs, grades = queries.judged_of(query)
        ranks = ranks_of(scores, docs[grades > 0])
        if pool is not None:
            of_drawn = scores[drawn]
            for i, doc in enumerate(docs[grades > 0]):
                ranks[i] += (pool.doc_weight - 1) * np.count_nonzero(of_drawn > scores[doc])
        result[row] = measures_of(ranks, grades[grades > 0], queries.ideal_grades[query])
    return result


def ranks_of(scores: np.ndarray, docs: np.ndarray) -> np.ndarray:
    """Return float64[n] ranks from 1, ties by document number; infinite where not retrieved."""
    ranks = np.full(len(docs), np.inf)
    for i, doc in enumerate(docs):
        if scores[doc] > 0:
            tied_before = np.count_nonzero(scores[:doc] == scores[doc])
            ranks[i] = 1 + np.count_nonzero(scores > scores[doc]) + tied_before
    return ranks


def measures_of(
    ranks: np.ndarray, grades: np.ndarray, ideal: np.ndarray
) -> tuple[float, float, float]:
    """Return the ``MEASURES`` from the ranks and grades of the relevant documents held."""
    recall = float((ranks <= 1000).sum() / len(ideal))
    return _ndcg(ranks, grades, ideal, 5), recall, _ndcg(ranks, grades, ideal, 1000)


def _ndcg(ranks: np.ndarray, grades: np.ndarray, ideal: np.ndarray, depth: int) -> float:
    """``ndcg_cut``: the gain is the grade, the discount log2(rank + 1)."""
    top = ranks <= depth
    gained = (grades[top] / np.log2(ranks[top] + 1)).sum()
    best = (ideal[:depth] / np.log2(np.arange(2, len(ideal[:depth]) + 2))).sum()
    return float(gained / best)


def mean_measures(per_query: np.ndarray) -> dict[str, float]:
    """Return the means of float64[n, 3] by name."""
    return dict(zip(MEASURES, map(float, per_query.mean(axis=0))))
