"""The matrix of an index in shards: statistics here, and each shard's postings where it lies.

A worker extracts its shard's matrix into a temporary folder on its own machine when it is first
asked for something, and keeps it until the last question. What it is asked for adds up: counts of
terms, histograms, what a cut leaves; or it is small: documents of a pool. A
worker that comes in place of one that died extracts anew, so it gives the same answer.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..arguments import cores
from ..errors import TdvError
from ..index.index import Index
from ..index.sharded import ShardedIndex
from ..interruption import check
from ..progress import Progress, silent
from ..ranking.postings import Boost
from ..source import Part
from ..vocabulary import ByteStrings, Vocabulary
from .term_document_matrix import (
    NormFacts,
    NormKind,
    Rows,
    TermDocumentMatrix,
    blocks,
    open_arrays,
    release,
    row_sums,
)


@contextmanager
def matrix_of_shards(
    index: ShardedIndex, positions: bool, progress: Progress = silent
) -> Iterator[TermDocumentMatrix]:
    """Yield the matrix of the field that shards were opened for; ``positions`` of first occurrences
    are known if the index has some."""
    key = secrets.token_hex(8)
    try:
        yield _count_shards(index, key, positions, progress)
    finally:
        index.workers.everywhere(_forget, key)


class _Asked(NamedTuple):
    """A shard, as a worker needs to know it."""

    commit: str
    field: str
    positions: bool
    threads: int | None
    key: str


class _Counts(NamedTuple):
    """A worker's answer to the first question."""

    terms: ByteStrings
    doc_freq: np.ndarray
    total_term_freq: np.ndarray
    doc_count: int
    norms: NormFacts
    has_positions: bool


class _Share(NamedTuple):
    """A shard as it is kept here: the numbers of its terms in the whole."""

    asked: _Asked
    documents: int
    numbers: np.ndarray


def _count_shards(
    index: ShardedIndex, key: str, positions: bool, progress: Progress
) -> TermDocumentMatrix:
    """Ask for the statistics of terms, and merge them by term."""
    given = index.field, positions, index.workers.threads, key
    asked = {part: _Asked(commit, *given) for part, commit in index.commits.items()}
    tasks: dict[Part, Sequence[Any]] = {
        part: (one, None, None, _count, (), {}) for part, one in asked.items()
    }
    found: list[_Counts] = []

    def terms_of_each() -> Iterator[ByteStrings]:
        for one in index.workers.results(_answer, tasks, "count terms", progress):
            found.append(one._replace(terms=ByteStrings.of(())))  # terms take most of the memory
            yield one.terms

    terms, numbers = merge_terms(terms_of_each())
    shares = {
        part: _Share(asked[part], index.documents_of[part], number)
        for (part, one), number in zip(zip(asked, found), numbers)
    }
    shards = PostingsInShards(index, shares, len(terms), progress)
    doc_freq, total = shards.add_up((one.doc_freq, one.total_term_freq) for one in found)
    none = np.zeros(0, np.int32)
    return TermDocumentMatrix(
        Vocabulary(index.field, terms),
        ByteStrings.of(()),
        indptr=np.zeros(len(terms) + 1, np.int64),
        indices=none,
        data=none,
        doc_freq=doc_freq,
        total_term_freq=total,
        doc_len=none.astype(np.int64),
        norms=none.astype(np.int64),
        source=index.identity,
        collection={
            "documents": index.identity["documents"],
            "doc_count": sum(one.doc_count for one in found),
        },
        first_positions=none.astype(np.uint16) if any(o.has_positions for o in found) else None,
        norm_kind=NormFacts.sum(one.norms for one in found).kind,
        shards=shards,
    )


def _count(matrix: TermDocumentMatrix) -> _Counts:
    terms = matrix.vocabulary.terms
    return _Counts(
        ByteStrings(np.array(terms.data), np.array(terms.indptr)),
        np.asarray(matrix.doc_freq, np.int32),
        np.array(matrix.total_term_freq),
        matrix.doc_count,
        NormFacts.of(matrix.norms, matrix.doc_len, matrix.norm_kind is NormKind.OVERLAPS),
        matrix.first_positions is not None,
    )


def merge_terms(parts: Iterable[ByteStrings]) -> tuple[ByteStrings, list[np.ndarray]]:
    """Return all terms in order, and int32[n] for each part: the numbers of its terms among them.

    Holds one part at a time.
    """
    met: dict[bytes, int] = {}
    numbers = [
        np.array([met.setdefault(term, len(met)) for term in part.between(0, len(part))], np.int32)
        for part in parts
    ]
    merged = sorted(met)
    places = np.zeros(len(merged), np.int32)
    places[[met[term] for term in merged]] = np.arange(len(merged))
    return ByteStrings.of(merged), [places[each] for each in numbers]


