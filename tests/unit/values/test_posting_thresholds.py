"""Which terms and postings go at a reduction, against a recount."""

from __future__ import annotations

import numpy as np
import pytest
from small_problem import make_collection, make_matrix

from tdv_lucene.matrix.term_vectors import latent_semantic_vectors
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.ranking.functions import Bm25
from tdv_lucene.simulation.collection import apply_values, correct_idf, keep_postings
from tdv_lucene.simulation.problem import Problem, PrunedByFold, TermScores
from tdv_lucene.values.posting_rule import (
    OperatingPoint,
    drop_terms,
    make_posting_rule,
    postings_before,
)


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(1)
    dense = rng.poisson(rng.uniform(0.05, 1.5, (300, 1)), (300, 400))
    dense[:, 0] += 1
    return make_matrix(dense)


def make_rule(matrix, whole_terms: float):
    """A rule and its order."""
    order = np.random.default_rng(0).random(len(matrix.vocabulary)).astype(np.float32) + 0.1
    return make_posting_rule(matrix, order, whole_terms, k1=0.9, b=0.4), order


def first_terms(weights, priority, doc_freq, share: float) -> np.ndarray:
    """The terms of weight 0, and those of the smallest priority with that share of all postings."""
    return postings_before(weights, priority, doc_freq) <= int(share * doc_freq.sum())


@pytest.mark.parametrize("whole_terms", [0.0, 0.3, 0.67, 1.0])
@pytest.mark.parametrize("reduction", [0.0, 0.1, 0.45, 0.6, 0.72, 0.9])
def test_a_rule_removes_what_was_asked_for(matrix, whole_terms, reduction):
    rule, priority = make_rule(matrix, whole_terms)
    ones = np.ones(len(priority), np.float32)
    tdv, cut = rule.thresholds_at(ones, priority, matrix.doc_freq, reduction)
    gone = 1 - keep_postings(matrix, tdv, cut).postings / matrix.postings
    # Small documents share few lengths, so that many postings are worth exactly the same.
    assert gone == pytest.approx(reduction, abs=0.004)
    whole = first_terms(ones, priority, matrix.doc_freq, whole_terms * reduction)
    assert (tdv[whole] == 0).all()
    share = matrix.doc_freq[whole].sum() / matrix.postings
    assert share == pytest.approx(whole_terms * reduction, abs=0.01)


def test_more_is_removed_from_what_less_removes(matrix):
    rule, priority = make_rule(matrix, 0.6)
    ones = np.ones(len(priority), np.float32)
    before, before_least = ones, np.zeros(len(ones))
    for reduction in np.linspace(0, 0.95, 24):
        tdv, cut = rule.thresholds_at(ones, priority, matrix.doc_freq, reduction)
        assert (tdv <= before).all() and (cut.least >= before_least).all()
        before, before_least = tdv, cut.least


def test_equal_priorities_remove_no_more_than_was_asked_for():
    matrix = make_collection()[0]
    ones = np.ones(len(matrix.vocabulary), np.float32)
    rule = make_posting_rule(matrix, ones, 0.0, k1=0.9, b=0.4)
    tdv, cut = rule.thresholds_at(ones, ones, matrix.doc_freq, 0.3)
    assert keep_postings(matrix, tdv, cut).postings >= 0.7 * matrix.postings


def test_a_larger_idf_is_made_up_for(matrix):
    """The posting of mean frequency that is left scores, in a document of average length, as it
    did before."""
    rule, priority = make_rule(matrix, 0.0)
    rule = correct_idf(rule, matrix, (0.0, 0.5), "bm25", 0.9)
    ones = np.ones(len(priority), np.float32)
    same, _ = rule.thresholds_at(ones, priority, matrix.doc_freq, 0.0)
    np.testing.assert_allclose(same, 1, atol=1e-6)
    tdv, cut = rule.thresholds_at(ones, priority, matrix.doc_freq, 0.5)
    left = apply_values(keep_postings(matrix, tdv, cut), (tdv > 0).astype(np.float32)).statistics
    before = apply_values(matrix, ones).statistics
    shrunk = np.flatnonzero((left.doc_freq < matrix.doc_freq) & (tdv > 0))
    assert len(shrunk) > 100 and (tdv[shrunk] < 1).all()
    tf = left.total_term_freq / left.doc_freq
    scored = [
        Bm25(0.9, 0.4).term_scores(times[shrunk], statistics.avg_doc_len, statistics.at(shrunk))
        for times, statistics in ((tf, before), (tf * tdv, left))
    ]
    np.testing.assert_allclose(scored[1], scored[0], rtol=1e-5)


@pytest.mark.parametrize("scale", [None, 3.0])
@pytest.mark.parametrize("reduction", [0.0, 0.5])
def test_learning_measures_what_pruning_writes(reduction, scale):
    """The index that learning validates is the one that term values prune to."""
    matrix, topics, qrels = make_collection()
    vectors = latent_semantic_vectors(matrix, dimensions=4)
    problem = Problem.of(matrix, topics, qrels, vectors, "bm25", Parameters())
    weights = np.random.default_rng(6).uniform(0.3, 1.6, len(matrix.vocabulary)).astype(np.float32)
    rule, priority = make_rule(matrix, 0.2)
    rule = correct_idf(rule, matrix, (0.0, 0.5), "bm25", 0.9)
    scores = TermScores(weights, rule)
    left, collection = PrunedByFold.in_one_fold(problem, scores, reduction).prune(scale)
    tdv, cut = rule.thresholds_at(weights, priority, matrix.doc_freq, reduction)
    kept, written = problem.pruned(OperatingPoint(tdv, scale, cut, reduction, {}))
    assert collection.postings == written.postings
    np.testing.assert_allclose(collection.doc_len, written.doc_len)
    some, measured = np.array([3, 7]), kept.measure(written)
    np.testing.assert_array_equal(left.measure(collection), measured)
    np.testing.assert_array_equal(left.measure(collection, some), measured[some])


DOC_FREQ = np.array([50, 30, 15, 5])
PRIORITY = np.array([0.1, 0.2, 0.3, 0.4], np.float32)


@pytest.mark.parametrize(
    ("reduction", "learned", "terms", "share"),
    [
        (0.0, 1, [], 0), (0.5, 1, [0], 0.5), (0.8, 1, [0, 1], 0.8),
        (0.46, 1, [1, 2], 0.45), (0.05, 1, [3], 0.05),  # a term too large is passed over
        (0.0, 0, [2], 0.15), (0.2, 0, [2, 3], 0.2),  # learned zeros go in any case
    ],
)  # fmt: skip
def test_terms_go_in_order_and_never_beyond_the_reduction(reduction, learned, terms, share):
    weights = np.array([1, 1, learned, 1], np.float32)
    tdv, removed = drop_terms(weights, PRIORITY, DOC_FREQ, reduction)
    assert (np.flatnonzero(tdv == 0).tolist(), removed) == (terms, share)
