"""What both recipes learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..core.scoring import Similarity
from ..embedding.embed import TermVectors
from ..matrix.first_positions import FirstPositionBoost
from ..matrix.record import TermDocumentMatrix
from ..values.posting_rule import PostingRule
from ..values.weighted_collection import (
    WeightedCollection,
    apply_values,
    keep_postings,
    plain_collection,
)
from .document_rows import Rows
from .measures import evaluate
from .queries import Queries, make_queries
from .recipes import Parameters
from .retrieval import QueryPostings


@dataclass(frozen=True, eq=False)
class Problem:
    """A matrix, its judged queries and the ranking function to learn for."""

    matrix: TermDocumentMatrix
    queries: Queries
    vectors: TermVectors
    model: str
    parameters: Parameters

    @classmethod
    def of(
        cls,
        matrix: TermDocumentMatrix,
        topics: Mapping[str, Sequence[str]],
        qrels: Mapping[str, Mapping[str, int]],
        vectors: TermVectors,
        model: str,
        parameters: Parameters,
    ) -> Problem:
        """Number the queries and check that everything belongs together."""
        vectors.check(matrix)
        return cls(matrix, make_queries(matrix, topics, qrels), vectors, model, parameters)

    def with_parameters(self, parameters: Parameters) -> Problem:
        """Return the same problem for a search with other parameters; what was read is shared."""
        other = replace(self, parameters=parameters)
        other.__dict__["postings"] = self.postings
        shared = ("rows", "plain", "start", "full")
        other.__dict__.update({k: self.__dict__[k] for k in shared if k in self.__dict__})
        return other

    def with_position_boost(self, boost: FirstPositionBoost | None) -> Problem:
        """Return the same problem with frequencies that count by ``boost``."""
        if boost == self.matrix.position_boost:
            return self
        return replace(self, matrix=self.matrix.with_position_boost(boost))

    @property
    def similarity(self) -> Similarity:
        """The ranking function on real-valued frequencies."""
        return self.parameters.similarity(self.model)

    @cached_property
    def postings(self) -> QueryPostings:
        return QueryPostings(self.matrix, self.queries)

    @cached_property
    def rows(self) -> Rows:
        return Rows(self.matrix)

    @cached_property
    def full(self) -> Problem:
        """The problem with frequencies that count for what they are: the index before pruning."""
        return self.with_position_boost(None)

    @cached_property
    def plain(self) -> WeightedCollection:
        """The full index as Lucene scores it; what :attr:`full` measures."""
        return plain_collection(self.matrix)

    @cached_property
    def start(self) -> WeightedCollection:
        """All there with a value of 1: the full index, but for what its lead does."""
        if self.matrix.position_boost is None:
            return self.plain
        return apply_values(self.matrix, np.ones(self.matrix.shape[0], np.float32))

    @cached_property
    def _last_left(self) -> dict[tuple[int, float], tuple[Problem, np.ndarray]]:
        return {}

    def left(
        self, rule: PostingRule, priority: np.ndarray, reduction: float
    ) -> tuple[Problem, np.ndarray]:
        """Return the problem without the postings that go at ``reduction``, and float32[V] what
        values are multiplied by there.

        No value may be 0 by itself. The last answer is kept, for it is asked for again at every
        scale and fold.
        """
        if reduction == 0:
            return self, np.ones(len(priority), np.float32)
        key = id(rule), reduction
        if key not in self._last_left:
            ones = np.ones(len(priority), np.float32)
            factors, cut = rule.drop(ones, priority, self.matrix.doc_freq, reduction)
            matrix = keep_postings(self.matrix, factors, cut)
            self._last_left.clear()
            self._last_left[key] = replace(self, matrix=matrix), factors
        return self._last_left[key]

    def impacts(self, collection: WeightedCollection, some: np.ndarray | None = None) -> np.ndarray:
        """Return the impacts of the query terms' postings in ``collection``, of ``some`` queries
        (None: all)."""
        similarity = self.parameters.similarity(self.model, collection.scale)
        return self.postings.impacts(similarity, collection, some)

    def measure(self, collection: WeightedCollection, some: np.ndarray | None = None) -> np.ndarray:
        """Return float64[n, 3]: the measures of ``some`` queries (None: all)."""
        return evaluate(self.postings, self.impacts(collection, some), some)

    def folds(self, number: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Split the queries at random into at most ``number`` folds of query numbers."""
        order = rng.permutation(len(self.queries))
        return [np.sort(part) for part in np.array_split(order, min(number, len(order)))]
