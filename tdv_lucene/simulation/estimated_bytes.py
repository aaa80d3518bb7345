"""The bytes of an index that has not been written."""

from __future__ import annotations

import numpy as np

from ..matrix.norms import norm_bytes
from ..matrix.pool import Pool
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..ranking import Statistics
from ..vocabulary import ByteStrings
from .list_sample import sample_bytes
from .posting_bytes import LUCENE_9, PostingFormat, posting_bytes
from .weighted_collection import WeightedCollection

_SAMPLE = 1 << 20
"""Postings looked at, about."""
_HALF_BLOCK = 16
"""Lucene's blocks of terms have 25 to 48."""


def estimate_bytes(matrix: TermDocumentMatrix, collection: WeightedCollection) -> int:
    """Return the bytes of the posting lists and of the dictionary, both estimated as below."""
    dictionary = estimate_dictionary_bytes(matrix.vocabulary.terms, collection.statistics)
    return estimate_posting_bytes(matrix, collection) + dictionary


def estimate_posting_bytes(
    matrix: TermDocumentMatrix, collection: WeightedCollection, form: PostingFormat | None = None
) -> int:
    """Return the bytes of the posting lists of ``collection``, from lists of every length.

    Terms are sampled at equal steps in order of what is left of their lists. Against the ``.doc``
    files Lucene wrote it was within 3 % (see ``tests/integration/test_posting_files.py``). ``form``
    None is that of the matrix's index.
    """
    form = form or posting_format(matrix)
    if matrix.pool is not None:
        return _bytes_of_pool(matrix, matrix.pool, collection, form)
    doc_freq = _lists_left(collection.statistics)
    every = max(1, int(doc_freq.sum()) // _SAMPLE)
    by_size = np.argsort(doc_freq, kind="stable")
    by_size = by_size[np.searchsorted(doc_freq[by_size], 2) :]  # lists of one take no bytes
    terms = np.sort(by_size[every // 2 :: every])
    sizes = np.diff(matrix.indptr)[terms]
    ends = np.cumsum(sizes)
    if not len(ends):
        return 0
    postings = np.repeat(matrix.indptr[terms] - (ends - sizes), sizes) + np.arange(ends[-1])
    tf = collection.stored_tf(np.repeat(terms, sizes), matrix.tf(postings))
    docs, tf = np.asarray(matrix.indices[postings])[tf > 0], tf[tf > 0]
    sizes = sizes * (collection.tdv[terms] > 0)
    norms = norm_bytes(collection.doc_len)[docs]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    return every * posting_bytes(indptr, docs, tf.astype(np.int64), norms, form)


def _bytes_of_pool(
    matrix: TermDocumentMatrix, pool: Pool, collection: WeightedCollection, form: PostingFormat
) -> int:
    assert collection.cut is None  # what a rule drops is dropped from the pool's lists before
    before = max(1, pool.stored_tokens) / max(1, matrix.doc_count)
    shorter = float(collection.statistics.avg_doc_len) / before
    return sample_bytes(
        pool.lists, matrix.position_boost, collection.tdv, collection.scale,
        _lists_left(collection.statistics), shorter, form,
    )  # fmt: skip


def _lists_left(left: Statistics) -> np.ndarray:
    """Return int64[V]: the lengths of the lists, 0 for a term that is dropped."""
    return np.where(left.total_term_freq > 0, left.doc_freq, 0).astype(np.int64)


def posting_format(matrix: TermDocumentMatrix) -> PostingFormat:
    """Return the postings format of the matrix's index."""
    return PostingFormat.of(matrix.source.get("lucene_version", ""))


def estimate_dictionary_bytes(
    terms: ByteStrings, statistics: Statistics, *, positions: bool = False
) -> int:
    """Return the bytes of a field's terms in Lucene's dictionary, ``positions`` or not.

    A term takes its bytes beyond those that the 30 or so terms of its block share, one byte for
    their number, its counts, and where its list begins. The posting of a term with only one stands
    there instead of a list, and runs of terms that occur once share their counts. ``statistics``
    float64[V] are those of the index; a term whose ``total_term_freq`` is 0 is not in it. The
    difference between two indexes made of the same one was predicted to a tenth (wiki165k: of 6.3
    and 2.7 MB).
    """
    kept = np.flatnonzero(statistics.total_term_freq > 0)
    doc_freq = np.asarray(statistics.doc_freq)[kept].astype(np.int64)
    total = np.rint(np.asarray(statistics.total_term_freq)[kept]).astype(np.int64)
    alone = doc_freq == 1
    counted = _variable(2 * doc_freq) + _variable(total - doc_freq)
    counts = np.where(alone & (total == 1), 0, counted)
    # Lists take about three bytes a posting in their tails, two in blocks.
    lists = np.where(doc_freq < LUCENE_9.block, 3, 2) * doc_freq
    skips = np.where(doc_freq > LUCENE_9.block, _variable(doc_freq // 8), 0)
    place = np.where(alone, 3, _variable(2 * lists) + skips)
    if positions:
        place = place + _variable(total) + np.where(total > LUCENE_9.block, 2, 0)
    lengths = np.diff(terms.indptr)[kept]
    beyond = int(lengths.sum()) - _shared(terms, kept)
    return int(beyond + len(kept) + counts.sum() + place.sum())


def _variable(numbers: np.ndarray) -> np.ndarray:
    """Return int64[n]: bytes of Lucene's variable-length integers."""
    bits = np.frexp(np.maximum(numbers, 1).astype(np.float64))[1]
    return np.asarray((bits + 6) // 7)


def _shared(terms: ByteStrings, kept: np.ndarray) -> int:
    """Return how many bytes the terms ``kept`` int64[n] share with the term half a block on."""
    first, other = kept[:-_HALF_BLOCK], kept[_HALF_BLOCK:]
    shortest = np.minimum(*(np.diff(terms.indptr)[some] for some in (first, other)))
    alike, shared = np.ones(len(first), bool), 0
    for place in range(int(shortest.max(initial=0))):
        alike &= shortest > place
        at = np.flatnonzero(alike)
        if not len(at):
            break
        same = terms.data[terms.indptr[first[at]] + place]
        alike[at] = same == terms.data[terms.indptr[other[at]] + place]
        shared += int(np.count_nonzero(alike))
    return shared
