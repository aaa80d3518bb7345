"""What a pruned index must hold, computed with NumPy: nothing of the package judges itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pruning_inputs import field_plan

from tdv_lucene import OperatingPoint, TermDocumentMatrix, extract_matrix
from tdv_lucene.plan import FieldPlan
from tdv_lucene.ranking import Baking
from tdv_lucene.ranking.postings import Boost, FirstPositionBoost, PostingCut, WeightPower


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

ANSERINI = 0.9, 0.4


def read_norms(norms: np.ndarray) -> np.ndarray:
    """int64[D]: the lengths that bytes stand for."""
    return _DECODED[np.asarray(norms, np.int64) % 256]


class Postings:
    """A field's postings before and after in NumPy arrays: terms by bytes, then documents."""

    def __init__(
        self, plan: FieldPlan, rows: np.ndarray, docs: np.ndarray, before: np.ndarray,
        documents: int, norms: str = "default", first_positions: np.ndarray | None = None,
        places: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        self.terms, self.rows, self.docs, self.before = [*plan.vocabulary.terms], rows, docs, before
        self.documents, self.first_positions = documents, first_positions
        self.tokens = np.bincount(docs, before, documents).astype(np.int64)
        self.places = self.tokens if places is None else places
        """int64[D]: positions with a token, which Lucene's norms count."""
        of_posting = plan.tdv[rows].astype(np.float64)
        after = before.astype(np.float64)
        if plan.scale is not None:
            with np.errstate(over="ignore"):
                after = np.maximum(np.rint(plan.scale * self._stored(plan.boost) * of_posting), 1)
        self.after = np.where(of_posting > 0, after, 0)
        if plan.cut is not None:
            self.after[self._below(plan.cut, norms)] = 0
        self.lengths = np.bincount(docs, self.after, documents)

    @classmethod
    def of_matrix(cls, plan: FieldPlan, matrix: TermDocumentMatrix) -> Postings:
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        docs, before = np.asarray(matrix.indices), np.asarray(matrix.data)
        return cls(
            plan, rows, docs, before, matrix.shape[1], first_positions=matrix.first_positions
        )

    def _stored(self, boost: Boost | None) -> np.ndarray:
        """float64[postings]: what frequencies count for where they are written."""
        if not isinstance(boost, WeightPower):
            return self._counted(boost)
        weights = np.minimum(self.before, 1023) / boost.unit
        factor = (weights ** (boost.power - 1)).astype(np.float32)
        return (self.before.astype(np.float32) * factor).astype(np.float64)

    def _counted(self, boost: FirstPositionBoost | None) -> np.ndarray:
        """float64[postings]: what frequencies count for, a product of float32; from the 1,024th
        place on as at that."""
        if boost is None:
            return self.before.astype(np.float64)
        place = np.minimum(self.first_positions, 1023)
        factor = (1 + boost.boost / (1 + place / boost.span) ** 2).astype(np.float32)
        return (self.before.astype(np.float32) * factor).astype(np.float64)

    def _below(self, cut: PostingCut, norms: str) -> np.ndarray:
        """bool[postings]: saturation below the term's least, by the length the norm tells."""
        lengths = self.tokens
        fixed, per_token, by_postings = cut.length_norm
        if norms == "impact":  # the largest weight, and how many there are
            lengths = np.zeros(self.documents, np.int64)
            np.maximum.at(lengths, self.docs, self.before)
            if by_postings:
                postings = np.bincount(self.docs, minlength=self.documents)
                lengths = np.floor(lengths * np.sqrt(postings)).astype(np.int64)
        if norms in ("default", "overlaps"):
            lengths = read_norms(list(map(int_to_byte4, self.places.tolist())))
        length_norm = fixed + per_token * lengths[self.docs].astype(np.float64)
        counted = self._counted(cut.position_boost)
        return counted < cut.least[self.rows].astype(np.float64) * (counted + length_norm)

    def kept(self) -> dict[tuple[bytes, int], int]:
        """(Term, document) -> new frequency."""
        return {
            (self.terms[self.rows[i]], int(self.docs[i])): int(self.after[i])
            for i in np.flatnonzero(self.after)
        }


def assert_pruned(
    source: TermDocumentMatrix, pruned: Path, point: OperatingPoint, scale: float | None,
    scratch: Path, k1: float = 0.9, b: float = 0.4,
) -> TermDocumentMatrix:  # fmt: skip
    """Compare an index that was pruned at a point of TDVs learned with these k1 and b, for
    Anserini's searcher, with the oracle: postings, lengths, norms."""
    vocabulary = source.vocabulary
    found = extract_matrix(pruned, scratch, field=vocabulary.field, overwrite=True)
    baked = Baking((k1 * (scale or 1), b), ANSERINI)
    expected = Postings.of_matrix(
        field_plan(vocabulary, point.tdv, scale, cut=point.cut, norms=baked), source
    )
    kept = expected.after > 0
    rows, freqs = expected.rows[kept], expected.after[kept]
    terms = np.unique(rows)
    assert list(found.vocabulary.terms) == [expected.terms[t] for t in terms]
    assert list(found.doc_ids) == list(source.doc_ids)
    np.testing.assert_array_equal(found.indices, expected.docs[kept])
    np.testing.assert_array_equal(found.data, freqs)
    np.testing.assert_array_equal(found.doc_freq, np.bincount(rows)[terms])
    np.testing.assert_array_equal(found.total_term_freq, np.bincount(rows, freqs)[terms])
    np.testing.assert_array_equal(found.doc_len, expected.lengths)
    assert_baked(np.asarray(found.norms), expected.lengths, "default", baked)
    return found


def assert_baked(norms: np.ndarray, lengths: np.ndarray, kind: str, baked: Baking) -> None:
    """No norm is off by more than half a step: the K that the searcher computes of it is as near as
    any to the K that is to be held, of the exact length.
    """
    (k1, b), (other_k1, other_b) = baked.held, baked.searched
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
