"""The sparse term-document matrix of one field: its arrays, norms, blocks of postings, its folder.

Shapes: ``V`` terms, ``D`` live documents, ``nnz`` postings.
"""

from __future__ import annotations

import itertools
import logging
import mmap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import TdvError
from ..ranking import model_for
from ..ranking.postings import Boost, LengthNorm
from ..store import check_files, map_array, read_manifest
from ..vocabulary import ByteStrings, StrPath, Vocabulary

_log = logging.getLogger(__name__)

KIND = "matrix"
_MADE_BY = "tdv-lucene extract --index INDEX --output FOLDER"
_DIGESTED = 1 << 26  # bytes: what takes no time
_ARRAYS = ("indptr", "indices", "data", "doc_freq", "total_term_freq", "doc_len", "norms")
_POSITIONS = "first_positions"
_LARGEST_INT = 2**31 - 1  # of Java
_BLOCK = 1 << 22
"""Postings worked on at a time: bounds the working memory to tens of megabytes."""

# Lucene's norms


class NormKind(Enum):
    """The form of document lengths in a field's norms, as in ``tdvlucene.common.NormKind``."""

    NONE = "none: Lucene takes every document's length for 1"
    BYTES = "Lucene's one byte a document"
    EXACT = "the exact length: Anserini's -bm25.accurate"
    ONES = "1 for all: Anserini's -impact, where frequencies are weights"
    OVERLAPS = "Lucene's one byte a document, of a length without tokens at the place of others"


_SAME = 40  # lengths up to this have themselves as their byte
_FREE = 24  # lengths below this are stored as they are: 255 - longToInt4(Integer.MAX_VALUE)


def _decode(code: int) -> int:
    """``SmallFloat.byte4ToInt``: three bits after the leading one, and a shift."""
    if code < _FREE:
        return code
    mantissa, shift = (code - _FREE) & 7, ((code - _FREE) >> 3) - 1
    return _FREE + (mantissa if shift < 0 else (mantissa | 8) << shift)


_LENGTHS = np.array([_decode(code) for code in range(256)], np.int64)


def lucene_length(doc_len: np.ndarray) -> np.ndarray:
    """Return int64[...] lengths as Lucene's similarities see them after ``intToByte4``.

    Exact up to 40, then rounded down to four significant bits.
    """
    return np.asarray(_LENGTHS[norm_bytes(doc_len)])


def nearest_length(doc_len: np.ndarray) -> np.ndarray:
    """Return float64[...]: the nearest of the lengths from 1 up that a byte can stand for."""
    lengths = _LENGTHS[1:].astype(np.float64)
    between = (lengths[1:] + lengths[:-1]) / 2
    return np.asarray(lengths[np.searchsorted(between, doc_len, side="left")])


def norm_bytes(doc_len: np.ndarray) -> np.ndarray:
    """Return uint8[...]: the byte that Lucene stores of a length, as a number up to 255."""
    return (np.searchsorted(_LENGTHS, doc_len, side="right") - 1).astype(np.uint8)


class NormFacts(NamedTuple):
    """Facts that tell the kind of a field's norms; :meth:`sum` has those of all shards."""

    there: int
    largest: int
    tokens: int
    longest: int
    are_lengths: bool
    overlaps: bool

    @classmethod
    def of(cls, norms: np.ndarray, doc_len: np.ndarray, overlaps: bool = False) -> NormFacts:
        """Look at ``norms`` int64[D] of documents with lengths ``doc_len`` int64[D]; positions tell
        whether there are ``overlaps``."""
        return cls(
            int(np.count_nonzero(norms)), int(np.max(norms, initial=0)), int(np.sum(doc_len)),
            int(np.max(doc_len, initial=0)), bool(np.array_equal(norms, doc_len)), overlaps,
        )  # fmt: skip

    @classmethod
    def sum(cls, parts: Iterable[NormFacts]) -> NormFacts:
        """Put together those of parts, of which there are some."""
        there, largest, tokens, longest, are_lengths, overlaps = zip(*parts)
        sums = sum(there), max(largest), sum(tokens), max(longest)
        return cls(*sums, all(are_lengths), any(overlaps))

    @property
    def kind(self) -> NormKind:
        """The kind of the norms.

        Up to 40 a byte is the length itself. If no document is longer, bytes are assumed, as the
        rewrite does: scaled lengths may well be longer.
        """
        if not self.there and self.tokens:
            return NormKind.NONE
        if self.overlaps:
            return NormKind.OVERLAPS
        if self.largest == 1 and self.tokens > self.there:
            return NormKind.ONES
        exact = self.longest > _SAME and self.are_lengths
        return NormKind.EXACT if exact else NormKind.BYTES


