"""What problems share, what they must not, and what operating points are held against."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_problem import make_collection

from tdv_lucene.evaluation.tuning import OBJECTIVE
from tdv_lucene.learning.validate import mean_visited, measure_full
from tdv_lucene.matrix.term_vectors import latent_semantic_vectors
from tdv_lucene.progress import silent
from tdv_lucene.ranking import GRIDS
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.ranking.postings import FirstPositionBoost
from tdv_lucene.simulation.problem import Problem
from tdv_lucene.simulation.retrieval import MEASURES


@pytest.fixture
def collection():
    return make_collection()


@pytest.fixture
def problem(collection) -> Problem:
    return _problem(*collection)


def _problem(matrix, topics, qrels) -> Problem:
    vectors = latent_semantic_vectors(matrix, dimensions=4)
    return Problem.of(matrix, topics, qrels, vectors, "bm25", Parameters())


def test_the_full_index_is_searched_with_the_problems_own_parameters(collection, problem):
    """Also where it was looked at before the parameters were chosen."""
    matrix, *judged = collection
    positions = np.zeros(matrix.postings, np.uint16)
    matrix = replace(matrix, first_positions=positions, position_boost=FirstPositionBoost(2.0, 4.0))
    leading = _problem(matrix, *judged)
    assert leading.full.parameters == Parameters()
    other = leading.with_parameters(Parameters(k1=3.0, b=0.8))
    assert other.full.parameters == other.parameters == Parameters(k1=3.0, b=0.8)
    expected = problem.with_parameters(other.parameters)
    np.testing.assert_array_equal(other.full.measure(other.plain), expected.measure(expected.plain))
    assert other.postings is leading.postings and other.rows is leading.rows


@pytest.fixture(scope="module")
def whole():
    matrix, topics, qrels = make_collection()
    vectors = latent_semantic_vectors(matrix, dimensions=0)
    return Problem.of(matrix, topics, qrels, vectors, "bm25", Parameters())


def objective(measured: np.ndarray) -> np.ndarray:
    return measured[:, MEASURES.index(OBJECTIVE)]


def test_a_query_has_no_part_in_what_measures_it(whole):
    """Each fold's measures are those of one point of the grid, chosen by the other fold's; the
    parameters are the best of the grid for all."""
    folds = whole.folds(2, np.random.default_rng(0))
    everyone = np.arange(len(whole.queries))
    full = measure_full(whole, folds, everyone, silent)
    at = {
        Parameters(k1=k1, b=b): whole.with_parameters(Parameters(k1=k1, b=b))
        for k1 in (0.9, *GRIDS["bm25"]["k1"])
        for b in (0.4, *GRIDS["bm25"]["b"])
    }

    def best_for(some: np.ndarray) -> list[Parameters]:
        served = {p: objective(tried.measure(whole.plain, some)).sum() for p, tried in at.items()}
        return [p for p, value in served.items() if value >= max(served.values()) - 1e-12]

    assert full.parameters in best_for(everyone)
    for fold, others in (folds, folds[::-1]):
        measured = [at[p].measure(whole.plain, fold, judged=True) for p in best_for(others)]
        assert any(np.array_equal(full.measured[fold], per_query) for per_query in measured)


def test_visited_are_the_lists_of_the_query_terms(whole):
    queries = whole.queries
    lists = [whole.matrix.doc_freq[queries.terms_of(q)[0]].sum() for q in range(len(queries))]
    assert mean_visited(whole, whole.plain.statistics) == pytest.approx(np.mean(lists))
