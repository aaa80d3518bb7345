"""A term-document matrix as a folder: its arrays, and what its manifest says of it."""

from __future__ import annotations

import logging
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np

from ..store import check_content, check_files, load_array, read_manifest
from ..vocabulary import ByteStrings, StrPath, Vocabulary
from .term_document_matrix import TermDocumentMatrix
from .token_sequences import TokenSequences

_log = logging.getLogger(__name__)

KIND = "matrix"
_MADE_BY = "tdv-lucene extract --index INDEX --output FOLDER"
_DIGESTED = 1 << 26  # bytes: what takes no time
_ARRAYS = ("indptr", "indices", "data", "doc_freq", "total_term_freq", "doc_len", "norms")
_POSITIONS = "first_positions"


def load_matrix(path: StrPath) -> TermDocumentMatrix:
    """Open a folder that :func:`.extract.extract_matrix` wrote, memory-mapped and read-only.

    All files are compared with the sizes in the manifest, those of up to 64 MiB with the digests.

    Raises
    ------
    TdvError
        When ``path`` is not such a folder.
    """
    manifest = read_manifest(path, KIND, _MADE_BY)
    check_files(path, manifest, _MADE_BY, digests_up_to=_DIGESTED)
    spec = {"field": str, "source": {"commit": str}, "sequences?": (str, NoneType)}
    check_content(path, manifest, _MADE_BY, spec)
    return open_arrays(Path(path), manifest)


def open_arrays(folder: Path, manifest: dict[str, Any]) -> TermDocumentMatrix:
    """Map the arrays in ``folder``, of which the manifest need not be written yet."""

    def array(name: str) -> np.ndarray:
        return load_array(folder, name, _MADE_BY)

    _log.info("opening the matrix %s of field '%s'", folder, manifest["field"])
    arrays: dict[str, Any] = {name: array(name) for name in _ARRAYS}
    has_positions = (folder / f"{_POSITIONS}.npy").exists()
    sequences = None
    if (origin := manifest.get("sequences")) is not None:
        sequences = TokenSequences(array("tokens"), array("tokens_indptr"), origin)
    return TermDocumentMatrix(
        vocabulary=Vocabulary(
            manifest["field"], ByteStrings(array("terms"), array("terms_indptr"))
        ),
        doc_ids=ByteStrings(array("doc_ids"), array("doc_ids_indptr")),
        source=manifest["source"],
        first_positions=array(_POSITIONS) if has_positions else None,
        sequences=sequences,
        **arrays,
    )


def describe_matrix(matrix: TermDocumentMatrix) -> dict[str, Any]:
    """Sizes and identity of a matrix: what its manifest says of it."""
    terms, documents = matrix.shape
    return {
        "field": matrix.vocabulary.field,
        "source": matrix.source,
        "vocabulary_sha256": matrix.vocabulary.sha256,
        "terms": terms,
        "documents": documents,
        "doc_count": matrix.doc_count,
        "postings": matrix.postings,
        "tokens": int(matrix.doc_len.sum()),
        "positions": matrix.first_positions is not None,
        "sequences": None if matrix.sequences is None else matrix.sequences.origin,
    }
