"""The rows of some documents, read from a whole matrix in one pass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..interruption import check
from ..progress import Progress, silent
from ..vocabulary import ByteStrings
from .blocks import blocks, release, row_sums
from .term_document_matrix import TermDocumentMatrix


def select_documents(
    matrix: TermDocumentMatrix, documents: np.ndarray, progress: Progress = silent
) -> tuple[TermDocumentMatrix, np.ndarray]:
    """Return the matrix of these ``documents``, and float64[V] of all: see below.

    The vocabulary, ``doc_freq``, ``total_term_freq`` and
    ``doc_count`` stay those of the whole. The second is the mean log length of all the documents
    that a term is in, for which no second pass shall be needed. Memory: what the rows take (10
    bytes a posting), a block, and 8 bytes for each document of the whole.

    Parameters
    ----------
    documents : int[n]
        Numbers, ascending.
    """
    numbers = np.full(matrix.shape[1], -1, np.int32)
    numbers[documents] = np.arange(len(documents), dtype=np.int32)
    log_len = np.log1p(np.asarray(matrix.doc_len, np.float32))
    sizes, log_lens = np.zeros(matrix.shape[0], np.int64), np.zeros(matrix.shape[0])
    indices, data, first_positions = [], [], []
    for terms, span, row_sizes in blocks(matrix.indptr):
        check()
        progress("read the pool's documents", span.start, matrix.postings)
        docs = np.asarray(matrix.indices[span])
        rows = numbers[docs]
        kept = rows >= 0
        sizes[terms] = row_sums(kept, row_sizes)
        log_lens[terms] = row_sums(log_len[docs], row_sizes)
        indices.append(rows[kept])
        data.append(matrix.data[span][kept])
        if matrix.first_positions is not None:
            first_positions.append(matrix.first_positions[span][kept])
        release(matrix)
    selected = replace(
        matrix,
        doc_ids=ByteStrings.of(matrix.doc_ids[doc] for doc in documents.tolist()),
        indptr=np.concatenate([[0], np.cumsum(sizes)]),
        indices=np.concatenate(indices),
        data=np.concatenate(data),
        first_positions=np.concatenate(first_positions) if first_positions else None,
        sequences=None,  # nothing reads those of some documents
        doc_len=np.array(matrix.doc_len[documents]),
        norms=np.array(matrix.norms[documents]),
        collection={"documents": matrix.shape[1], "doc_count": matrix.doc_count},
    )
    return selected, log_lens / np.maximum(matrix.doc_freq, 1)