class PostingsInShards:
    """Where the postings of a :class:`.TermDocumentMatrix` are that holds none."""

    def __init__(
        self, index: ShardedIndex, shares: Mapping[Part, _Share], terms: int, progress: Progress
    ) -> None:
        self._index, self._shares, self._terms = index, shares, terms
        self._progress = progress
        self.numbers = [share.numbers for share in shares.values()]
        documents = [share.documents for share in shares.values()]
        self.first_documents: Sequence[int] = np.cumsum([0, *documents])[:-1].tolist()

    def each(
        self,
        matrix: TermDocumentMatrix,
        function: Callable[..., Any],
        by_term: Sequence[np.ndarray],
        documents: np.ndarray | None,
        further: dict[str, Any],
    ) -> Iterator[Any]:
        """Yield the answer of each shard, in order; see :meth:`.TermDocumentMatrix.each`."""
        arguments = []
        for first, share in zip(self.first_documents, self._shares.values()):
            here: dict[str, Any] = {}
            if documents is not None:
                span = slice(*np.searchsorted(documents, [first, first + share.documents]).tolist())
                here = {"documents": documents[span] - first}
            arguments.append(([array[share.numbers] for array in by_term], {**further, **here}))
        tasks = {
            part: (share.asked, matrix.norm_kind, matrix.position_boost, function, *given)
            for (part, share), given in zip(self._shares.items(), arguments)
        }
        return self._index.workers.results(_answer, tasks, "ask shards", self._progress)

    def add_up(self, parts: Iterable[Sequence[np.ndarray]]) -> list[np.ndarray]:
        """Return sums with an entry a term of the whole, of arrays by the shards' own terms."""
        sums: list[np.ndarray] = []
        for share, arrays in zip(self._shares.values(), parts):
            if not sums:
                kinds = (np.int64 if array.dtype.kind in "iub" else np.float64 for array in arrays)
                sums = [np.zeros(self._terms, kind) for kind in kinds]
            for whole, array in zip(sums, arrays):
                whole[share.numbers] += array
        return sums


def interleave(
    parts: Sequence[Rows], numbers: Sequence[np.ndarray], documents: Sequence[int], number: int
) -> Rows:
    """Return ``number`` rows, each with the postings of the rows of all parts with its number.

    ``documents`` is added to the document numbers of each part.
    """
    sizes = np.zeros(number, np.int64)
    for part, of in zip(parts, numbers):
        sizes[of] += part.sizes
    filled = np.cumsum(sizes) - sizes
    of_first = [np.zeros(0, np.int32) if array is None else array for array in parts[0].arrays]
    arrays = [np.zeros(int(sizes.sum()), array.dtype) for array in of_first]
    is_there = [any(part.arrays[i] is not None for part in parts) for i in range(len(arrays))]
    for part, of, first in zip(parts, numbers, documents):
        begins = np.cumsum(part.sizes) - part.sizes
        places = np.repeat(filled[of] - begins, part.sizes) + np.arange(int(part.sizes.sum()))
        for i, array in enumerate(part.arrays):
            if array is not None:
                arrays[i][places] = array + first if i == 0 else array
        filled[of] += part.sizes
    return Rows(sizes, tuple(a if there else None for a, there in zip(arrays, is_there)))


# Parts of a matrix, wherever its postings are


def select_documents(
    matrix: TermDocumentMatrix, documents: np.ndarray, progress: Progress = silent
) -> tuple[TermDocumentMatrix, np.ndarray]:
    """Return the matrix of ``documents`` int[n], ascending, and float64[V]: the mean log length of
    the collection's documents with a term.

    One pass. Memory: 10 bytes a posting selected, a block, and 8 bytes for each document of the
    whole.
    """
    if matrix.shards is None:
        parts = [_select(matrix, documents, progress)]
        rows = parts[0].rows
    else:
        progress("read the pool's documents", 0, 0)
        parts = list(matrix.each(_select, documents=documents))
        first = np.cumsum([0, *(len(part.doc_len) for part in parts)]).tolist()
        rows = interleave(
            [part.rows for part in parts], matrix.shards.numbers, first, len(matrix.doc_freq)
        )
    indices, data, first_positions = rows.arrays
    assert indices is not None and data is not None
    selected = replace(
        matrix,
        doc_ids=ByteStrings.joined([part.doc_ids for part in parts]),
        indptr=np.concatenate([[0], np.cumsum(rows.sizes)]),
        indices=indices,
        data=data,
        first_positions=first_positions,
        sequences=None,  # nothing reads those of some documents
        doc_len=np.concatenate([part.doc_len for part in parts]),
        norms=np.concatenate([part.norms for part in parts]),
        collection={"documents": matrix.documents, "doc_count": matrix.doc_count},
        shards=None,
    )
    (log_lens,) = matrix.add_up([part.log_lens] for part in parts)
    return selected, log_lens / np.maximum(matrix.doc_freq, 1)


