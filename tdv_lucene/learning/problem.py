"""What both recipes learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._dropping import count_postings_by_tf
from ..core.scoring import Similarity
from ..embed import TermVectors
from ..records import TermDocumentMatrix
from .measures import evaluate
from .queries import Queries, make_queries
from .recipes import Parameters
from .retrieval import QueryPostings
from .rows import Rows
from .weighted import WeightedCollection, plain_collection


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
    def plain(self) -> WeightedCollection:
        """The full index as Lucene scores it."""
        return plain_collection(self.matrix)

    @cached_property
    def postings_by_tf(self) -> np.ndarray:
        return count_postings_by_tf(np.asarray(self.matrix.data), self.matrix.indptr)

    def impacts(self, collection: WeightedCollection) -> np.ndarray:
        """Return the impacts of the query terms' postings in ``collection``."""
        similarity = self.parameters.similarity(self.model, collection.scale)
        return self.postings.impacts(similarity, collection)

    def measure(self, collection: WeightedCollection, some: np.ndarray | None = None) -> np.ndarray:
        """Return float64[n, 3]: the measures of ``some`` queries (None: all)."""
        return evaluate(self.postings, self.impacts(collection), some)

    def folds(self, number: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Split the queries at random into at most ``number`` folds of query numbers."""
        order = rng.permutation(len(self.queries))
        return [np.sort(part) for part in np.array_split(order, min(number, len(order)))]
