"""Which scale ranks best: for TF-IDF, which counts every occurrence in full.

A scale below 1 leaves most frequencies at 1, and only those of words that a document repeats often
above it. That is the saturation that TF-IDF lacks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .fidelity import ChosenScale, best_documents, describe_scale
from .reduced import Reduced
from .stopping import clearly_best, deciding

DAMPING_SCALES = (0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 3)


def best_ranking_scale(
    at: Reduced, *, first: float, others: Sequence[float] = DAMPING_SCALES
) -> ChosenScale:
    """Return the scale that ranks best: the ``first``, unless one of the ``others`` serves held-out
    queries clearly better. Each fold is measured at the one that the other folds choose.

    See :func:`.fidelity.faithful_scale` for the table.
    """
    scales = [first, *(scale for scale in others if scale != first)]
    served_by = np.array([deciding(at.held_out([scale] * len(at.folds))) for scale in scales])
    if len(at.folds) > 1:
        of_folds = [clearly_best(np.delete(served_by, fold, axis=1)) for fold in at.folds]
    else:  # nobody else could choose
        of_folds = [0]
    best = best_documents(at)
    table = {scale: describe_scale(at, scale, best) for scale in sorted(scales)}
    return ChosenScale(
        table=list(table.values()),
        entry=table[scales[clearly_best(served_by)]],
        of_folds=[scales[number] for number in of_folds],
    )
