"""The learning problem: a matrix, its judged queries and a ranking function, also when pruned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from ..errors import TdvError
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..matrix.term_vectors import TermVectors
from ..ranking import RankingFunction, SearchParameters, ranking_function
from ..ranking.postings import Boost
from ..values.posting_rule import OperatingPoint, PostingRule
from .bytes import estimate_bytes
from .collection import (
    WeightedCollection,
    apply_values,
    keep_postings,
    plain_collection,
    term_totals,
)
from .retrieval import Queries, QueryPostings, evaluate, make_queries
from .scoring import Batch, weighted_statistics


class DocumentRows:
    """The document-major copy of a matrix, of which batches are made. Memory: 8 bytes a posting."""

    def __init__(self, matrix: TermDocumentMatrix) -> None:
        tf = np.asarray(matrix.tf(slice(None)), np.float32)
        by_term = csr_array((tf, matrix.indices, matrix.indptr), matrix.shape)
        rows = by_term.T.tocsr()
        # With an empty row at the end, which -1 names.
        with_empty = rows.data, rows.indices, np.append(rows.indptr, rows.nnz)
        self._rows = csr_array(with_empty, (len(rows.indptr), rows.shape[1]), copy=False)
        self._statistics = np.maximum(matrix.doc_freq, 1), term_totals(matrix), matrix.doc_count
        self._padded_size: dict[tuple[int, ...], int] = {}

    def weighted(self, term_values: np.ndarray) -> WeightedCollection:
        """Return the real-valued collection that training models, in a fraction of a second.

        Document frequencies and the number of documents are those of the whole index, as in
        training; :func:`.collection.apply_values` recounts them.
        """
        term_values = np.asarray(term_values, np.float32)
        statistics = weighted_statistics(term_values.astype(np.float64), *self._statistics)
        doc_len = (self._rows @ term_values)[:-1]
        return WeightedCollection(term_values, None, statistics, doc_len)

    def batch(
        self, query_terms: np.ndarray, query_tf: np.ndarray, docs: np.ndarray, tf: np.ndarray
    ) -> Batch:
        """Return the batch of documents ``docs`` int[B, C], -1 for an empty row.

        Rows are padded to the most that a batch of this shape has needed so far: a new size
        costs a compilation, which takes longer than many steps.
        """
        rows = self._rows[docs.ravel()]
        entries = rows.nnz
        size = self._padded_size.get(docs.shape, 0)
        if size < entries:
            size = entries + entries // 20
            quarter = 1 << max(0, size.bit_length() - 3)  # of a power of two, to round up to
            size = self._padded_size[docs.shape] = max(1, -(-size // quarter) * quarter)
        terms, values = np.zeros(size, np.int32), np.zeros(size, np.float32)
        places = np.full(size, docs.size - 1, np.int32)
        terms[:entries], values[:entries] = rows.indices, rows.data
        places[:entries] = np.repeat(np.arange(docs.size, dtype=np.int32), np.diff(rows.indptr))
        return Batch(query_terms, query_tf, tf, terms, places, values)

    def term_freqs(self, docs: np.ndarray, terms: np.ndarray) -> np.ndarray:
        """Return float32[B, L]: frequency in document ``docs[b]`` of each of ``terms[b]``."""
        return np.asarray(self._rows[docs[:, None], terms].toarray())


@dataclass(frozen=True, eq=False)
class JudgedMatrix:
    """A matrix and its judged queries; whatever derives from both is made once and on demand.

    Problems that differ only in the ranking function or its parameters share it.
    """

    matrix: TermDocumentMatrix
    queries: Queries

    @cached_property
    def postings(self) -> QueryPostings:
        return QueryPostings(self.matrix, self.queries)

    @cached_property
    def rows(self) -> DocumentRows:
        return DocumentRows(self.matrix)

    @cached_property
    def plain(self) -> WeightedCollection:
        """The full index as Lucene scores it, which :attr:`Problem.full` measures."""
        return plain_collection(self.matrix)

    @cached_property
    def plain_bytes(self) -> int:
        """Estimated bytes of the full index without positions."""
        return estimate_bytes(self.matrix, self.plain)

    @cached_property
    def start_values(self) -> np.ndarray:
        """float32[V]: TDVs of 1, or the boost's factors of terms."""
        boost, matrix = self.matrix.position_boost, self.matrix
        if boost is None:
            return np.ones(matrix.shape[0], np.float32)
        return boost.of_terms(matrix.doc_freq, matrix.total_term_freq)

    @cached_property
    def unboosted(self) -> JudgedMatrix:
        """The same without a boost."""
        return self.with_position_boost(None)

    def with_position_boost(self, boost: Boost | None) -> JudgedMatrix:
        """Return the same with another boost."""
        if boost == self.matrix.position_boost:
            return self
        return replace(self, matrix=self.matrix.with_position_boost(boost))


