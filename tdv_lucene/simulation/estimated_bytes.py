"""The bytes of an index that has not been written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..matrix.blocks import row_sums
from ..matrix.norms import norm_bytes
from ..matrix.pool import ListSample
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..ranking import Statistics
from ..ranking.boosts import Boost
from ..values.term_values import TermValues
from ..vocabulary import ByteStrings
from .posting_bytes import LUCENE_9, LUCENE_10, PostingFormat, posting_bytes, variable_bytes
from .quantisation import stored_frequency
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
        before = max(1, matrix.pool.stored_tokens) / max(1, matrix.doc_count)
        shorter = float(collection.statistics.avg_doc_len) / before
        return sample_bytes(matrix.pool.lists, matrix.position_boost, collection, shorter, form)
    doc_freq = lists_left(collection.statistics)
    every = max(1, int(doc_freq.sum()) // _SAMPLE)
    by_size = np.argsort(doc_freq, kind="stable")
    by_size = by_size[np.searchsorted(doc_freq[by_size], 2) :]  # lists of one take no bytes
    terms = np.sort(by_size[every // 2 :: every])
    sizes = np.diff(matrix.indptr)[terms]
    ends = np.cumsum(sizes)
    if not len(ends):
        return 0
    postings = np.repeat(matrix.indptr[terms] - (ends - sizes), sizes) + np.arange(ends[-1])
    docs = np.asarray(matrix.indices[postings])
    tf = collection.stored_tf(np.repeat(terms, sizes), matrix.tf(postings))
    return every * _bytes_of_kept(sizes, docs, tf, norm_bytes(collection.doc_len)[docs], form)


def sample_bytes(
    samples: tuple[ListSample, ...],
    boost: Boost | None,
    collection: WeightedCollection,
    shorter: float,
    form: PostingFormat,
) -> int:
    """Return the bytes of the lists of ``collection``.

    Each posting of a sample stands for as many as what is left of the collection's lists says of
    the terms it was drawn from. Terms lose very different shares of their postings, and the sample
    has too few long lists to tell how much they lose together. ``shorter`` is the mean length of a
    document now over what it was in the sample; it stands for every document's, which the norms
    beside frequencies are made of.
    """
    assert collection.cut is None  # what a rule drops is dropped from the pool's lists before
    doc_freq, total = lists_left(collection.statistics), 0.0
    for sample in samples:
        sizes = np.diff(sample.indptr)
        each = np.repeat(collection.tdv[sample.terms], sizes)
        tf = stored_frequency(sample.tf(boost), each, collection.scale or 1.0)
        norms = norm_bytes(np.rint(sample.doc_len * shorter).astype(np.int64))
        weight = int(doc_freq[sample.among].sum()) / max(1, int(np.count_nonzero(tf)))
        total += weight * _bytes_of_kept(sizes, sample.docs, tf, norms, form)
    return round(total)


def _bytes_of_kept(
    sizes: np.ndarray, docs: np.ndarray, tf: np.ndarray, norms: np.ndarray, form: PostingFormat
) -> int:
    """Return the bytes of lists of ``sizes`` without the postings whose frequency is 0."""
    kept = tf > 0
    indptr = np.concatenate([[0], np.cumsum(row_sums(kept, sizes))]).astype(np.int64)
    return posting_bytes(indptr, docs[kept], tf[kept].astype(np.int64), norms[kept], form)


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


def with_index_bytes(values: TermValues, index: str | os.PathLike[str]) -> TermValues:
    """Return the TDVs with ``index_bytes`` at every point and scale tried, and under ``full``.

    The prediction is for what ``prune --tf scaled`` writes without further flags, in the format of
    the source. Posting lists and dictionary are estimated. Lists are corrected by how the estimate
    misses the source's own, and the dictionary by how often its segments repeat a term. Positions
    and deleted documents are left out; term vectors shrink with the postings; all else stays.
    """
    from ..indexes.inspection import inspect_index

    found = inspect_index(index)
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
