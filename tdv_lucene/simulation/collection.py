"""The collection after pruning: stored frequencies, lengths and statistics, in NumPy.

Learning, pruning and verification take stored frequencies and lengths from the formulas here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..matrix.term_document_matrix import (
    Block,
    NormKind,
    TermDocumentMatrix,
    blocks,
    lucene_length,
    nearest_length,
    row_sums,
)
from ..ranking import ANSERINI_DEFAULTS, SearchParameters, Statistics, ranking_function
from ..ranking.functions import bm25_idf
from ..ranking.postings import PostingCut, stays
from ..values.posting_rule import (
    PostingRule,
    constants_of,
    counted_for_dropping,
    make_posting_rule,
    order_terms,
)

LEAST_FREQUENCY = 1  # the least stored frequency of a posting that stays
_GOLDEN = (5**0.5 - 1) / 2  # multiples of it are spread evenly over [0, 1), however many are taken
_ROUNDING = 1e-9  # of quotients that are whole numbers


def stored_frequency(tf: np.ndarray, tdv: np.ndarray | float, scale: float | None) -> np.ndarray:
    """Return float64[n]: max(1, rint(scale tf tdv)), and 0 where ``tdv`` is 0.

    In double precision and half to even, as in ``tdvlucene.rules.TermRule``. In the real-valued
    model, with ``scale`` None, it is float32[n]: tf tdv. A posting that stays has a frequency of at
    least 1: the posting rule alone decides which are dropped. So the scale can be so small that
    most frequencies are 1, which Lucene packs in two bytes a block, without dropping a single
    posting. Large frequencies are not capped: they are few, and they put a document on top. Capping
    them at 15 cost more on wiki165k than halving the scale, and saved a tenth of the bytes.

    ``tf`` int[n] or float32[n] has its boost; ``tdv`` is of each posting's term.
    """
    if scale is None:
        return tf * np.asarray(tdv, np.float32)
    tdv = np.asarray(tdv, np.float64)
    rounded = np.rint(scale * np.asarray(tf, np.float64) * tdv)
    return np.where(tdv > 0, np.maximum(rounded, LEAST_FREQUENCY), 0)


def written_lengths(
    lengths: np.ndarray, kind: NormKind, average: float, held: tuple[float, float] | None = None
) -> np.ndarray:
    """Return float64[D]: the lengths that searches read from norms of this ``kind``.

    ``lengths`` float64[D] are sums of stored frequencies, ``average`` that of documents with terms.
    ``held`` are BM25's k1 and b, where norms hold them for a searcher with Anserini's defaults, as
    ``prune`` writes them (:mod:`..pruning.targets`). The lengths returned are then those at which
    ``held`` gives the length norm that the searcher computes.
    """
    sums = np.asarray(lengths, np.float64)
    if kind in (NormKind.NONE, NormKind.ONES):
        return np.where(sums > 0, 1.0, 0.0)
    if held is not None and min(held) > 0:
        # As in ``tdvlucene.common.BakedNorms``: the nearest length that a norm can hold.
        (k1, b), other_k1, other_b = held, ANSERINI_DEFAULTS["k1"], ANSERINI_DEFAULTS["b"]
        length_norm = k1 * (1 - b + b * sums / average)
        exact = average * (length_norm / other_k1 - (1 - other_b)) / other_b
        stored = np.maximum(np.rint(exact), 1) if kind is NormKind.EXACT else nearest_length(exact)
        seen = other_k1 * (1 - other_b + other_b * stored / average)
        read = average * (seen / k1 - (1 - b)) / b
        return np.where(sums > 0, np.maximum(read, 0), 0)
    if kind is NormKind.EXACT:
        return sums
    return lucene_length(sums).astype(np.float64)


@dataclass(frozen=True, eq=False)
class WeightedCollection:
    """A pruned index as its searcher sees it."""

    tdv: np.ndarray  # float32[V]
    # The factor of stored frequencies; None is the real-valued model of training
    scale: float | None
    statistics: Statistics  # Statistics of float64[V] and float64[]
    # float64[D]: as the ranking function reads it: with a scale, after Lucene's byte
    doc_len: np.ndarray
    postings: int | None = None  # How many are left, if they were counted

    def stored_tf(self, term: int | np.ndarray, tf: np.ndarray) -> np.ndarray:
        """Return float[n]: the stored frequencies of a term, or of int[n] terms."""
        return stored_frequency(tf, self.tdv[term], self.scale)


class _Sums:
    """Sums of the postings of a matrix, term by term, after something was done to them.

    The sums of a pool's matrix are estimates of the whole collection's. Its documents count for
    themselves. Of a term's other postings as large a share is left as of those in drawn documents,
    with one more posting added that fares as those of terms of its kind do: many terms have no or
    few postings in drawn documents.
    """

    def __init__(self, matrix: TermDocumentMatrix) -> None:
        self._matrix, self._pool = matrix, matrix.pool
        shape = (1 if matrix.pool is None else 2), matrix.shape[0]  # all documents, and drawn ones
        self.doc_freq, self.total = np.zeros(shape), np.zeros(shape)

    def add(self, block: Block, docs: np.ndarray, tf: np.ndarray) -> None:
        """Add the postings of a block: the documents, and their frequencies now."""
        parts = (tf,) if self._pool is None else (tf, tf * self._pool.drawn[docs])
        for row, part in enumerate(parts):
            self.doc_freq[row, block.terms] = row_sums(part > 0, block.sizes)
            self.total[row, block.terms] = row_sums(part, block.sizes)

    @property
    def sizes(self) -> np.ndarray:
        """int64[V]: the postings left of the matrix itself."""
        return np.asarray(self.doc_freq[0], np.int64)

    def of_collection(self, factors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return int64[V] document frequencies and float64[V] sums of the collection's postings.

        ``factors`` float[V] are those of the frequencies; 0 for a dropped term.
        """
        matrix, pool = self._matrix, self._pool
        if pool is None:
            return self.sizes, self.total[0]
        factors = np.asarray(factors, np.float64)
        unseen = np.asarray(matrix.doc_freq) - np.diff(matrix.indptr)
        left = _left(unseen, pool.doc_freq_drawn, self.doc_freq[1], factors > 0, pool.kinds)
        whole = _whole(left)
        unseen = np.maximum(np.asarray(matrix.total_term_freq) - pool.total, 0)
        total = _left(unseen, pool.total_drawn, self.total[1], factors, pool.kinds)
        total *= np.divide(whole, left, out=np.zeros(len(left)), where=left > 0)
        return self.sizes + whole, self.total[0] + total

    def doc_count(self, doc_len: np.ndarray) -> int:
        """Return the documents of the collection with a term left, from lengths of D documents."""
        here = int(np.count_nonzero(doc_len))
        if self._pool is None:
            return here
        drawn, before = self._pool.drawn, np.asarray(self._matrix.doc_len) > 0
        unseen = self._matrix.doc_count - int(np.count_nonzero(before))
        left = int(np.count_nonzero((doc_len > 0) & drawn))
        share = left / max(1, int(np.count_nonzero(before & drawn)))
        return here + round(unseen * share)


