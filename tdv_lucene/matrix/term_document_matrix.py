"""The sparse term-document matrix of one field, with the statistics around it.

Shapes: ``V`` terms, ``D`` live documents, ``nnz`` postings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import TdvError
from ..ranking import model_for
from ..ranking.boosts import Boost
from ..vocabulary import ByteStrings, Vocabulary
from .norms import NormKind, kind_of_norms, lucene_length
from .pool import Pool
from .token_sequences import TokenSequences

_AT_ONCE = 1 << 22  # postings


@dataclass(frozen=True, eq=False)
class TermDocumentMatrix:
    """The paper's sparse matrix S (|V| x |C|) of one field, with the statistics around it.

    Documents are the live ones, numbered densely in index order: the numbers a rewritten index
    gives them. A pool is a matrix of some documents, again in index order; ``doc_freq``,
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
        Of some documents: ``documents`` and ``doc_count`` of all live ones.
    first_positions : uint16[nnz] or None
        Position of the term's first occurrence in the document; 65535 stands for that and
        everything after it. None if the field has no positions, or they were not extracted.
    position_boost : FirstPositionBoost, WeightPower or None
        How frequencies are weighted: by these positions, or in an impact index by themselves; None
        if they are not.
    pool : Pool or None
        If the documents stand for all of a collection: how they do.
    sequences : TokenSequences or None
        The documents' tokens in order, where they were extracted.
    norm_kind : NormKind
        Told from norms and lengths where not given. A matrix with fewer documents or postings has
        that of the one it was made of.
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
    source: dict[str, Any]
    collection: dict[str, Any] | None = None
    first_positions: np.ndarray | None = None
    position_boost: Boost | None = None
    pool: Pool | None = None
    sequences: TokenSequences | None = None
    norm_kind: NormKind | None = None

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
        if self.sequences is not None:
            sizes["tokens_indptr"] = len(self.sequences.indptr), len(self.doc_len) + 1
        for name, (actual, expected) in sizes.items():
            if actual != expected:
                raise TdvError(
                    f"matrix array '{name}' has length {actual}, expected {expected}: "
                    "the folder is damaged; extract it again"
                )
        if self.norm_kind is None:
            object.__setattr__(self, "norm_kind", kind_of_norms(self.norms, self.doc_len))

    def require_postings(self, purpose: str) -> None:
        """Raise :class:`TdvError` unless there are some; ``purpose`` says what for."""
        if not len(self.vocabulary):
            raise TdvError(
                f"no live document has a term in '{self.vocabulary.field}', and {purpose} needs "
                "some: index documents first, or name another field"
            )

    def searched_by(self, asked: str | None) -> str:
        """Return the ranking function that was asked for, or else suits the field.

        Raises
        ------
        TdvError
            When there is none, or it would rank the field wrongly.
        """
        weights = None if self.norm_kind is NormKind.NONE else self.norm_kind is NormKind.ONES
        return model_for(weights, asked, f"the field '{self.vocabulary.field}'")

    @property
    def shape(self) -> tuple[int, int]:
        """(V, D)."""
        return len(self.vocabulary), len(self.doc_len)

    @property
    def postings(self) -> int:
        """Number of postings of these documents (nnz)."""
        return int(self.indptr[-1])

    @property
    def collection_postings(self) -> int:
        """Number of postings of all documents, of those without a row too."""
        return int(np.sum(self.doc_freq))

    def with_position_boost(self, boost: Boost | None) -> TermDocumentMatrix:
        """Return the matrix with this boost."""
        return self if boost == self.position_boost else replace(self, position_boost=boost)

    def tf(self, postings: slice | np.ndarray) -> np.ndarray:
        """Return int32[n] or float32[n]: these postings' frequencies, with the boost if any."""
        if self.position_boost is None:
            return self.data[postings]
        first = None if self.first_positions is None else self.first_positions[postings]
        return self.position_boost.weigh(self.data[postings], first)

    def stored_lengths(self) -> np.ndarray:
        """Return int64[D] lengths as the norms tell them; exact where the field has none. Where
        frequencies are weights, the largest of a document takes its length's place."""
        if self.norm_kind is not NormKind.ONES:
            is_exact = self.norm_kind in (NormKind.EXACT, NormKind.NONE)
            return np.asarray(self.doc_len) if is_exact else lucene_length(np.asarray(self.doc_len))
        largest = np.zeros(len(self.doc_len), np.int64)
        for start in range(0, len(self.data), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            np.maximum.at(largest, self.indices[some], self.data[some])
        return largest

    @property
    def doc_count(self) -> int:
        """Documents with at least one term: Lucene's N for idf and average length."""
        if self.collection is not None:
            return int(self.collection["doc_count"])
        return int(np.count_nonzero(self.doc_len))
