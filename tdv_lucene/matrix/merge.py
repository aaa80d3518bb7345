"""Several matrices, of documents one after another, as one: a merge of their sorted terms."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np

from ..errors import TdvError
from ..progress import Progress, silent
from .term_document_matrix import TermDocumentMatrix

_TERMS_AT_ONCE = 1 << 17
_POSTINGS_AT_ONCE = 1 << 22
_HEADER_BYTES = 128  # what NumPy takes for an array of one dimension
_MOST_DOCUMENTS = np.iinfo(np.int32).max

_DTYPES: dict[str, type[np.generic]] = {
    "terms": np.uint8,
    "terms_indptr": np.int64,
    "indptr": np.int64,
    "indices": np.int32,
    "data": np.int32,
    "doc_freq": np.int64,
    "total_term_freq": np.int64,
    "first_positions": np.uint16,
    "doc_len": np.int64,
    "norms": np.int64,
    "doc_ids": np.uint8,
    "doc_ids_indptr": np.int64,
}


def merge_matrices(
    parts: Sequence[TermDocumentMatrix], folder: Path, progress: Progress = silent
) -> None:
    """Write the arrays of all documents of ``parts``, one part's after another's, into ``folder``.

    They are those of a matrix that was extracted from all documents at once. Memory: some million
    postings and some hundred thousand terms, whatever the parts hold.

    Raises :class:`TdvError` when they hold more documents together than a matrix can number.

    Parameters
    ----------
    parts
        Of one field. First positions are written where every part with postings has them.
    """
    bases = [0, *itertools.accumulate(len(part.doc_len) for part in parts)]
    if bases[-1] > _MOST_DOCUMENTS:
        raise TdvError(
            f"the shards hold {bases[-1]:,} documents, and a matrix numbers at most "
            f"{_MOST_DOCUMENTS:,}: learn from some of them"
        )
    positions = all(part.first_positions is not None or not part.postings for part in parts)
    wanted = [name for name in _DTYPES if positions or name != "first_positions"]
    with ExitStack() as opened:
        arrays = {
            name: opened.enter_context(closing(_Array(folder / f"{name}.npy", _DTYPES[name])))
            for name in wanted
        }
        writer = _Writer(parts, bases, arrays)
        for bounds, stop in _blocks(parts):
            writer.write_terms(bounds, stop)
            done = sum(int(part.indptr[end]) for part, (_, end) in zip(parts, bounds))
            progress("merge postings", done, sum(part.postings for part in parts))
        writer.write_documents()


class _Array:
    """An ``.npy`` file of one dimension that grows; the header comes when its length is known."""

    def __init__(self, path: Path, dtype: type[np.generic]) -> None:
        self._file = open(path, "xb")  # noqa: SIM115 - closed by close()
        self._dtype = np.dtype(dtype)
        self._length = 0
        self._file.write(bytes(_HEADER_BYTES))

    def append(self, part: np.ndarray) -> None:
        self._file.write(np.ascontiguousarray(part, self._dtype).data)
        self._length += len(part)

    def close(self) -> None:
        with self._file as file:
            file.seek(0)
            header = {
                "descr": np.lib.format.dtype_to_descr(self._dtype),
                "fortran_order": False,
                "shape": (self._length,),
            }
            np.lib.format.write_array_header_1_0(file, header)
            assert file.tell() == _HEADER_BYTES


Bounds = Sequence[tuple[int, int]]
"""Of each part, the first term of a block and the one after its last."""


def _blocks(parts: Sequence[TermDocumentMatrix]) -> Iterator[tuple[Bounds, bytes | None]]:
    """Ranges of the merged vocabulary that fit into memory; in order, together all of it.

    With a range comes its one term where that has more postings than are read at once, else None.
    """
    terms = [part.vocabulary.terms for part in parts]
    most = max(1, _POSTINGS_AT_ONCE // len(parts))
    at = [0] * len(parts)
    while True:
        left = [i for i in range(len(parts)) if at[i] < len(terms[i])]
        if not left:
            return
        lead = min(terms[i][at[i]] for i in left)
        leading = [i for i in left if terms[i][at[i]] == lead]
        sizes = [int(parts[i].indptr[at[i] + 1] - parts[i].indptr[at[i]]) for i in leading]
        ends = list(at)
        if max(sizes) > most:
            for i in leading:
                ends[i] += 1
            yield [*zip(at, ends)], lead
        else:
            stop = _stop(parts, at, left, most)
            for i in left:
                ends[i] = len(terms[i]) if stop is None else bisect_left(terms[i], stop, at[i])
            yield [*zip(at, ends)], None
        at = ends


def _stop(
    parts: Sequence[TermDocumentMatrix], at: Sequence[int], left: Sequence[int], most: int
) -> bytes | None:
    """The first term that does not fit into the block beginning ``at`` these; None for none."""
    stops = []
    for i in left:
        indptr, terms = parts[i].indptr, parts[i].vocabulary.terms
        end = int(np.searchsorted(indptr, indptr[at[i]] + most, side="right")) - 1
        end = min(end, at[i] + _TERMS_AT_ONCE)
        if end < len(terms):
            stops.append(terms[end])
    return min(stops, default=None)


class _Writer:
    """Writes blocks of terms, then the documents."""

    def __init__(
        self,
        parts: Sequence[TermDocumentMatrix],
        bases: Sequence[int],
        arrays: dict[str, _Array],
    ) -> None:
        self._parts = parts
        self._bases = bases
        self._arrays = arrays
        self._text_bytes = self._postings = 0
        for name in ("terms_indptr", "indptr", "doc_ids_indptr"):
            arrays[name].append(np.zeros(1))

    def write_terms(self, bounds: Bounds, long: bytes | None) -> None:
        """Write a block; ``long`` is its one term where its lists are not to be held in memory."""
        own = [p.vocabulary.terms.between(*b) for p, b in zip(self._parts, bounds)]
        terms = sorted(set().union(*own))
        number = {term: i for i, term in enumerate(terms)}
        places = [np.fromiter(map(number.__getitem__, part), np.int64, len(part)) for part in own]
        self._write_vocabulary(terms)
        counts = self._write_counts(bounds, places, len(terms))
        if long is None:
            self._write_block(bounds, places, counts)
            return
        for name in self._posting_arrays():
            for i, (first, end) in enumerate(bounds):
                start, last = self._parts[i].indptr[[first, end]]
                for low in range(int(start), int(last), _POSTINGS_AT_ONCE):
                    part = slice(low, min(low + _POSTINGS_AT_ONCE, int(last)))
                    self._arrays[name].append(self._read(name, i, part))

    def _posting_arrays(self) -> list[str]:
        return [n for n in ("indices", "data", "first_positions") if n in self._arrays]

    def _read(self, name: str, part: int, postings: slice) -> np.ndarray:
        found: np.ndarray = getattr(self._parts[part], name)[postings]
        return found + np.int32(self._bases[part]) if name == "indices" else found

    def _write_vocabulary(self, terms: Sequence[bytes]) -> None:
        self._arrays["terms"].append(np.frombuffer(b"".join(terms), np.uint8))
        ends = self._text_bytes + np.cumsum([len(term) for term in terms])
        self._arrays["terms_indptr"].append(ends)
        self._text_bytes = int(ends[-1])

    def _write_counts(self, bounds: Bounds, places: Sequence[np.ndarray], terms: int) -> np.ndarray:
        """Write the terms' statistics; return int64[parts, terms], the postings of each."""
        doc_freq, total = np.zeros((2, terms), np.int64)
        counts = np.zeros((len(places), terms), np.int64)
        for i, (part, (first, end), at) in enumerate(zip(self._parts, bounds, places)):
            doc_freq[at] += part.doc_freq[first:end]
            total[at] += part.total_term_freq[first:end]
            counts[i, at] = np.diff(part.indptr[first : end + 1])
        ends = self._postings + np.cumsum(counts.sum(axis=0))
        self._arrays["doc_freq"].append(doc_freq)
        self._arrays["total_term_freq"].append(total)
        self._arrays["indptr"].append(ends)
        self._postings = int(ends[-1])
        return counts

    def _write_block(
        self, bounds: Bounds, places: Sequence[np.ndarray], counts: np.ndarray
    ) -> None:
        """Every term's postings of the first part, then of the second, and so on."""
        lists = np.concatenate([[0], counts.T.ravel().cumsum()])  # by term, then by part
        starts = lists[:-1].reshape(counts.shape[1], counts.shape[0])
        blocks = {n: np.empty(lists[-1], _DTYPES[n]) for n in self._posting_arrays()}
        for i, ((first, end), at) in enumerate(zip(bounds, places)):
            indptr = np.asarray(self._parts[i].indptr[first : end + 1])
            postings = slice(int(indptr[0]), int(indptr[-1]))
            shift = starts[at, i] - indptr[:-1]
            to = np.repeat(shift, np.diff(indptr)) + np.arange(indptr[0], indptr[-1])
            for name, block in blocks.items():
                if postings.stop > postings.start:
                    block[to] = self._read(name, i, postings)
        for name, block in blocks.items():
            self._arrays[name].append(block)

    def write_documents(self) -> None:
        id_bytes = 0
        for part in self._parts:
            for name in ("doc_len", "norms"):
                self._arrays[name].append(getattr(part, name))
            self._arrays["doc_ids"].append(part.doc_ids.data)
            self._arrays["doc_ids_indptr"].append(part.doc_ids.indptr[1:] + id_bytes)
            id_bytes += len(part.doc_ids.data)