def _left(
    unseen: np.ndarray, drawn: np.ndarray, left: np.ndarray, factors: np.ndarray, kinds: np.ndarray
) -> np.ndarray:
    """Return float64[V]: what is left of ``unseen``, given that ``left`` is of ``drawn``."""
    numbers = int(kinds.max(initial=0)) + 1
    found = np.bincount(kinds, left, minlength=numbers)
    out_of = np.bincount(kinds, drawn * factors, minlength=numbers)
    share = found.sum() / out_of.sum() if out_of.sum() > 0 else 1.0
    of_kind = np.divide(found, out_of, out=np.full(numbers, share), where=out_of > 0)
    return np.asarray(np.maximum(unseen, 0) * (left + factors * of_kind[kinds]) / (drawn + 1))


def _whole(numbers: np.ndarray) -> np.ndarray:
    """Round float64[n] up or down to int64[n], so that sums over many of them stay.

    A term's postings are a whole number; were all terms of a kind rounded alike, none or all of
    the rare ones would be dropped.
    """
    steps = np.arange(len(numbers)) * _GOLDEN % 1
    return np.asarray(np.floor(numbers + steps + _ROUNDING).astype(np.int64))


def _staying(matrix: TermDocumentMatrix, cut: PostingCut) -> Callable[[Block], np.ndarray]:
    """Return a function that tells which postings of a block a cut leaves: bool[n]."""
    boosted = matrix.with_position_boost(cut.position_boost)
    of_documents = matrix.length_norms(cut.length_norm)

    def among(block: Block) -> np.ndarray:
        least = np.repeat(cut.least[block.terms], block.sizes)
        return stays(
            boosted.tf(block.postings), least, of_documents[matrix.indices[block.postings]]
        )

    return among


