"""The full index at its best: what operating points are held against."""

from __future__ import annotations

import numpy as np
import pytest
from small_problem import make_collection

from tdv_lucene.embedding.term_vectors import latent_semantic_vectors
from tdv_lucene.evaluation.tuning import OBJECTIVE
from tdv_lucene.learning.validate import mean_visited, measure_full
from tdv_lucene.progress import silent
from tdv_lucene.ranking import GRIDS
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.simulation.problem import Problem
from tdv_lucene.simulation.retrieval import MEASURES


@pytest.fixture(scope="module")
def problem():
    matrix, topics, qrels = make_collection()
    vectors = latent_semantic_vectors(matrix, dimensions=0)
    return Problem.of(matrix, topics, qrels, vectors, "bm25", Parameters())


def objective(measured: np.ndarray) -> np.ndarray:
    return measured[:, MEASURES.index(OBJECTIVE)]


def test_no_parameters_of_the_grid_serve_all_queries_better(problem):
    folds = problem.folds(2, np.random.default_rng(0))
    full = measure_full(problem, folds, np.arange(len(problem.queries)), silent)
    best = objective(problem.with_parameters(full.parameters).measure(problem.plain)).mean()
    for k1 in GRIDS["bm25"]["k1"]:
        for b in GRIDS["bm25"]["b"]:
            other = problem.with_parameters(Parameters(k1=k1, b=b))
            assert objective(other.measure(problem.plain)).mean() <= best + 1e-12


def test_a_query_has_no_part_in_what_measures_it(problem):
    """Each fold's measures are those of one point of the grid, chosen by the other fold's."""
    folds = problem.folds(2, np.random.default_rng(0))
    full = measure_full(problem, folds, np.arange(len(problem.queries)), silent)
    for fold, others in (folds, folds[::-1]):
        served = {}
        for k1 in (0.9, *GRIDS["bm25"]["k1"]):
            for b in (0.4, *GRIDS["bm25"]["b"]):
                tried = problem.with_parameters(Parameters(k1=k1, b=b))
                served[k1, b] = objective(tried.measure(problem.plain, others)).sum()
        best = [key for key, value in served.items() if value >= max(served.values()) - 1e-12]
        measured = [
            problem.with_parameters(Parameters(k1=k1, b=b)).measure(
                problem.plain, fold, judged=True
            )
            for k1, b in best
        ]
        assert any(np.array_equal(full.measured[fold], per_query) for per_query in measured)


def test_visited_are_the_lists_of_the_query_terms(problem):
    queries = problem.queries
    lists = [problem.matrix.doc_freq[queries.terms_of(q)[0]].sum() for q in range(len(queries))]
    assert mean_visited(problem, problem.plain.statistics) == pytest.approx(np.mean(lists))