class _Selected(NamedTuple):
    """Some documents of a matrix, and float64[V] sums of the log lengths of all."""

    rows: Rows
    doc_ids: ByteStrings
    doc_len: np.ndarray
    norms: np.ndarray
    log_lens: np.ndarray


def _select(
    matrix: TermDocumentMatrix, documents: np.ndarray, progress: Progress = silent
) -> _Selected:
    numbers = np.full(matrix.shape[1], -1, np.int32)
    numbers[documents] = np.arange(len(documents), dtype=np.int32)
    log_len = np.log1p(np.asarray(matrix.doc_len, np.float32))
    sizes, log_lens = np.zeros(matrix.shape[0], np.int64), np.zeros(matrix.shape[0])
    indices, data = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    first_positions = [np.zeros(0, np.uint16)]
    for terms, span, row_sizes in blocks(matrix.indptr):
        check()
        progress("read the pool's documents", span.start, matrix.postings)
        docs = np.asarray(matrix.indices[span])
        rows = numbers[docs]
        kept = np.flatnonzero(rows >= 0)
        ends = np.searchsorted(kept, np.cumsum(row_sizes))
        sizes[terms] = np.diff(ends, prepend=0)
        # Exact in any order: float32 has 24 bits, and there are 53.
        log_lens[terms] = row_sums(log_len[docs], row_sizes)
        indices.append(rows[kept])
        data.append(matrix.data[span][kept])
        if matrix.first_positions is not None:
            first_positions.append(matrix.first_positions[span][kept])
        release(matrix)
    are_placed = matrix.first_positions is not None
    first = np.concatenate(first_positions) if are_placed else None
    return _Selected(
        Rows(sizes, (np.concatenate(indices), np.concatenate(data), first)),
        ByteStrings.of(matrix.doc_ids[doc] for doc in documents.tolist()),
        np.array(matrix.doc_len[documents]),
        np.array(matrix.norms[documents]),
        log_lens,
    )


# In a worker


def _answer(
    folder: str,
    asked: _Asked,
    norm_kind: NormKind | None,
    boost: Boost | None,
    function: Callable[..., Any],
    by_term: Sequence[Any],
    further: Mapping[str, Any],
) -> Any:
    """Return what the function gives for the shard in a folder."""
    arrays = _home(asked.key) / asked.commit
    if not arrays.exists():
        _extract(folder, asked, arrays)
    matrix = open_arrays(arrays, {"field": asked.field, "source": {"commit": asked.commit}})
    kind = norm_kind or matrix.norm_kind
    return function(replace(matrix, norm_kind=kind, position_boost=boost), *by_term, **further)


def _extract(folder: str, asked: _Asked, arrays: Path) -> None:
    from ..jvm.index import extract_arrays

    arrays.parent.mkdir(exist_ok=True)
    with Index.open(folder) as shard:
        if shard.commit != asked.commit:  # then what was counted is of other documents
            raise TdvError(f"{folder} was changed while it was read: run the command again")
        unfinished = Path(tempfile.mkdtemp(dir=arrays.parent))
        extract_arrays(
            shard, asked.field, unfinished,
            threads=cores(asked.threads), positions=asked.positions,
        )  # fmt: skip
    try:
        os.rename(unfinished, arrays)
    except OSError:  # another worker of this machine was as fast
        shutil.rmtree(unfinished, ignore_errors=True)


def _home(key: str) -> Path:
    return Path(tempfile.gettempdir()) / f"tdv-lucene-{key}"


def _forget(key: str) -> None:
    home = _home(key)
    gone = home.with_name(f"{home.name}-{os.getpid()}")
    with suppress(FileNotFoundError):  # another worker of this machine was as fast
        home.rename(gone)  # at once, so that nothing that is still extracted stays behind
        shutil.rmtree(gone, ignore_errors=True)