def apply_values(
    matrix: TermDocumentMatrix,
    tdv: np.ndarray,
    scale: float | None = None,
    held: tuple[float, float] | None = None,
) -> WeightedCollection:
    """Weight every posting and recount what a ranking function needs, O(postings).

    The matrix has no posting that a cut drops (see :func:`keep_postings`). The statistics of a
    pool's matrix are estimates of the whole collection's. ``held`` are BM25's k1 and b where norms
    hold them (see :func:`written_lengths`).
    """
    doc_len, sums = _weigh(matrix, tdv, scale, None)
    doc_freq, total_term_freq = sums.of_collection(tdv * (scale or 1.0))
    doc_count = sums.doc_count(doc_len)
    tokens = (doc_len if matrix.pool is None else total_term_freq).sum()
    # A dropped term is scored nowhere; 1 keeps its idf finite.
    statistics = Statistics(
        np.maximum(doc_freq, 1), total_term_freq, max(1, doc_count), max(tokens, 1e-9)
    )
    if scale is not None:
        assert matrix.norm_kind is not None  # the matrix sees to it
        average = float(statistics.total_tokens) / float(statistics.doc_count)
        counted = doc_len if held is not None else matrix.counted(doc_len)
        doc_len = written_lengths(counted, matrix.norm_kind, average, held)
    return WeightedCollection(tdv, scale, statistics, doc_len, int(doc_freq.sum()))


def _weigh(
    matrix: TermDocumentMatrix, tdv: np.ndarray, scale: float | None, cut: PostingCut | None
) -> tuple[np.ndarray, _Sums]:
    """Return float64[D] sums of stored frequencies by document, and those by term."""
    staying = None if cut is None else _staying(matrix, cut)
    doc_len, sums = np.zeros(matrix.shape[1]), _Sums(matrix)
    for block in blocks(matrix.indptr):
        docs, tf = matrix.indices[block.postings], matrix.tf(block.postings)
        tf = stored_frequency(tf, np.repeat(tdv[block.terms], block.sizes), scale)
        if staying is not None:
            tf[~staying(block)] = 0
        doc_len += np.bincount(docs, tf, minlength=len(doc_len))
        sums.add(block, docs, tf)
    return doc_len, sums


def keep_postings(
    matrix: TermDocumentMatrix, tdv: np.ndarray, cut: PostingCut | None
) -> TermDocumentMatrix:
    """Return the matrix without the dropped postings, frequencies as they were.

    The vocabulary stays, so terms may be left without a posting. Memory: 8 bytes a posting kept, 10
    with positions.
    """
    staying, sums = None if cut is None else _staying(matrix, cut), _Sums(matrix)
    parts, positions, doc_len = [], [], np.zeros(matrix.shape[1], np.int64)
    for block in blocks(matrix.indptr):
        span = block.postings
        tf, docs = np.asarray(matrix.data[span]), np.asarray(matrix.indices[span])
        kept = np.repeat(tdv[block.terms] > 0, block.sizes)
        if staying is not None:
            kept &= staying(block)
        sums.add(block, docs, tf * kept)
        parts.append((docs[kept], tf[kept]))
        doc_len += np.bincount(*parts[-1], minlength=len(doc_len)).astype(np.int64)
        if matrix.first_positions is not None:
            positions.append(matrix.first_positions[span][kept])
    indices, data = (np.concatenate(part) for part in zip(*parts))
    doc_freq, total = sums.of_collection(tdv > 0)
    left = replace(
        matrix, indptr=np.concatenate([[0], np.cumsum(sums.sizes)]), indices=indices, data=data,
        doc_freq=doc_freq, total_term_freq=np.rint(total).astype(np.int64), doc_len=doc_len,
        first_positions=np.concatenate(positions) if positions else None,
        indexed_len=matrix.doc_len if matrix.indexed_len is None else matrix.indexed_len,
    )  # fmt: skip
    if matrix.pool is None:
        return left
    assert matrix.collection is not None  # a pool has one
    collection = {**matrix.collection, "doc_count": sums.doc_count(doc_len)}
    doc_freq, total = sums.doc_freq.astype(np.int64), sums.total.astype(np.int64)
    pool = replace(matrix.pool, doc_freq_drawn=doc_freq[1], total=total[0], total_drawn=total[1])
    return replace(left, collection=collection, pool=pool)


