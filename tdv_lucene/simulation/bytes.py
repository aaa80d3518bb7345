"""The bytes of an index that has not been written: Lucene's posting lists and dictionary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..matrix.term_document_matrix import TermDocumentMatrix, norm_bytes
from ..ranking import Statistics
from ..values.term_values import TermValues
from ..vocabulary import ByteStrings
from .collection import WeightedCollection

_EXCEPTIONS = 7
_IMPACT_BYTES = 1.6  # measured: a pair of frequency and norm takes one byte or two
_SAMPLE = 1 << 20  # postings looked at, about
_HALF_BLOCK = 16  # Lucene's blocks of terms have 25 to 48


class PostingFormat(NamedTuple):
    """A postings format of Lucene."""

    # Postings packed together; those after the last full block of a list are variable bytes
    block: int
    bit_sets: bool  # Whether dense blocks of documents are stored as bit sets
    block_overhead: float  # Bytes of a full block for skipping over it, besides its impacts
    impact_levels: float  # Impacts of several blocks together, as a share of those of single blocks

    def with_positions(self) -> PostingFormat:
        """Return the format of fields with positions, to which blocks skip (measured: wiki165k)."""
        return self._replace(block_overhead=self.block_overhead + 3.3)


LUCENE_9 = PostingFormat(128, False, 6.0, 0.25)  # ``Lucene99PostingsFormat``
LUCENE_10 = PostingFormat(256, True, 6.0, 0.05)  # ``Lucene104PostingsFormat``


def posting_bytes(
    indptr: np.ndarray,
    docs: np.ndarray,
    freqs: np.ndarray,
    norms: np.ndarray,
    form: PostingFormat = LUCENE_9,
) -> int:
    """Return the bytes of a field's lists in Lucene's ``.doc`` file, to three percent.

    Lists are spanned by ``indptr`` int64[V + 1]. Of each posting, ``docs`` int32[nnz] ascend within
    a list, ``freqs`` int32[nnz] are at least 1, and ``norms`` uint8[nnz] are its document's.

    Blocks are packed with as many bits as their largest document gap and, but for seven exceptions
    of two bytes, their largest frequency need; equal frequencies take two bytes. After the last
    full block a gap takes whole bytes, and a frequency other than 1 as well. A list of one posting
    is in the dictionary and takes none here.
    """
    sizes = np.diff(indptr)
    gaps = _gaps(indptr, docs)
    place = np.arange(len(docs)) - np.repeat(indptr[:-1], sizes)
    full = place < np.repeat(sizes // form.block * form.block, sizes)
    tail = ~full & (np.repeat(sizes, sizes) > 1)
    packed = _block_bytes(gaps[full], freqs[full], norms[full], form)
    return round(float(packed.sum() + _tail_bytes(gaps[tail], freqs[tail]).sum()))


def _gaps(indptr: np.ndarray, docs: np.ndarray) -> np.ndarray:
    """Return int64[nnz]: the distance of each document from the one before in its list."""
    gaps = np.diff(docs, prepend=-1).astype(np.int64)
    starts = indptr[:-1][np.diff(indptr) > 0]
    gaps[starts] = docs[starts] + 1
    return gaps


def _block_bytes(
    gaps: np.ndarray, freqs: np.ndarray, norms: np.ndarray, form: PostingFormat
) -> np.ndarray:
    """Return float64[n // block]: the bytes of full blocks, cut from postings in their order."""
    gaps, freqs, norms = (
        part[: len(part) // form.block * form.block].reshape(-1, form.block)
        for part in (gaps, freqs, norms)
    )
    impacts = _count_impacts(freqs, norms) * _IMPACT_BYTES * (1 + form.impact_levels)
    return np.asarray(_gap_bytes(gaps, form) + _freq_bytes(freqs) + impacts + form.block_overhead)


def _bits(values: np.ndarray) -> np.ndarray:
    return np.frexp(np.asarray(values, np.float64))[1].astype(np.int64)


def variable_bytes(numbers: np.ndarray) -> np.ndarray:
    """Return int64[n]: bytes of Lucene's variable-length integers."""
    return (_bits(np.maximum(numbers, 1)) + 6) // 7


def _gap_bytes(gaps: np.ndarray, form: PostingFormat) -> np.ndarray:
    bits = _bits(gaps.max(axis=1, initial=1))
    taken = 1 + form.block // 8 * bits
    span = gaps.sum(axis=1)
    if form.bit_sets:
        words = (span + 63) // 64
        taken = np.where((bits + 1) * form.block <= words * 64, taken, 1 + 8 * words)
    return np.where(span == form.block, 1, taken)


def _freq_bytes(freqs: np.ndarray) -> np.ndarray:
    block = freqs.shape[1]
    top = np.partition(freqs, block - _EXCEPTIONS - 1, axis=1)[:, block - _EXCEPTIONS - 1 :]
    most = _bits(top.max(axis=1, initial=1))
    bits = np.maximum(_bits(top[:, 0]), most - 8)
    largest = ((1 << bits) - 1)[:, None]
    exceptions = (top > largest).sum(axis=1)
    cut = freqs & largest
    equal = (cut == cut[:, :1]).all(axis=1) & (most <= 8)
    packed = np.where(equal, 1 + (cut[:, 0] > 127), block // 8 * bits)
    return np.asarray(1 + packed + 2 * exceptions)


def _count_impacts(freqs: np.ndarray, norms: np.ndarray) -> np.ndarray:
    """Count by block the postings that no other beats in both frequency and length."""
    keys = np.sort(-(freqs.astype(np.int64) << 8 | (255 - norms.astype(np.int64))), axis=1)
    ordered = 255 - (-keys & 255)  # norms from the highest frequency down, short ones first
    lowest = np.minimum.accumulate(ordered, axis=1)
    return np.asarray((ordered[:, 1:] < lowest[:, :-1]).sum(axis=1) + 1)


def _tail_bytes(gaps: np.ndarray, freqs: np.ndarray) -> np.ndarray:
    whole = (_bits(gaps << 1 | 1) + 7) // 8
    groups = 0.25  # a byte for the sizes of four
    return np.asarray(whole + groups + np.where(freqs == 1, 0, variable_bytes(freqs)))


def estimate_bytes(matrix: TermDocumentMatrix, collection: WeightedCollection) -> int:
    """Return the estimated bytes of the posting lists and of the dictionary."""
    dictionary = estimate_dictionary_bytes(matrix.vocabulary.terms, collection.statistics)
    return estimate_posting_bytes(matrix, collection) + dictionary


def estimate_posting_bytes(
    matrix: TermDocumentMatrix, collection: WeightedCollection, form: PostingFormat | None = None
) -> int:
    """Return the bytes of the posting lists of ``collection``, from lists of every length.

    Terms are sampled at equal steps in order of what is left of their lists. Against the ``.doc``
    files Lucene wrote it was within 3 % (see ``tests/integration/test_prune.py``). A
    pool's lists are as dense and shorter: laid end to end in that order, blocks are cut from them
    as from the longer lists of the whole. ``form`` None is that of the matrix's index.
    """
    form = form or posting_format(matrix)
    doc_freq = lists_left(collection.statistics)
    by_size = np.argsort(doc_freq, kind="stable")
    by_size = by_size[np.searchsorted(doc_freq[by_size], 2) :]  # lists of one take no bytes
    here = int(doc_freq.sum()) if matrix.pool is None else matrix.postings
    every = max(1, here // _SAMPLE)
    terms = by_size[every // 2 :: every]
    sizes = np.diff(matrix.indptr)[terms]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    if not indptr[-1]:
        return 0
    postings = np.repeat(matrix.indptr[terms] - indptr[:-1], sizes) + np.arange(indptr[-1])
    docs = np.asarray(matrix.indices[postings])
    tf = collection.stored_tf(np.repeat(terms, sizes), matrix.tf(postings)).astype(np.int64)
    norms = norm_bytes(collection.doc_len)[docs]
    if matrix.pool is None:
        return every * posting_bytes(indptr, docs, tf, norms, form)
    gaps, left = _gaps(indptr, docs), doc_freq[terms]
    each = _tail_bytes(gaps, tf)
    packed = np.repeat(_block_bytes(gaps, tf, norms, form) / form.block, form.block)
    in_blocks = np.repeat(left // form.block * form.block / left, sizes)[: len(packed)]
    each[: len(packed)] += in_blocks * (packed - each[: len(packed)])
    return round(float(each.mean()) * int(doc_freq[by_size].sum()))


def lists_left(left: Statistics) -> np.ndarray:
    """Return int64[V]: the lengths of the lists, 0 for a term that is dropped."""
    return np.where(left.total_term_freq > 0, left.doc_freq, 0).astype(np.int64)


def posting_format(matrix: TermDocumentMatrix) -> PostingFormat:
    """Return the postings format of the matrix's index."""
    version = matrix.source.get("lucene_version", "")
    return LUCENE_9 if int(version.partition(".")[0] or 9) < 10 else LUCENE_10


def estimate_dictionary_bytes(
    terms: ByteStrings, statistics: Statistics, *, positions: bool = False
) -> int:
    """Return the bytes of a field's terms in Lucene's dictionary, ``positions`` or not.

    A term takes its bytes beyond those that the 30 or so terms of its block share, one byte for
    their number, its counts, and where its list begins. A single posting is stored there instead of
    a list, and runs of terms that occur once share their counts. ``statistics`` float64[V] are
    those of the index; a term whose ``total_term_freq`` is 0 is not in it. The difference between
    two indexes made of the same one was predicted to a tenth (wiki165k: of 6.3 and 2.7 MB).
    """
    kept = np.flatnonzero(statistics.total_term_freq > 0)
    doc_freq = np.asarray(statistics.doc_freq)[kept].astype(np.int64)
    total = np.rint(np.asarray(statistics.total_term_freq)[kept]).astype(np.int64)
    alone = doc_freq == 1
    counted = variable_bytes(2 * doc_freq) + variable_bytes(total - doc_freq)
    counts = np.where(alone & (total == 1), 0, counted)
    # Lists take about three bytes a posting in their tails, two in blocks.
    lists = np.where(doc_freq < LUCENE_9.block, 3, 2) * doc_freq
    skips = np.where(doc_freq > LUCENE_9.block, variable_bytes(doc_freq // 8), 0)
    place = np.where(alone, 3, variable_bytes(2 * lists) + skips)
    if positions:
        place = place + variable_bytes(total) + np.where(total > LUCENE_9.block, 2, 0)
    lengths = np.diff(terms.indptr)[kept]
    beyond = int(lengths.sum()) - _shared(terms, kept)
    return int(beyond + len(kept) + counts.sum() + place.sum())


def _shared(terms: ByteStrings, kept: np.ndarray) -> int:
    """Return the bytes that the terms ``kept`` int64[n] share with the term half a block on."""
    first, other = kept[:-_HALF_BLOCK], kept[_HALF_BLOCK:]
    shortest = np.minimum(*(np.diff(terms.indptr)[each] for each in (first, other)))
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


def with_index_bytes(values: TermValues, found: Mapping[str, Any]) -> TermValues:
    """Return the TDVs with ``index_bytes`` at every point and scale tried, and under ``full``.

    The prediction is for ``prune --tf scaled`` without further flags, in the source's format.
    Posting lists and dictionary are estimated. Lists are corrected by the error of the estimate for
    the source's own, and the dictionary by how often its segments repeat a term. Positions and
    deleted documents are left out; term vectors shrink with the postings; all else stays.
    ``found`` is what :func:`..index.inspection.inspect_index` returned of the index.
    """
    full = values.manifest["full"]
    fields = {entry["name"]: entry for entry in found["fields"]}
    about = fields.pop(values.vocabulary.field)
    source = full["with_positions"] if "POSITIONS" in about["index_options"] else full
    # No other field has lists to speak of: an id's terms are in one document each.
    alone = all(entry.get("postings", 0) <= entry.get("terms", 0) for entry in fields.values())
    live = found["documents"] / max(1, found["documents"] + found["deleted"])
    sizes: Mapping[str, float] = {k: live * size for k, size in found["bytes_by_kind"].items()}
    repeated = about["segment_terms"] / max(1, about["terms"])
    correction = sizes["postings"] / max(1, source["posting_bytes"]) if alone else 1.0

    def predict(point: Mapping[str, Any]) -> int:
        lists = point["posting_bytes"] - source["posting_bytes"]
        terms = point["dictionary_bytes"] - source["dictionary_bytes"]
        changed: dict[str, float] = {
            "postings": sizes["postings"] + correction * lists,
            "dictionary": sizes["dictionary"] + repeated * terms,
            "positions": 0,
            "vectors": sizes["vectors"] * (1 - point["removed"]),
        }
        return round(sum(changed.get(kind, size) for kind, size in sizes.items()))

    points = []
    for point in values.points:
        scales = [{**e, "index_bytes": predict({**point, **e})} for e in point["scales"]]
        points.append({**point, "index_bytes": predict(point), "scales": scales})
    about_full = {**full, "index_bytes": found["bytes"]}
    return replace(values, manifest={**values.manifest, "points": points, "full": about_full})
