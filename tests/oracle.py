"""What a pruned index must hold, computed with NumPy from the source's extracted matrix."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tdv_lucene.index.inspection import inspect_index
from tdv_lucene.matrix.extract import extract_matrix
from tdv_lucene.matrix.term_document_matrix import TermDocumentMatrix
from tdv_lucene.ranking.postings import PostingCut
from tdv_lucene.simulation.collection import apply_values


def int_to_byte4(length: int) -> int:
    """Lucene's ``SmallFloat.intToByte4`` as a signed byte, from its description.

    Values below 40 stand for themselves; above, four significant bits of what exceeds 24.
    """
    if length < 40:
        return length
    rest = length - 24
    shift = rest.bit_length() - 4
    encoded = 24 + ((rest >> shift & 7) | (shift + 1) << 3)
    return encoded - 256 if encoded > 127 else encoded


def byte4_to_int(norm: int) -> int:
    """The smallest length with this norm byte: the inverse of ``int_to_byte4``."""
    byte = norm & 255
    if byte < 40:
        return byte
    mantissa, exponent = (byte - 24) & 7 | 8, (byte - 24) >> 3
    return (mantissa << exponent - 1) + 24


_DECODED = np.array(list(map(byte4_to_int, range(256))))
"""The length that each byte stands for, ``SmallFloat.byte4ToInt``."""

Baked = tuple[tuple[float, float], tuple[float, float]]
"""(k1, b) that norms hold, and those of the searcher they are written for."""
ANSERINI = 0.9, 0.4


def read_norms(norms: np.ndarray) -> np.ndarray:
    """int64[D]: the lengths that bytes stand for."""
    return _DECODED[np.asarray(norms, np.int64) % 256]


def expected_frequencies(
    matrix: TermDocumentMatrix,
    tdv: np.ndarray,
    scale: float | None,
    cut: PostingCut | None = None,
    norms: str = "default",
):
    """int64[nnz]: new frequency of each posting, 0 where it goes."""
    of_posting = np.repeat(tdv.astype(np.float32), np.diff(matrix.indptr))
    tf = matrix.data.astype(np.float64)
    if scale is None:
        freqs = np.where(of_posting > 0, tf, 0)
    else:
        freqs = np.rint(scale * tf * of_posting.astype(np.float64))
        freqs = np.where(of_posting > 0, np.maximum(freqs, 1), 0)
    if cut is not None:
        lengths = np.asarray(matrix.doc_len)
        if norms == "default":
            lengths = read_norms(list(map(int_to_byte4, lengths.tolist())))
        length_norm = cut.length_norm.fixed + cut.length_norm.per_token * lengths[matrix.indices]
        least = np.repeat(cut.least.astype(np.float64), np.diff(matrix.indptr))
        freqs[tf < least * (tf + length_norm)] = 0
    return freqs.astype(np.int64)


def assert_pruned(
    source: TermDocumentMatrix,
    pruned: Path,
    tdv: np.ndarray,
    scale: float | None,
    scratch: Path,
    norms: str = "default",
    cut: PostingCut | None = None,
    baked: Baked | None = None,
) -> TermDocumentMatrix:
    """Compare a pruned index with the oracle: postings, statistics, lengths, norms."""
    found = extract_matrix(pruned, scratch, field=source.vocabulary.field, overwrite=True)
    freqs = expected_frequencies(source, tdv, scale, cut, norms)
    rows = np.repeat(np.arange(len(source.vocabulary)), np.diff(source.indptr))
    kept = freqs > 0
    terms = np.unique(rows[kept])
    assert list(found.vocabulary.terms) == [source.vocabulary.terms[t] for t in terms]
    assert list(found.doc_ids) == list(source.doc_ids)
    np.testing.assert_array_equal(found.indices, source.indices[kept])
    np.testing.assert_array_equal(found.data, freqs[kept])
    np.testing.assert_array_equal(found.doc_freq, np.bincount(rows[kept])[terms])
    totals = np.bincount(rows, freqs, len(source.vocabulary)).astype(np.int64)
    np.testing.assert_array_equal(found.total_term_freq, totals[terms])
    lengths = np.bincount(source.indices, freqs, len(source.doc_len)).astype(np.int64)
    np.testing.assert_array_equal(found.doc_len, lengths)
    if baked is None or norms == "none":
        np.testing.assert_array_equal(found.norms, [_norm(n, norms) for n in lengths.tolist()])
    else:
        assert_baked(np.asarray(found.norms), lengths, norms, baked)
    _assert_lucene_counts(pruned, found)
    _assert_simulated(source, tdv, scale, cut, freqs)
    return found


def assert_baked(norms: np.ndarray, lengths: np.ndarray, kind: str, baked: Baked) -> None:
    """No norm is off by more than half a step: the K that the searcher computes of it is as near as
    any to the K that is to be held, of the exact length.
    """
    (k1, b), (other_k1, other_b) = baked
    average = lengths.sum() / max(1, np.count_nonzero(lengths))
    np.testing.assert_array_equal(norms == 0, lengths == 0)
    norms, lengths = norms[lengths > 0], lengths[lengths > 0]
    wanted = k1 * (1 - b + b * lengths / average)

    def seen(codes: np.ndarray) -> np.ndarray:
        read = codes if kind == "accurate" else _DECODED[codes]
        return other_k1 * (1 - other_b + other_b * read / average)

    codes = norms if kind == "accurate" else norms % 256
    last = 2**31 - 1 if kind == "accurate" else 255
    off = np.abs(seen(codes) - wanted)
    rounding = 8 * np.spacing(wanted)  # of K: exact lengths of a billion make steps as small
    for neighbour in (np.maximum(codes - 1, 1), np.minimum(codes + 1, last)):
        assert np.all(off <= np.abs(seen(neighbour) - wanted) * (1 + 1e-9) + rounding)


def _assert_simulated(source, tdv, scale, cut, freqs) -> None:
    """What learning foresees of the pruned index is what it became."""
    rows = np.repeat(np.arange(len(source.vocabulary)), np.diff(source.indptr))
    if scale is None:
        tdv, scale = (tdv > 0).astype(np.float32), 1
    foreseen = apply_values(source, tdv, scale, cut)
    assert foreseen.postings == np.count_nonzero(freqs)
    totals = np.bincount(rows, freqs, len(source.vocabulary))
    np.testing.assert_array_equal(foreseen.statistics.total_term_freq, totals)
    doc_freq = np.bincount(rows, freqs > 0, len(source.vocabulary))
    np.testing.assert_array_equal(foreseen.statistics.doc_freq, np.maximum(doc_freq, 1))


def _norm(length: int, kind: str) -> int:
    return {"default": int_to_byte4(length), "accurate": length, "none": 0}[kind]


def _assert_lucene_counts(pruned: Path, found: TermDocumentMatrix) -> None:
    """The statistics Lucene keeps (and scores with) equal those counted from its postings."""
    fields = {field["name"]: field for field in inspect_index(pruned)["fields"]}
    kept = fields[found.vocabulary.field]
    assert kept["documents"] == found.doc_count
    assert kept["terms"] == len(found.vocabulary)
    assert kept["postings"] == found.postings
    assert kept["tokens"] == int(found.doc_len.sum())
