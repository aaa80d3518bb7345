"""TDVs of terms that learning has not seen, because documents came later.

The learned network, or the prior's, gives a term of one document a TDV by its length and its
digits, for word vectors and the other statistics need more documents. What it gave to all terms of
that kind stands in the TDVs already, so their mean is taken. That it depends on the learned TDVs
and the term's bytes alone makes updates exact: whichever way an index grew, every posting gets the
frequency that pruning the whole index anew would give it.
"""

from __future__ import annotations

import numpy as np

from ..plan import LONGEST, kinds_of
from .term_values import TermValues


def tdvs_of_unseen(values: TermValues) -> np.ndarray:
    """Return float32[2 (LONGEST + 1)]: by :func:`..plan.kinds_of`, the mean TDV of the terms of
    that kind in a single document; where there is none, of all in a single document, or of all.
    """
    once = np.flatnonzero(np.asarray(values.doc_freq) == 1)
    if not len(once):
        once = np.arange(len(values.vocabulary))
    tdv = np.asarray(values.weights, np.float64)[once]
    kinds, size = kinds_of(values.vocabulary.terms)[once], 2 * (LONGEST + 1)
    counts = np.bincount(kinds, minlength=size)
    usual = tdv.mean() if len(tdv) else 1.0
    means = np.bincount(kinds, tdv, minlength=size) / np.maximum(counts, 1)
    return np.where(counts > 0, means, usual).astype(np.float32)
