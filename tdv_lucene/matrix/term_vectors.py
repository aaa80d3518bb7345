"""Vectors of a vocabulary's terms: in memory, on disk, and from the matrix itself (LSA)."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import TdvError
from ..output import Output
from ..progress import Progress, silent
from ..store import check_files, map_array, read_manifest, save_array
from .config import MIN_DOC_FREQ
from .shards import select_documents
from .term_document_matrix import TermDocumentMatrix

_log = logging.getLogger(__name__)

KIND = "term-vectors"
_MADE_BY = "tdv-lucene embed --index INDEX --output FOLDER"


@dataclass(frozen=True, eq=False)
class TermVectors:
    """Vectors of those terms of a vocabulary that have one; the learner gives others the mean."""

    vocabulary_sha256: str
    terms: np.ndarray  # int32[R]: term numbers, ascending
    vectors: np.ndarray  # float32[R, K]
    origin: dict[str, Any]  # how they were made

    def save(self, output: str | os.PathLike[str] | Output) -> None:
        """Write the folder ``output``."""
        place = output
        if not isinstance(place, Output):
            place = Output(place, KIND, inputs=())
        with place as folder:
            save_array(folder / "terms.npy", self.terms)
            save_array(folder / "vectors.npy", self.vectors)
            sizes = {"terms": len(self.terms), "dimensions": self.vectors.shape[1]}
            identity = {"vocabulary_sha256": self.vocabulary_sha256, "origin": self.origin}
            place.write_manifest({**identity, **sizes})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TermVectors:
        """Read a folder written by :meth:`save`, comparing it with its manifest's digests."""
        manifest = read_manifest(path, KIND, _MADE_BY)
        check_files(path, manifest, _MADE_BY)
        terms, vectors = (map_array(Path(path) / f"{name}.npy") for name in ("terms", "vectors"))
        _log.info("read vectors of %d terms from %s", len(terms), path)
        return cls(manifest["vocabulary_sha256"], terms, vectors, manifest["origin"])

    def check(self, matrix: TermDocumentMatrix) -> None:
        """Raise :class:`TdvError` unless the vectors belong to the vocabulary of ``matrix``."""
        if self.vocabulary_sha256 != matrix.vocabulary.sha256:
            raise TdvError(
                f"the term vectors were made for another vocabulary "
                f"({self.vocabulary_sha256[:12]}, the matrix has "
                f"{matrix.vocabulary.sha256[:12]}): run 'tdv-lucene embed' on this index"
            )


SAMPLED_FROM, SAMPLE = 300_000, 100_000
"""Documents of a collection that is too large to decompose, and of the sample taken of it."""
_DRAWN = 1000
"""Fewer documents drawn at random are too few to decompose."""
_SEEN = 2
"""Terms in fewer documents of a pool get no vector: one document gives them its own direction."""


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

    Of a collection of more than ``SAMPLED_FROM`` documents ``SAMPLE`` are drawn, and terms in fewer
    than two of them get no vector either. In a pool only the documents drawn at
    random are decomposed. All others are folded in: a document's place is V = A^T U / S, a term's
    the sum of its documents' places, A V, which is U S again for the documents decomposed.
    """
    if matrix.pool is None:
        matrix.require_postings("latent semantic analysis")
        if matrix.shape[1] > SAMPLED_FROM:
            rng = np.random.default_rng(seed)
            chosen = np.sort(rng.choice(matrix.shape[1], SAMPLE, replace=False))
            matrix, _ = select_documents(matrix, chosen, progress)
    documents, doc_freq = matrix.shape[1], np.asarray(matrix.doc_freq)
    seen = doc_freq if matrix.collection is None else np.diff(matrix.indptr)
    kept = np.flatnonzero((doc_freq >= min_doc_freq) & (seen >= min(min_doc_freq, _SEEN)))
    drawn = None
    if matrix.pool is not None and matrix.pool.drawn.sum() >= _DRAWN:
        drawn = np.flatnonzero(matrix.pool.drawn)
        documents = len(drawn)
    dimensions = min(dimensions, len(kept) - 1, documents - 1)
    origin = {"method": "lsa", "min_doc_freq": min_doc_freq, "seed": seed}
    if matrix.collection is not None:
        origin["documents"] = documents
    if dimensions < 1:
        empty = np.zeros((0, 1), np.float32)
        return TermVectors(matrix.vocabulary.sha256, np.zeros(0, np.int32), empty, origin)
    progress("latent semantic vectors", 0, 0)
    from sklearn.utils.extmath import randomized_svd

    weighted = _weighted(matrix, kept)
    of_drawn = weighted if drawn is None else weighted[:, drawn]
    left, singular, _ = randomized_svd(of_drawn, dimensions, n_iter=2, random_state=seed)
    vectors = left * singular
    if drawn is not None:
        vectors = weighted @ ((weighted.T @ left) / np.maximum(singular, 1e-9))
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return TermVectors(
        matrix.vocabulary.sha256, kept.astype(np.int32), vectors.astype(np.float32), origin
    )


def _weighted(matrix: TermDocumentMatrix, kept: np.ndarray) -> Any:
    """Return the rows ``kept`` of ln(1 + tf) ln(N / df), float32, with unit columns."""
    from scipy.sparse import csr_array

    doc_freq, sizes = np.asarray(matrix.doc_freq), np.diff(matrix.indptr)
    log_tf = np.log1p(np.asarray(matrix.data, np.float32))
    weighted = csr_array((log_tf, matrix.indices, matrix.indptr), matrix.shape)[kept]
    idf = np.log(matrix.doc_count / doc_freq[kept]).astype(np.float32)
    weighted.data *= np.repeat(idf, sizes[kept])
    norms = np.sqrt(np.bincount(weighted.indices, weighted.data**2, minlength=matrix.shape[1]))
    weighted.data /= np.maximum(norms, 1e-9).astype(np.float32)[weighted.indices]
    return weighted
