"""nDCG from ranks, of many queries at once: the only computation of it here.

Learning and the benches use it; tests hold it to trec_eval. The gain
is the grade, the discount log2(rank + 1), and the ideal ranking has all relevant documents of the
qrels, whether the index holds them or not: trec_eval's ``ndcg_cut``.
"""

from __future__ import annotations

import numpy as np


def ndcg(
    queries: np.ndarray,
    ranks: np.ndarray,
    grades: np.ndarray,
    ideal_queries: np.ndarray,
    ideal_grades: np.ndarray,
    *,
    depth: int,
    number: int,
) -> np.ndarray:
    """Return float64[number]: nDCG at ``depth`` of queries 0, 1, ... ``number`` - 1.

    Parameters
    ----------
    queries, ranks, grades : int64[n], float64[n], float64[n]
        Of relevant documents that were found: their query, their rank from 1 (infinite where not
        found after all), their grade.
    ideal_queries, ideal_grades : int64[m], float64[m]
        Of all relevant documents: queries ascending, each with one, the best grade first.
    """
    at = np.searchsorted(ideal_queries, ideal_queries)
    perfect = np.arange(1.0, len(ideal_queries) + 1) - at
    ideal = _dcg(ideal_queries, perfect, ideal_grades, depth, number)
    found: np.ndarray = _dcg(queries, ranks, grades, depth, number) / ideal
    return found


def _dcg(
    queries: np.ndarray, ranks: np.ndarray, grades: np.ndarray, depth: int, number: int
) -> np.ndarray:
    gains = np.where(ranks <= depth, grades / np.log2(ranks + 1), 0.0)
    sums: np.ndarray = np.bincount(queries, gains, minlength=number)
    return sums