def term_totals(matrix: TermDocumentMatrix) -> np.ndarray:
    """Return float64[V]: the collection's total term frequencies, with the boost."""
    if matrix.position_boost is None:
        return np.asarray(matrix.total_term_freq, np.float64)
    sums = _Sums(matrix)
    for block in blocks(matrix.indptr):
        sums.add(block, matrix.indices[block.postings], matrix.tf(block.postings))
    return sums.of_collection(np.ones(matrix.shape[0]))[1]


def plain_collection(matrix: TermDocumentMatrix) -> WeightedCollection:
    """Return the index as it is, exactly as Lucene scores it."""
    ones = np.ones(matrix.shape[0], np.float32)
    return apply_values(matrix.with_position_boost(None), ones, scale=1)


def rule_of_order(
    matrix: TermDocumentMatrix,
    model: str,
    parameters: SearchParameters,
    reductions: Iterable[float],
    per_byte: float = 0.0,
) -> PostingRule:
    """Return the rule that drops postings by their saturation and their term's order.

    At the ``reductions`` TDVs are corrected, see :func:`correct_idf`.
    ``per_byte`` is a term's share of the dictionary in the order, see
    :func:`..values.posting_rule.order_terms`.
    """
    constants = constants_of(model)
    (k1, b), order = constants.dropped_by, order_terms(matrix, model, per_byte=per_byte)
    counted = counted_for_dropping(matrix, model)
    rule = make_posting_rule(counted, order, constants.whole_terms, k1=k1, b=b)
    return correct_idf(rule, matrix, sorted(reductions), model, parameters.values()["k1"])


def correct_idf(
    rule: PostingRule,
    matrix: TermDocumentMatrix,
    reductions: Sequence[float],
    model: str,
    k1: float,
) -> PostingRule:
    """Return the rule with factors that undo the idf a term gains by losing postings.

    A common term gains most. Its TDV is lowered until a posting of the mean frequency that is left
    scores what it scored before; a pass for each reduction. Query likelihood has no idf, and its
    collection frequency cancels a term's TDV: nothing is done.
    """
    function = ranking_function(model)
    if not function.has_idf:
        return rule
    assert rule.whole_terms == 0 or matrix.shards is None  # a shard cannot tell which terms go
    idf = bm25_idf(np.asarray(matrix.doc_freq), matrix.doc_count)
    factors = np.ones((len(reductions), matrix.shape[0]), np.float32)
    bare = replace(rule, priority=rule.priority[:0])
    for row, reduction in enumerate(reductions):
        parts = list(matrix.each(_left_by, rule.priority, rule=bare, reduction=reduction))
        doc_freq, total = matrix.add_up(part[:2] for part in parts)
        doc_freq, doc_count = np.maximum(doc_freq, 1), max(1, sum(part[2] for part in parts))
        share = np.minimum(idf / bm25_idf(doc_freq, doc_count), 1)
        factors[row] = function.corrected(share, total / doc_freq, k1)
    return replace(rule, factors_at=tuple(reductions), factors=factors)


def _left_by(
    matrix: TermDocumentMatrix, priority: np.ndarray, *, rule: PostingRule, reduction: float
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the statistics of what a rule leaves: by term postings and sums of frequencies, and
    the number of documents."""
    ones, rule = np.ones(matrix.shape[0], np.float32), replace(rule, priority=priority)
    tdv, cut = rule.thresholds_at(ones, priority, np.asarray(matrix.doc_freq), reduction)
    doc_len, sums = _weigh(matrix, tdv, None, cut)
    return *sums.of_collection(tdv), sums.doc_count(doc_len)
