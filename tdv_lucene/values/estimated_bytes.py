"""The bytes of an index that has not been written."""

from __future__ import annotations

import numpy as np

from ..matrix.norms import norm_bytes
from ..matrix.record import TermDocumentMatrix
from .posting_bytes import posting_bytes
from .weighted_collection import WeightedCollection

_SAMPLE = 1 << 20
"""Postings looked at, about."""


def estimate_posting_bytes(matrix: TermDocumentMatrix, collection: WeightedCollection) -> int:
    """Return the bytes of the posting lists of ``collection``, from lists of every length.

    Terms are sampled at equal steps in order of their document frequency. Against the ``.doc``
    files Lucene wrote it was within 3 % (see ``tests/integration/test_posting_files.py``).
    """
    every = max(1, matrix.postings // _SAMPLE)
    by_size = np.argsort(matrix.doc_freq, kind="stable")
    by_size = by_size[np.searchsorted(matrix.doc_freq[by_size], 2) :]  # lists of one take no bytes
    terms = np.sort(by_size[every // 2 :: every])
    spans = [slice(matrix.indptr[t], matrix.indptr[t + 1]) for t in terms]
    lists = []
    for term, span in zip(terms, spans):
        docs = np.asarray(matrix.indices[span])
        tf = collection.stored_tf(term, docs, matrix.tf(span))
        lists.append((docs[tf > 0], tf[tf > 0]))
    if not lists:
        return 0
    sizes = [len(docs) for docs, _ in lists]
    docs, tf = (np.concatenate([of[i] for of in lists]) for i in (0, 1))
    norms = norm_bytes(collection.doc_len)[docs]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    return every * posting_bytes(indptr, docs, tf.astype(np.int64), norms)
