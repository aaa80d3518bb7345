"""Scores of one query's documents, in chunks of few shapes."""

from __future__ import annotations

import numpy as np

from ...interruption import check
from .rankers import Ranker, score
from .reading import Reader

CHUNK = 64
"""Documents at once: with twice as many Conv-KNRM takes twice the time, for fresh memory."""


def score_documents(
    ranker: Ranker, reader: Reader, query: np.ndarray, documents: np.ndarray, chunk: int = CHUNK
) -> np.ndarray:
    """Return float32[n]: scores of ``documents`` int[n] for a query int32[L] of term numbers.

    Documents of about the same length share a chunk, so that little padding is computed. A
    document's score depends on neither the others nor their order.
    """
    lengths = reader.lengths(documents)
    order = np.argsort(lengths, kind="stable")
    scores = np.zeros(len(documents), np.float32)
    for first in range(0, len(order), chunk):
        check()
        some = order[first : first + chunk]
        docs = np.full((1, chunk), -1, np.int64)
        docs[0, : len(some)] = documents[some]
        batch = reader.batch(query[None], docs, reader.width(int(lengths[some[-1]])))
        scores[some] = np.asarray(score(ranker, batch))[0, : len(some)]
    return scores
