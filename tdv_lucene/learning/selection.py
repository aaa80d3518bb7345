"""Careful choices: nothing moves further than the queries make sure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..evaluation.tuning import OBJECTIVE
from ..simulation.retrieval import MEASURES

_SIGNIFICANCE = 0.05
_CHOSEN_BY = (OBJECTIVE, "nDCG@1000")
"""Their mean decides how far TDVs are trusted and what is dropped.

The objective alone tunes k1, b, mu and the boost, which leave every posting: whatever has a query's
term is still found. TDVs and orders can lose what only some terms find, far below the first five,
and that must count too.
"""


def deciding(measured: np.ndarray) -> np.ndarray:
    """Return float64[n], the worth of each query's ranking, from all ``MEASURES``."""
    chosen = measured[:, [MEASURES.index(name) for name in _CHOSEN_BY]]
    return np.asarray(chosen.mean(axis=1))


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
    """Return the first choice that the best does not significantly beat.

    With the mildest first it is the one that goes no further than the queries make sure: the best
    for one kind of query goes too far for others, and few queries would choose it by chance.

    ``served_by`` holds float64[n] for each choice: the worth to each query.
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
