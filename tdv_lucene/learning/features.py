"""What the learner knows of a term: collection statistics and a vector."""

from __future__ import annotations

import numpy as np

from ..core.tdv import Features
from ..embedding.term_vectors import TermVectors
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..matrix.term_statistics import STATISTICS, standard_statistic, standardise


def term_features(matrix: TermDocumentMatrix, vectors: TermVectors, kind: str = "all") -> Features:
    """Return the standardised features of every term of ``matrix``: all, or of one ``kind``.

    Means and deviations are weighted by document frequency: a term counts as often as it has
    postings, because postings are what is scored and stored.
    """
    weight = np.asarray(matrix.doc_freq, np.float64)
    statistics = np.column_stack([standard_statistic(matrix, name) for name in STATISTICS])
    known = standardise(np.asarray(vectors.vectors, np.float64), weight[vectors.terms])
    # Vector components share one unit of variance, or 100 of them would outweigh the statistics.
    known /= np.sqrt(max(1, known.shape[1]) / 10)
    if kind == "vectors":
        statistics = statistics[:, :0]
    elif kind == "statistics":
        known = known[:, :0]
    return Features(
        statistics.astype(np.float32), np.asarray(vectors.terms), known.astype(np.float32)
    )
