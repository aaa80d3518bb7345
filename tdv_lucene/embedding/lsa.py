"""Word vectors from the term-document matrix itself (LSA)."""

from __future__ import annotations

import numpy as np

from ..matrix.term_document_matrix import TermDocumentMatrix
from ..progress import Progress, silent
from .term_vectors import MIN_DOC_FREQ, TermVectors


def latent_semantic_vectors(
    matrix: TermDocumentMatrix,
    *,
    dimensions: int = 100,
    min_doc_freq: int = MIN_DOC_FREQ,
    seed: int = 0,
    progress: Progress = silent,
) -> TermVectors:
    """Return LSA vectors from the matrix itself: no text, no file, no Java.

    Randomised SVD (Halko et al. 2011, scikit-learn's) of ln(1 + tf) ln(N / df) with unit
    document columns; a term's vector is its row of U S, scaled to unit length. Terms in fewer
    than ``min_doc_freq`` documents have too little context for a direction and get no vector.
    """
    from scipy.sparse import csr_array
    from sklearn.utils.extmath import randomized_svd

    matrix.require_whole("latent semantic analysis")
    terms, documents = matrix.shape
    doc_freq = np.asarray(matrix.doc_freq)
    kept = np.flatnonzero(doc_freq >= min_doc_freq)
    dimensions = min(dimensions, len(kept) - 1, documents - 1)
    origin = {"method": "lsa", "min_doc_freq": min_doc_freq, "seed": seed}
    if dimensions < 1:
        empty = np.zeros((0, 1), np.float32)
        return TermVectors(matrix.vocabulary.sha256, np.zeros(0, np.int32), empty, origin)
    progress("latent semantic vectors", 0, 0)
    log_tf = np.log1p(np.asarray(matrix.data, np.float32))
    weighted = csr_array((log_tf, matrix.indices, matrix.indptr), (terms, documents))[kept]
    idf = np.log(matrix.doc_count / doc_freq[kept]).astype(np.float32)
    weighted.data *= np.repeat(idf, doc_freq[kept])
    norms = np.sqrt(np.bincount(weighted.indices, weighted.data**2, minlength=documents))
    weighted.data /= np.maximum(norms, 1e-9).astype(np.float32)[weighted.indices]
    left, singular, _ = randomized_svd(weighted, dimensions, n_iter=2, random_state=seed)
    vectors = left * singular
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return TermVectors(
        matrix.vocabulary.sha256, kept.astype(np.int32), vectors.astype(np.float32), origin
    )
