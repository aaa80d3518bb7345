"""Documents of a matrix, and stretches of its lists, wherever its postings are."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..interruption import check
from ..progress import Progress, silent
from ..vocabulary import ByteStrings
from .term_document_matrix import Rows, TermDocumentMatrix, blocks, release, row_sums


def select_documents(
    matrix: TermDocumentMatrix, documents: np.ndarray, progress: Progress = silent
) -> tuple[TermDocumentMatrix, np.ndarray]:
    """Return the matrix of ``documents``, and each term's mean log length over the collection.

    One pass. Memory: 10 bytes a posting selected, a block, and 8 bytes for each document of the
    whole. The second result is float64[V], over all documents with the term.

    Parameters
    ----------
    documents : int[n]
        Numbers, ascending.
    """
    if matrix.shards is None:
        parts = [_select(matrix, documents, progress)]
        rows = parts[0].rows
    else:
        progress("read the pool's documents", 0, 0)
        parts = list(matrix.each(_select, documents=documents))
        first = np.cumsum([0, *(len(part.doc_len) for part in parts)]).tolist()
        rows = matrix.shards.join([part.rows for part in parts], first)
    indices, data, first_positions = rows.arrays
    assert indices is not None and data is not None
    selected = replace(
        matrix,
        doc_ids=ByteStrings.of(name for part in parts for name in part.doc_ids),
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
        kept = rows >= 0
        sizes[terms] = row_sums(kept, row_sizes)
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


def read_lists(
    matrix: TermDocumentMatrix, terms: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> Rows:
    """Return stretches of posting lists, int64[n] each, counted from a list's beginning: document
    numbers, frequencies, first positions and the documents' stored lengths."""
    if matrix.shards is not None:
        return matrix.shards.read_lists(matrix, terms, starts, ends)
    at = np.asarray(matrix.indptr)[terms]
    spans = [slice(start, end) for start, end in zip((at + starts).tolist(), (at + ends).tolist())]

    def take(array: np.ndarray) -> np.ndarray:
        return np.concatenate([array[:0], *(array[span] for span in spans)])

    docs, first = take(matrix.indices), matrix.first_positions
    lengths = matrix.stored_lengths()[docs]
    placed = None if first is None else take(first)
    return Rows(ends - starts, (docs, take(matrix.data), placed, lengths))