# A matrix of some documents


@dataclass(frozen=True, eq=False)
class Pool:
    """A sample of documents that represents a whole collection.

    Some documents are certain: the judged ones, and those that searches found. The others were
    drawn at random from the rest, and represent that rest."""

    drawn: np.ndarray  # bool[D]: whether the document was drawn at random
    # doc_weight, posting_weight: Documents, and postings, that one of a drawn document represents
    doc_weight: float
    posting_weight: float
    # doc_freq_drawn, total_drawn: int64[V]: A term's postings in drawn documents, and their
    # frequencies
    doc_freq_drawn: np.ndarray
    total_drawn: np.ndarray
    total: np.ndarray  # int64[V]: a term's frequencies in all documents of the matrix
    # int32[V]: terms with the same number have about the same ``doc_freq`` and ``total_term_freq``
    kinds: np.ndarray
    stored_tokens: int  # Sum of the collection's lengths, as norms hold them
    # float64[V]: mean log length of the collection's documents with the term
    mean_log_len: np.ndarray


class Rows(NamedTuple):
    """Postings, term by term."""

    sizes: np.ndarray  # int64[n]: postings of each row
    # tuple of arrays [nnz]: Document numbers first, and what else each posting has; None for what
    # none has
    arrays: tuple[np.ndarray | None, ...]


def term_kinds(doc_freq: np.ndarray, total_term_freq: np.ndarray) -> np.ndarray:
    """Return int32[V]: equal numbers for terms of about the same counts.

    Pruning treats them alike: doc_freq to a half power of two, frequency in a document to a
    quarter of one.
    """
    doc_freq = np.asarray(doc_freq, np.float64)
    often = np.log2(np.asarray(total_term_freq) / doc_freq)
    kinds: np.ndarray = 32 * np.rint(2 * np.log2(doc_freq)) + np.minimum(np.rint(4 * often), 31)
    return kinds.astype(np.int32)


@dataclass(frozen=True, eq=False)
class TokenSequences:
    """The tokens of ``D`` documents in their order, which a matrix of frequencies lacks."""

    terms: np.ndarray  # int32[tokens]: term numbers, document by document
    indptr: np.ndarray  # int64[D + 1]: document ``d`` is ``terms[indptr[d]:indptr[d + 1]]``

    def heads(self, documents: np.ndarray, most: int) -> np.ndarray:
        """Return int32[n, most]: the first terms of ``documents`` int[n]; -1 is padding."""
        starts = np.asarray(self.indptr[documents])
        lengths = np.minimum(np.asarray(self.indptr[documents + 1]) - starts, most)
        places = np.arange(most)
        there = places < lengths[:, None]
        found = np.full(there.shape, -1, np.int32)
        found[there] = self.terms[(starts[:, None] + places)[there]]
        return found


