"""Some of a collection's judged queries to learn from, all others to measure with, in memory."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from prior_collections import Judged

from tdv_lucene import learn_term_values
from tdv_lucene.embedding.embed import TermVectors, latent_semantic_vectors
from tdv_lucene.evaluation.tuning import OBJECTIVE, Choice, Tuning, tune
from tdv_lucene.learning.recipes import DefaultRecipe
from tdv_lucene.prior.prior import Prior
from tdv_lucene.ranking import ANSERINI_DEFAULTS
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.simulation.measures import MEASURES
from tdv_lucene.values.term_values import TermValues


@dataclass(frozen=True)
class Draws:
    """A collection, and the prior that was made without it. All figures are nDCG@5."""

    judged: Judged
    prior: Prior
    model: str = "bm25"

    def learn(self, train: np.ndarray, recipe: DefaultRecipe, seed: int) -> TermValues:
        """Learn as ``tdv-lucene learn`` does, from the prior if the recipe wants one."""
        topics, qrels = queries_of(self.judged, train)
        return learn_term_values(
            self.judged.problem.matrix, topics, qrels, recipe=recipe, prior=self.prior,
            vectors=self._vectors, seed=seed, model=self.model,
        )  # fmt: skip

    def pruned(self, values: TermValues, reduction: float, test: np.ndarray) -> float:
        """Return that of the index which ``prune --reduction`` would write."""
        return float(self.pruned_by_query(values, reduction, test).mean())

    def pruned_by_query(self, values: TermValues, reduction: float, test: np.ndarray) -> np.ndarray:
        """Return float64[n]: the same of each query."""
        point = values.at_reduction(reduction)
        problem = self.judged.of_model(self.model).with_parameters(Parameters(**values.parameters))
        left, collection = problem.pruned(point)
        return left.measure(collection, test)[:, MEASURES.index(OBJECTIVE)]

    def full(self, test: np.ndarray) -> float:
        """Return that of the full index with Anserini's k1 and b."""
        return float(self._tuning.served[0, test].mean())

    def full_tuned(self, train: np.ndarray, test: np.ndarray) -> float:
        """Return that of the full index with the k1 and b that serve ``train`` best."""
        return float(self.full_tuned_by_query(train, test).mean())

    def tuned_on(self, train: np.ndarray) -> Parameters:
        """Return the k1 and b that serve ``train`` best with the full index."""
        return Parameters(**self._tuning.best(train))

    def full_tuned_by_query(self, train: np.ndarray, test: np.ndarray) -> np.ndarray:
        """Return float64[n]: the same of each query."""
        best = self._tuning.choices.index(self._tuning.best(train))
        return self._tuning.served[best, test]

    @cached_property
    def _vectors(self) -> TermVectors:
        return latent_semantic_vectors(self.judged.problem.matrix)

    @cached_property
    def _tuning(self) -> Tuning:
        """The full index under all k1 and b, Anserini's first."""
        problem = self.judged.of_model(self.model)

        def measure(choice: Choice) -> np.ndarray:
            at = problem.with_parameters(Parameters(**choice))
            return at.measure(problem.plain, self.judged.all_queries)[:, MEASURES.index(OBJECTIVE)]

        return tune(self.model, ANSERINI_DEFAULTS, measure)


def queries_of(judged: Judged, some: np.ndarray) -> tuple[dict[str, list], dict[str, dict]]:
    """Topics and qrels again, from their numbers."""
    queries, matrix = judged.problem.queries, judged.problem.matrix
    terms, ids = matrix.vocabulary.terms, matrix.doc_ids
    topics, qrels = {}, {}
    for query in some.tolist():
        numbers, times = queries.terms_of(query)
        words = [[terms[int(t)].decode()] * int(n) for t, n in zip(numbers, times)]
        topics[queries.ids[query]] = list(itertools.chain(*words))
        docs, grades = queries.judged_of(query)
        qrels[queries.ids[query]] = {
            ids[int(doc)].decode(): int(grade) for doc, grade in zip(docs, grades)
        }
    return topics, qrels
