"""Frozen records that carry an index's field between stages (NumPy and the standard library only).

Shapes: ``V`` terms, ``D`` live documents, ``nnz`` postings.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ._lead import Lead
from .errors import TdvError


@dataclass(frozen=True, eq=False)
class ByteStrings:
    """``n`` byte strings in one buffer: terms (any bytes, not only UTF-8) or document ids.

    Attributes
    ----------
    data : uint8[total bytes]
    indptr : int64[n + 1]
        String ``i`` is ``data[indptr[i]:indptr[i + 1]]``.
    """

    data: np.ndarray
    indptr: np.ndarray

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, i: int) -> bytes:
        i = range(len(self))[i]  # the usual rules for negative and out-of-range positions
        return self.data[self.indptr[i] : self.indptr[i + 1]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        buffer, ends = self.data.tobytes(), self.indptr.tolist()
        return (buffer[start:end] for start, end in zip(ends, ends[1:]))

    @classmethod
    def of(cls, strings: Iterable[bytes]) -> ByteStrings:
        """Pack byte strings."""
        strings = list(strings)
        indptr = np.zeros(len(strings) + 1, np.int64)
        np.cumsum([len(s) for s in strings], out=indptr[1:])
        return cls(np.frombuffer(b"".join(strings), np.uint8), indptr)

    @cached_property
    def sha256(self) -> str:
        """Hex digest of the strings and where they end, so values never meet the wrong terms."""
        digest = hashlib.sha256(np.ascontiguousarray(self.indptr, "<i8").tobytes())
        digest.update(np.ascontiguousarray(self.data).tobytes())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The terms of one field that have a live posting, in Lucene's order (unsigned bytes)."""

    field: str
    terms: ByteStrings

    def __len__(self) -> int:
        return len(self.terms)

    @property
    def sha256(self) -> str:
        return self.terms.sha256

    @cached_property
    def _position(self) -> dict[bytes, int]:
        return {term: i for i, term in enumerate(self.terms)}

    def find(self, terms: Iterable[bytes | str]) -> np.ndarray:
        """Return int64[n] positions of ``terms`` in the vocabulary, -1 where a term is absent."""
        encoded = (t.encode() if isinstance(t, str) else t for t in terms)
        return np.fromiter((self._position.get(t, -1) for t in encoded), np.int64)


@dataclass(frozen=True, eq=False)
class TermDocumentMatrix:
    """The paper's sparse matrix S (|V| x |C|) of one field, with the statistics around it.

    Documents are the live ones, numbered densely in index order: the numbers a rewritten index
    gives them. A matrix may hold only selected documents, again in index order; ``doc_freq``,
    ``total_term_freq`` and ``doc_count`` are the whole index's in any case. Arrays may be
    memory-mapped and are read-only.

    Attributes
    ----------
    vocabulary : Vocabulary of V terms
    doc_ids : ByteStrings of D external ids (UTF-8)
    indptr : int64[V + 1]
    indices : int32[nnz]
        Document numbers, ascending within a term.
    data : int32[nnz]
        Term frequencies, at least 1.
    doc_freq, total_term_freq : int64[V]
    doc_len : int64[D]
        Tokens of the document in this field: the sum of its frequencies.
    norms : int64[D]
        The norm Lucene stores (a byte's signed value for Lucene's own similarities), 0 = none.
    source : dict
        Identity of the index: path, commit id, versions.
    collection : dict or None
        Of a selection: ``documents``, ``doc_count``, ``postings`` and ``tokens`` of all live
        documents.
    first_positions : uint16[nnz] or None
        Where each posting's document has the term first; 65535 for that and all behind. None
        where the field has no positions, or nobody asked.
    lead : Lead or None
        What frequencies count for by these positions; None for what they are.
    """

    vocabulary: Vocabulary
    doc_ids: ByteStrings
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    doc_freq: np.ndarray
    total_term_freq: np.ndarray
    doc_len: np.ndarray
    norms: np.ndarray
    source: dict
    collection: dict | None = None
    first_positions: np.ndarray | None = None
    lead: Lead | None = None

    def __post_init__(self) -> None:
        sizes = {
            "indptr": (len(self.indptr), len(self.vocabulary) + 1),
            "indices": (len(self.indices), int(self.indptr[-1])),
            "data": (len(self.data), int(self.indptr[-1])),
            "doc_freq": (len(self.doc_freq), len(self.vocabulary)),
            "total_term_freq": (len(self.total_term_freq), len(self.vocabulary)),
            "doc_ids": (len(self.doc_ids), len(self.doc_len)),
            "norms": (len(self.norms), len(self.doc_len)),
        }
        if self.first_positions is not None:
            sizes["first_positions"] = len(self.first_positions), int(self.indptr[-1])
        for name, (actual, expected) in sizes.items():
            if actual != expected:
                raise TdvError(
                    f"matrix array '{name}' has length {actual}, expected {expected}: "
                    "the folder is damaged; extract it again"
                )

    @property
    def shape(self) -> tuple[int, int]:
        """(V, D)."""
        return len(self.vocabulary), len(self.doc_len)

    @property
    def postings(self) -> int:
        """Number of postings of these documents (nnz)."""
        return int(self.indptr[-1])

    def weighed(self, lead: Lead | None) -> TermDocumentMatrix:
        """Return the matrix with frequencies that count for what ``lead`` says."""
        return self if lead == self.lead else replace(self, lead=lead)

    def tf(self, postings: slice) -> np.ndarray:
        """Return int32[n] or float32[n]: what these postings' frequencies count for."""
        if self.lead is None:
            return self.data[postings]
        return self.lead.weigh(self.data[postings], self.first_positions[postings])

    @property
    def doc_count(self) -> int:
        """Documents with at least one term: Lucene's N for idf and average length."""
        if self.collection is not None:
            return int(self.collection["doc_count"])
        return int(np.count_nonzero(self.doc_len))