@dataclass(frozen=True, eq=False)
class TermDocumentMatrix:
    """The paper's sparse matrix S (|V| x |C|) of one field, with the statistics around it.

    Documents are the live ones, numbered densely in index order: the numbers a rewritten index
    gives them. A pool is a matrix of some documents, again in index order; ``doc_freq``,
    ``total_term_freq`` and ``doc_count`` are the whole index's in any case. Arrays may be
    memory-mapped and are read-only.
    """

    vocabulary: Vocabulary  # V terms
    doc_ids: ByteStrings  # D external ids (UTF-8)
    indptr: np.ndarray  # int64[V + 1]
    indices: np.ndarray  # int32[nnz]: document numbers, ascending within a term
    data: np.ndarray  # int32[nnz]: term frequencies, at least 1
    doc_freq: np.ndarray  # int64[V]
    total_term_freq: np.ndarray  # int64[V]
    doc_len: np.ndarray  # int64[D]: tokens of the document in this field, its frequencies' sum
    # int64[D]: the norm Lucene stores (a byte's signed value for its own similarities), 0 = none
    norms: np.ndarray
    source: dict[str, Any]  # identity of the index: path, commit id, versions
    # Of a matrix of some documents: ``documents`` and ``doc_count`` of all live ones
    collection: dict[str, Any] | None = None
    # uint16[nnz]: position of the term's first occurrence in the document, at most 65535; None if
    # the field has no positions, or they were not extracted
    first_positions: np.ndarray | None = None
    position_boost: Boost | None = None  # how frequencies are weighted, see ..ranking.postings
    pool: Pool | None = None  # how the documents represent a whole collection, if they do
    sequences: TokenSequences | None = None  # the documents' tokens in order, if extracted
    # Derived from norms and lengths unless given; a matrix of fewer documents or postings keeps
    # that of the one it was made of
    norm_kind: NormKind | None = None
    # int64[D]: ``doc_len`` before postings were dropped from the matrix, which ``norms`` are of;
    # None if none were
    indexed_len: np.ndarray | None = None
    # A :class:`.shards.PostingsInShards`, if there are no documents and postings here; statistics
    # are the whole's
    shards: Any = None

    def __post_init__(self) -> None:
        if self.norm_kind is None:
            object.__setattr__(self, "norm_kind", NormFacts.of(self.norms, self.doc_len).kind)

    def require_postings(self, purpose: str) -> None:
        """Raise :class:`TdvError` unless there are some; ``purpose`` says what for."""
        if not len(self.vocabulary):
            raise TdvError(
                f"no live document has a term in '{self.vocabulary.field}', and {purpose} needs "
                "some: index documents first, or name another field"
            )

    def searched_by(self, asked: str | None) -> str:
        """Return the ranking function ``asked`` for, or else the one that suits the field.

        Raises :class:`TdvError` when there is none, or it would rank the field wrongly.
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
        """Number of postings of the whole collection."""
        return int(np.sum(self.doc_freq))

    @property
    def documents(self) -> int:
        """Number of documents of the whole collection."""
        return len(self.doc_len) if self.collection is None else int(self.collection["documents"])

    @property
    def doc_count(self) -> int:
        """Documents with at least one term: Lucene's N for idf and average length."""
        if self.collection is not None:
            return int(self.collection["doc_count"])
        return int(np.count_nonzero(self.doc_len))

    @property
    def first_documents(self) -> Sequence[int]:
        """Number of the first document of each that :meth:`each` asks."""
        first: Sequence[int] = [0] if self.shards is None else self.shards.first_documents
        return first

    def each(
        self,
        function: Callable[..., Any],
        *by_term: np.ndarray,
        documents: np.ndarray | None = None,
        **further: Any,
    ) -> Iterator[Any]:
        """Yield what ``function`` returns for this matrix or, if it is in shards, for each of them.

        Workers must be able to import it. It is given a matrix of all postings of an index or of a
        shard, with the boost and the kind of norms of this one, and the arguments: arrays
        ``by_term``, of which a shard gets the entries of its own terms, and ``documents`` int64[n],
        ascending, of which it gets those in it, by its own numbers.
        """
        if self.shards is not None:
            yield from self.shards.each(self, function, by_term, documents, further)
        else:
            given = {} if documents is None else {"documents": documents}
            yield function(self, *by_term, **given, **further)

    def add_up(self, parts: Iterable[Sequence[np.ndarray]]) -> list[np.ndarray]:
        """Return sums with an entry a term of what :meth:`each` yields: arrays by term."""
        if self.shards is not None:
            sums: list[np.ndarray] = self.shards.add_up(parts)
            return sums
        (alone,) = parts
        return list(alone)

    def with_position_boost(self, boost: Boost | None) -> TermDocumentMatrix:
        """Return the matrix with this boost."""
        return self if boost == self.position_boost else replace(self, position_boost=boost)

    def tf(self, postings: slice | np.ndarray) -> np.ndarray:
        """Return int32[n] or float32[n]: these postings' frequencies, with the boost if any."""
        if self.position_boost is None:
            return self.data[postings]
        first = None if self.first_positions is None else self.first_positions[postings]
        return self.position_boost.weigh(self.data[postings], first)

    def stored_lengths(self, by_postings: bool = True) -> np.ndarray:
        """Return int64[D] lengths as the norms hold them; exact where the field has none.

        If frequencies are weights, a document's largest takes its length's place, times the root of
        the number of its postings if ``by_postings``.
        """
        if self.norm_kind is not NormKind.ONES:
            if self.norm_kind in (NormKind.EXACT, NormKind.NONE):
                return np.asarray(self.doc_len)
            return np.asarray(_LENGTHS[np.asarray(self.norms, np.int64) & 255])
        largest = np.zeros(len(self.doc_len), np.int64)
        for start in range(0, len(self.data), _BLOCK):
            here = slice(start, start + _BLOCK)
            np.maximum.at(largest, self.indices[here], self.data[here])
        if by_postings:
            postings = np.bincount(self.indices, minlength=len(largest))
            largest = np.minimum(largest * np.sqrt(postings), _LARGEST_INT).astype(np.int64)
        return largest

    def length_norms(self, norm: LengthNorm) -> np.ndarray:
        """Return float64[D]: the length norm K_d of each document."""
        return norm.at(self.stored_lengths(norm.by_postings))

    def counted(self, lengths: np.ndarray) -> np.ndarray:
        """Return float64[D]: how much of the new ``lengths`` of documents norms will count; they
        follow the old ones as in ``tdvlucene.common.NormKind``."""
        if self.norm_kind not in (NormKind.BYTES, NormKind.OVERLAPS):
            return lengths
        before = self.doc_len if self.indexed_len is None else self.indexed_len
        stored = self.stored_lengths()
        is_whole = (stored == lucene_length(before)) | (lengths == 0)
        followed = np.maximum(np.rint(stored / np.maximum(before, 1) * lengths), 1)
        return np.asarray(np.where(is_whole, lengths, followed))


