"""What is learned from: a matrix, its judged queries and a ranking function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..embedding.term_vectors import TermVectors
from ..errors import TdvError
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..ranking import SearchParameters, Similarity, ranking_function
from ..ranking.boosts import Boost, WeightPower
from ..values.dropped_postings import PostingRule
from ..values.operating_point import OperatingPoint
from .document_rows import Rows
from .estimated_bytes import estimate_bytes
from .measures import evaluate
from .queries import Queries, make_queries
from .retrieval import QueryPostings
from .weighted_collection import WeightedCollection, apply_values, keep_postings, plain_collection


@dataclass(frozen=True, eq=False)
class JudgedMatrix:
    """A matrix and its judged queries, with what is derived from them, once and on demand.

    Nothing here depends on the ranking function or its parameters, so problems that differ only in
    those share it.
    """

    matrix: TermDocumentMatrix
    queries: Queries

    @cached_property
    def postings(self) -> QueryPostings:
        return QueryPostings(self.matrix, self.queries)

    @cached_property
    def rows(self) -> Rows:
        return Rows(self.matrix)

    @cached_property
    def plain(self) -> WeightedCollection:
        """The full index as Lucene scores it, which :attr:`Problem.full` measures."""
        return plain_collection(self.matrix)

    @cached_property
    def plain_bytes(self) -> int:
        """Those of the full index without positions, estimated."""
        return estimate_bytes(self.matrix, self.plain)

    @cached_property
    def start_values(self) -> np.ndarray:
        """float32[V]: TDVs of 1; of a power of weights its factors of terms."""
        boost, matrix = self.matrix.position_boost, self.matrix
        if isinstance(boost, WeightPower):
            return boost.of_terms(matrix.doc_freq, matrix.total_term_freq)
        return np.ones(matrix.shape[0], np.float32)

    @cached_property
    def unboosted(self) -> JudgedMatrix:
        """The same without a first-position boost."""
        return self.with_position_boost(None)

    def with_position_boost(self, boost: Boost | None) -> JudgedMatrix:
        """Return the same with another first-position boost."""
        if boost == self.matrix.position_boost:
            return self
        return replace(self, matrix=self.matrix.with_position_boost(boost))


@dataclass(frozen=True, eq=False)
class Problem:
    """A matrix with its judged queries, and the ranking function to learn for.

    ``base`` float32[V] are the TDVs that learning starts from and shrinks towards; None is
    :attr:`JudgedMatrix.start_values`.
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
        """Refuse what is too little to hold anything out of."""
        if len(self.queries) < 2:
            raise TdvError(
                "learning needs at least 2 judged queries with a relevant document in the index, "
                f"got {len(self.queries)}: pass more queries and their qrels"
            )

    def with_parameters(self, parameters: SearchParameters) -> Problem:
        """Return the same problem for a search with other parameters; derived data is shared."""
        return replace(self, parameters=parameters)

    def with_position_boost(self, boost: Boost | None) -> Problem:
        """Return the same problem with another first-position boost."""
        return replace(self, judged=self.judged.with_position_boost(boost))

    def apart(self) -> Problem:
        """Return the same problem, which derives what it needs for itself and takes it along when
        it goes."""
        return replace(self, judged=replace(self.judged))

    @property
    def similarity(self) -> Similarity:
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
    def rows(self) -> Rows:
        return self.judged.rows

    @property
    def plain(self) -> WeightedCollection:
        return self.judged.plain

    @cached_property
    def start(self) -> WeightedCollection:
        """All postings, with the TDVs of the base: without one the full index, but for the boost or
        power."""
        if self.base is None and self.matrix.position_boost is None:
            return self.plain
        return apply_values(self.matrix, self.base_values)

    @property
    def base_values(self) -> np.ndarray:
        """Return float32[V]: the base, or what stands for it."""
        return self.judged.start_values if self.base is None else self.base

    @cached_property
    def full(self) -> Problem:
        """The index before pruning, without a first-position boost; parameters stay."""
        return replace(self, judged=self.judged.unboosted)

    def left(self, rule: PostingRule, reduction: float) -> tuple[Problem, np.ndarray]:
        """Return what is left after ``rule`` drops its postings at ``reduction``, and float32[V]:
        what TDVs are multiplied by, 0 for a whole term that is dropped.

        For TDVs none of which is 0. Takes a pass over the postings: make it once and pass it on.
        """
        ones = np.ones(len(rule.priority), np.float32)
        if reduction == 0:
            return self, ones
        factors, cut = rule.drop(ones, rule.priority, self.matrix.doc_freq, reduction)
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
        """k1 and b that the norms of an index hold which is pruned at ``scale``; None where norms
        are lengths: of other ranking functions, and in the real-valued model.
        """
        return None if scale is None else ranking_function(self.model).held(self.parameters, scale)

    def impacts(self, collection: WeightedCollection, some: np.ndarray | None = None) -> np.ndarray:
        """Return the impacts of the query terms' postings in ``collection``.

        ``some`` chooses queries; None is all of them.
        """
        similarity = ranking_function(self.model).similarity(self.parameters, collection.scale)
        return self.postings.impacts(similarity, collection, some)

    def measure(self, collection: WeightedCollection, some: np.ndarray | None = None) -> np.ndarray:
        """Return float64[n, measures]: the measures of ``some`` queries (None: all)."""
        return evaluate(self.postings, self.impacts(collection, some), some)

    def folds(self, number: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Split the queries at random into at most ``number`` folds of query numbers."""
        order = rng.permutation(len(self.queries))
        return [np.sort(part) for part in np.array_split(order, min(number, len(order)))]


class Tuned(NamedTuple):
    """A problem with the parameters and the first-position boost that were chosen for it.

    Attributes
    ----------
    of_all : Problem
        With those that all queries chose: what pruning writes and searches use.
    of_folds : list of Problem
        For each fold, with those that the *other* folds' queries chose: its own queries are
        measured with nothing that they had a part in. Folds that chose the same share one object.
    """

    of_all: Problem
    of_folds: Sequence[Problem]

    @property
    def problems(self) -> list[Problem]:
        """The problem of all, then that of each fold."""
        return [self.of_all, *self.of_folds]

    @classmethod
    def untuned(cls, problem: Problem, folds: Sequence[np.ndarray]) -> Tuned:
        """Return the problem as it is, for all."""
        return cls(problem, [problem] * len(folds))
