"""What problems share, and what they must not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_problem import make_collection

from tdv_lucene.embedding.term_vectors import latent_semantic_vectors
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.ranking.postings import FirstPositionBoost
from tdv_lucene.simulation.collection import keep_postings
from tdv_lucene.simulation.problem import Problem
from tdv_lucene.values.posting_rule import make_posting_rule


@pytest.fixture
def collection():
    return make_collection()


@pytest.fixture
def problem(collection) -> Problem:
    return _problem(*collection)


def _problem(matrix, topics, qrels) -> Problem:
    vectors = latent_semantic_vectors(matrix, dimensions=4)
    return Problem.of(matrix, topics, qrels, vectors, "bm25", Parameters())


def test_an_order_does_not_get_the_pruning_of_one_that_is_gone(problem):
    """A rule that comes to lie where a freed one lay is another rule all the same."""
    matrix, rng = problem.matrix, np.random.default_rng(0)
    ones = np.ones(matrix.shape[0], np.float32)
    first, second = rng.uniform(0.5, 1.5, (2, matrix.shape[0])).astype(np.float32)
    gone = make_posting_rule(matrix, first, 0.3, k1=0.9, b=0.4)
    made = make_posting_rule(matrix, second, 0.3, k1=0.9, b=0.4)
    problem.left(gone, 0.5)
    address = id(gone)
    del gone
    alike = [replace(made)]
    while id(alike[-1]) != address and len(alike) < 100_000:
        alike.append(replace(made))
    assert id(alike[-1]) == address
    factors, cut = made.drop(ones, second, matrix.doc_freq, 0.5)
    expected = keep_postings(matrix, factors, cut)
    found, values = problem.left(alike[-1], 0.5)
    np.testing.assert_array_equal(found.matrix.indices, expected.indices)
    np.testing.assert_array_equal(values, factors)


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
