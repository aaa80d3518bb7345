"""Terms that learning has not seen, because documents came later: what they are worth.

Nothing is known of such a term but its bytes. How often it occurs today says little, and it will
occur oftener tomorrow, when the postings written today must still be right. So it counts as what
it was when it came: a term of one document. The learned network, or the prior's, gives such a term
a TDV by its length and its digits, for word vectors and the other statistics need more documents.
What it gave to all terms of that kind stands in the TDVs already, so their mean is taken.

That a term's TDV depends on the learned TDVs and its bytes alone makes updates exact: whichever
way an index grew, every posting gets the frequency that pruning the whole index anew would give it.
None of its postings is dropped, so its idf needs no correction either.
"""

from __future__ import annotations

import numpy as np

from ..matrix.term_statistics import count_digits
from ..vocabulary import ByteStrings
from .term_values import TermValues

_LONGEST = 32
"""Bytes from which on terms count as equally long."""


def tdvs_of_unseen(values: TermValues, terms: ByteStrings) -> np.ndarray:
    """Return float32[n]: the mean TDV of the terms in a single document that have as many bytes,
    and digits if the term has any; of all in a single document where there is none, or of all.
    """
    once = np.flatnonzero(np.asarray(values.doc_freq) == 1)
    if not len(once):
        once = np.arange(len(values.vocabulary))
    tdv = np.asarray(values.weights, np.float64)[once]
    kinds = _kinds(values.vocabulary.terms)[once]
    counts = np.bincount(kinds, minlength=2 * _LONGEST + 2)
    sums = np.bincount(kinds, tdv, minlength=2 * _LONGEST + 2)
    usual = tdv.mean() if len(tdv) else 1.0
    means = np.where(counts > 0, sums / np.maximum(counts, 1), usual)
    return np.asarray(means[_kinds(terms)], np.float32)


def _kinds(terms: ByteStrings) -> np.ndarray:
    """Return int64[n]: a number for each length, and for whether a term has digits."""
    lengths = np.minimum(np.diff(terms.indptr), _LONGEST)
    kinds: np.ndarray = 2 * lengths + (count_digits(terms) > 0)
    return kinds
