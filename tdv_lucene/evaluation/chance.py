"""Whether rankings find what is judged relevant more often than chance would.

Where they do not, the judgements may be those of another collection whose documents have ids of the
same kind (1, 2, 3, ...).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from .ndcg import ndcg

_DEPTH = 5
_ERRORS = 2.0  # standard errors above what chance gives on average
_POOR = 0.1
"""A mean nDCG@5 that real collections may have as well: queries so few that chance may reach it say
nothing."""


def note_on_chance(
    mean: float, judged: Iterable[Mapping[str, int]], documents: int, index: str, files: str
) -> str:
    """Return in words that a mean nDCG@5 is no more than ranking at random gives; mostly nothing.

    Parameters
    ----------
    mean
        Of the full index.
    judged
        Of each query that was asked, document id -> grade. Those without a relevant document do
        not count.
    documents
        In the index.
    index, files
        What to call the index and the judgements.
    """
    relevant = [sorted((g for g in grades.values() if g > 0), reverse=True) for grades in judged]
    relevant = [grades for grades in relevant if grades]
    if not relevant:
        return ""
    expected = float(_at_random(relevant, documents).mean())
    # A measure within [0, 1] has at most its mean as variance.
    most = expected + _ERRORS * float(np.sqrt(expected / len(relevant)))
    if not mean <= most < _POOR:
        return ""
    return (
        f"{index} ranks what is judged relevant in {files} no better than chance (mean nDCG@5 "
        f"{mean:.4f}, at random {expected:.4f}): are topics and judgements those of this "
        "collection? Documents of others may have the same ids"
    )


def _at_random(relevant: list[list[int]], documents: int) -> np.ndarray:
    """float64[Q]: nDCG@5 that a random order gives on average: each rank has the mean grade."""
    queries = np.arange(len(relevant))
    mean_grades = np.array([sum(grades) for grades in relevant]) / documents
    found = ndcg(
        np.repeat(queries, _DEPTH),
        np.tile(np.arange(1.0, _DEPTH + 1), len(relevant)),
        np.repeat(mean_grades, _DEPTH),
        np.repeat(queries, [len(grades) for grades in relevant]),
        np.concatenate(relevant),
        depth=_DEPTH,
        number=len(relevant),
    )
    return found.clip(max=1.0)
