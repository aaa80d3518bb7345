"""Vectors of a vocabulary's terms, in memory and on disk."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import TdvError
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..output import Output
from ..store import check_content, check_files, load_array, read_manifest, save_array

_log = logging.getLogger(__name__)

KIND = "term-vectors"
_MADE_BY = "tdv-lucene embed --index INDEX --output FOLDER"


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
    origin: dict[str, Any]

    def save(self, output: str | os.PathLike[str] | Output, *, overwrite: bool = False) -> None:
        """Write the folder ``output``."""
        if isinstance(output, Output):
            place = output
        else:
            place = Output(output, KIND, inputs=(), overwrite=overwrite)
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
        check_content(path, manifest, _MADE_BY, {"vocabulary_sha256": str, "origin": dict})
        terms, vectors = (load_array(path, name, _MADE_BY) for name in ("terms", "vectors"))
        if len(terms) != len(vectors) or not np.isfinite(vectors).all():
            raise TdvError(f"{path} holds damaged vectors: make it again with 'tdv-lucene embed'")
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