@dataclass(frozen=True, eq=False)
class Problem:
    """A matrix with its judged queries, and the ranking function to learn for.

    ``base`` float32[V] are the TDVs that learning starts from and shrinks towards; None is
    :attr:`JudgedMatrix.start_values`. In its methods ``only`` int64[n] chooses queries; None is all
    of them.
    """

    judged: JudgedMatrix
    vectors: TermVectors
    model: str
    parameters: SearchParameters
    base: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        matrix: TermDocumentMatrix,
        topics: Mapping[str, Sequence[str]],
        qrels: Mapping[str, Mapping[str, int]],
        vectors: TermVectors,
        model: str,
        parameters: SearchParameters,
    ) -> Problem:
        """Number the queries and check that everything belongs together."""
        vectors.check(matrix)
        judged = JudgedMatrix(matrix, make_queries(matrix, topics, qrels))
        return cls(judged, vectors, model, parameters)

    def require_queries(self) -> None:
        """Raise :class:`TdvError` when there are too few queries to hold any out."""
        if len(self.queries) < 2:
            raise TdvError(
                "learning needs at least 2 judged queries with a relevant document in the index, "
                f"got {len(self.queries)}: pass more queries and their qrels"
            )

    def with_parameters(self, parameters: SearchParameters) -> Problem:
        """Return the same problem for a search with other parameters; derived data is shared."""
        return replace(self, parameters=parameters)

    def with_position_boost(self, boost: Boost | None) -> Problem:
        """Return the same problem with another boost."""
        return replace(self, judged=self.judged.with_position_boost(boost))

    def apart(self) -> Problem:
        """Return a copy with its own caches, which are freed with it."""
        return replace(self, judged=replace(self.judged))

    @property
    def similarity(self) -> RankingFunction:
        """The ranking function on real-valued frequencies."""
        return ranking_function(self.model).similarity(self.parameters)

    @property
    def matrix(self) -> TermDocumentMatrix:
        return self.judged.matrix

    @property
    def queries(self) -> Queries:
        return self.judged.queries

    @property
    def postings(self) -> QueryPostings:
        return self.judged.postings

    @property
    def rows(self) -> DocumentRows:
        return self.judged.rows

    @property
    def plain(self) -> WeightedCollection:
        return self.judged.plain

    @cached_property
    def start(self) -> WeightedCollection:
        """All postings with the TDVs of the base: without base and boost the full index."""
        if self.base is None and self.matrix.position_boost is None:
            return self.plain
        return apply_values(self.matrix, self.base_values)

    @property
    def base_values(self) -> np.ndarray:
        """float32[V]: the base, or the start values."""
        return self.judged.start_values if self.base is None else self.base

    @cached_property
    def full(self) -> Problem:
        """The index before pruning, without a boost; parameters stay."""
        return replace(self, judged=self.judged.unboosted)

    def left(self, rule: PostingRule, reduction: float) -> tuple[Problem, np.ndarray]:
        """Return what is left after ``rule`` drops its postings, and float32[V] factors of TDVs.

        Factors are 0 for whole terms that are dropped. For TDVs none of which is 0. Takes a pass
        over the postings: make it once and pass it on.
        """
        ones = np.ones(len(rule.priority), np.float32)
        if reduction == 0:
            return self, ones
        factors, cut = rule.thresholds_at(ones, rule.priority, self.matrix.doc_freq, reduction)
        matrix = keep_postings(self.matrix, factors, cut)
        return replace(self, judged=replace(self.judged, matrix=matrix)), factors

    def pruned(self, point: OperatingPoint) -> tuple[Problem, WeightedCollection]:
        """Return what is left at ``point``, and the index that pruning would write of it."""
        boosted = self.matrix.with_position_boost(point.position_boost)
        matrix = keep_postings(boosted, point.tdv, point.cut)
        left = replace(self, judged=replace(self.judged, matrix=matrix))
        held = self.held(point.scale)
        return left, apply_values(matrix, point.tdv, point.scale, held=held)

    def held(self, scale: float | None) -> tuple[float, float] | None:
        """Return k1 and b that the norms of an index pruned at ``scale`` hold.

        None where norms are lengths: for other ranking functions, and in the real-valued model.
        """
        return None if scale is None else ranking_function(self.model).held(self.parameters, scale)

    def impacts(self, collection: WeightedCollection, only: np.ndarray | None = None) -> np.ndarray:
        """Return the impacts of the query terms' postings in ``collection``."""
        similarity = ranking_function(self.model).similarity(self.parameters, collection.scale)
        return self.postings.impacts(similarity, collection, only)

    def measure(
        self,
        collection: WeightedCollection,
        only: np.ndarray | None = None,
        *,
        judged: bool = False,
    ) -> np.ndarray:
        """Return :func:`.retrieval.evaluate` of the queries in ``collection``."""
        return evaluate(self.postings, self.impacts(collection, only), only, judged=judged)

    def folds(self, number: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Split the queries at random into at most ``number`` folds of query numbers."""
        order = rng.permutation(len(self.queries))
        return [np.sort(part) for part in np.array_split(order, min(number, len(order)))]


class TermScores(NamedTuple):
    """TDVs float32[V] of terms while they are kept, and the rule that drops postings."""

    weights: np.ndarray
    rule: PostingRule


@dataclass(frozen=True, eq=False)
class PrunedByFold:
    """A problem pruned at one reduction: as all queries made it, and as it is made without a fold.

    ``problems`` and ``scores`` begin with those of all queries, which pruning writes and searches
    use. Then come those of each fold, in which its queries took no part; folds with the same
    problem share one object. ``folds`` holds int64[n] query numbers.
    """

    problems: Sequence[Problem]
    scores: Sequence[TermScores]
    folds: Sequence[np.ndarray]
    reduction: float = 0.0
    _left: dict[tuple[Problem, PostingRule], tuple[Problem, np.ndarray]] = field(
        init=False, default_factory=dict, repr=False
    )

    @classmethod
    def in_one_fold(cls, problem: Problem, scores: TermScores, reduction: float) -> PrunedByFold:
        """Return a problem pruned by scores that no query chose: one fold of all queries."""
        everyone = [np.arange(len(problem.queries))]
        return cls([problem] * 2, [scores] * 2, everyone, reduction)

    def at(self, reduction: float) -> PrunedByFold:
        """Return the same at another reduction."""
        return replace(self, reduction=reduction)

    @property
    def problem(self) -> Problem:
        """The problem of all queries."""
        return self.problems[0]

    def prune(self, scale: float | None) -> tuple[Problem, WeightedCollection]:
        """Return what the final scores leave, and the index they make of it at ``scale``.

        A scale of None is the real-valued model.
        """
        return self._pruned(self.problem, self.scores[0], scale)

    def held_out(self, scales: Sequence[float | None], *, judged: bool = False) -> np.ndarray:
        """Measure each query on the index made without its fold: float64[Q, measures].

        ``scales`` are those of the folds; ``judged`` is for :func:`.retrieval.evaluate`.
        """
        parts = zip(self.problems[1:], self.scores[1:], self.folds, scales)
        measured: list[np.ndarray] = []
        for problem, scores, fold, scale in parts:
            left, collection = self._pruned(problem, scores, scale)
            measured.append(left.measure(collection, fold, judged=judged))
        return np.concatenate(measured)[np.argsort(np.concatenate(self.folds))]

    def _pruned(
        self, problem: Problem, scores: TermScores, scale: float | None
    ) -> tuple[Problem, WeightedCollection]:
        key = problem, scores.rule
        if key not in self._left:
            # What the final scores leave is kept, and one other: each is as large as the matrix.
            final = self.problem, self.scores[0].rule
            for other in [other for other in self._left if other != final]:
                del self._left[other]
            self._left[key] = problem.left(scores.rule, self.reduction)
        left, factors = self._left[key]
        tdv = scores.weights * factors
        return left, apply_values(left.matrix, tdv, scale, held=left.held(scale))
