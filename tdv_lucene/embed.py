"""Stage 3: word vectors for index terms."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .errors import TdvError
from .progress import Progress, silent
from .records import TermDocumentMatrix
from .store import new_folder, read_manifest, save_array, write_manifest

KIND = "term-vectors"


@dataclass(frozen=True, eq=False)
class TermVectors:
    """Vectors of those terms of a vocabulary that have one.

    Attributes
    ----------
    vocabulary_sha256 : str
        Of the vocabulary that ``terms`` counts in.
    terms : int32[R]
        Term numbers, ascending. Any other term has no vector; the learner gives it the mean.
    vectors : float32[R, K]
    origin : dict
        How they were made.
    """

    vocabulary_sha256: str
    terms: np.ndarray
    vectors: np.ndarray
    origin: dict

    def save(self, output: str | os.PathLike, *, overwrite: bool = False) -> None:
        """Write the folder ``output``."""
        with new_folder(output, overwrite=overwrite) as folder:
            save_array(folder / "terms.npy", self.terms)
            save_array(folder / "vectors.npy", self.vectors)
            sizes = {"terms": len(self.terms), "dimensions": self.vectors.shape[1]}
            identity = {"vocabulary_sha256": self.vocabulary_sha256, "origin": self.origin}
            write_manifest(folder, KIND, {**identity, **sizes})

    @classmethod
    def load(cls, path: str | os.PathLike) -> TermVectors:
        """Read a folder written by :meth:`save`."""
        manifest = read_manifest(path, KIND, "tdv-lucene embed --index INDEX --output FOLDER")
        terms, vectors = (
            np.load(Path(path) / f"{name}.npy", mmap_mode="r", allow_pickle=False)
            for name in ("terms", "vectors")
        )
        if len(terms) != len(vectors) or not np.isfinite(vectors).all():
            raise TdvError(f"{path} holds damaged vectors: make it again with 'tdv-lucene embed'")
        return cls(manifest["vocabulary_sha256"], terms, vectors, manifest["origin"])

    def check(self, matrix: TermDocumentMatrix) -> None:
        """Raise :class:`TdvError` unless the vectors belong to the vocabulary of ``matrix``."""
        if self.vocabulary_sha256 != matrix.vocabulary.sha256:
            raise TdvError(
                f"the term vectors were made for another vocabulary "
                f"({self.vocabulary_sha256[:12]}, the matrix has "
                f"{matrix.vocabulary.sha256[:12]}): run 'tdv-lucene embed' on this index"
            )


def latent_semantic_vectors(
    matrix: TermDocumentMatrix,
    *,
    dimensions: int = 100,
    min_doc_freq: int = 5,
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


def load_term_vectors(
    path: str | os.PathLike, matrix: TermDocumentMatrix, progress: Progress = silent
) -> TermVectors:
    """Return vectors of the terms of ``matrix`` from what :func:`embed_terms` wrote."""
    vectors = TermVectors.load(path)
    vectors.check(matrix)
    return vectors