# Passes over all postings, with the memory of one block


class Block(NamedTuple):
    """Consecutive terms."""

    # terms, postings: Into arrays with an entry a term, and a posting
    terms: slice
    postings: slice
    sizes: np.ndarray  # int64[n]: postings of each term


def blocks(indptr: np.ndarray, size: int | None = None) -> Iterator[Block]:
    """Yield all terms, about ``size`` postings at a time."""
    edges = np.searchsorted(indptr, np.arange(0, indptr[-1], size or _BLOCK))
    edges = np.unique(np.append(edges, len(indptr) - 1))
    for first, last in itertools.pairwise(edges.tolist()):
        postings = slice(int(indptr[first]), int(indptr[last]))
        yield Block(slice(first, last), postings, np.diff(indptr[first : last + 1]))


def row_sums(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return float64[n]: sums of consecutive rows, exact for whole numbers; a row may be empty."""
    sums, held = np.zeros(len(sizes)), sizes > 0
    starts = np.cumsum(sizes) - sizes
    sums[held] = np.add.reduceat(values, starts[held], dtype=np.float64)
    return sums


def release(matrix: TermDocumentMatrix) -> None:
    """Return the memory of what was read of a memory-mapped matrix.

    The system would do so when memory is short, but until then a reader of the whole matrix looks
    as if it held it.
    """
    for array in (matrix.indices, matrix.data, matrix.first_positions):
        mapped = getattr(array, "_mmap", None)
        if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED)


# The folder of a matrix


def load_matrix(path: StrPath) -> TermDocumentMatrix:
    """Open a folder written by :func:`.extract.extract_matrix`, memory-mapped and read-only.

    All files are compared with the sizes in the manifest, those of up to 64 MiB with the digests.
    Raises :class:`TdvError` when ``path`` is not such a folder.
    """
    manifest = read_manifest(path, KIND, _MADE_BY)
    check_files(path, manifest, _MADE_BY, digests_up_to=_DIGESTED)
    return open_arrays(Path(path), manifest)


def open_arrays(folder: Path, manifest: dict[str, Any]) -> TermDocumentMatrix:
    """Map the arrays in ``folder``, whose manifest need not be written yet."""

    def array(name: str) -> np.ndarray:
        return map_array(folder / f"{name}.npy")

    def strings(name: str) -> ByteStrings:
        return ByteStrings(array(name), array(f"{name}_indptr"))

    _log.info("opening the matrix %s of field '%s'", folder, manifest["field"])
    arrays: dict[str, Any] = {name: array(name) for name in _ARRAYS}
    if (folder / f"{_POSITIONS}.npy").exists():
        arrays[_POSITIONS] = array(_POSITIONS)
    if (folder / "tokens.npy").exists():
        arrays["sequences"] = TokenSequences(array("tokens"), array("tokens_indptr"))
    if manifest.get("norms") == NormKind.OVERLAPS.name:  # others can be told
        arrays["norm_kind"] = NormKind.OVERLAPS
    vocabulary = Vocabulary(manifest["field"], strings("terms"))
    return TermDocumentMatrix(vocabulary, strings("doc_ids"), source=manifest["source"], **arrays)


def describe_matrix(matrix: TermDocumentMatrix) -> dict[str, Any]:
    """Return the manifest of a matrix: sizes and identity."""
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
        "norms": matrix.norm_kind.name if matrix.norm_kind else None,
    }
