"""The NumPy retrieval that learning uses: Lucene's lengths, rankings, measures, recounting."""

from __future__ import annotations

from dataclasses import replace

import ir_measures
import numpy as np
import pytest
from small_problem import make_collection, make_matrix

from tdv_lucene.errors import TdvError
from tdv_lucene.evaluation.measures import CONDENSED, condenses, judged_share
from tdv_lucene.learning.train import make_candidates, make_lists, sample_places
from tdv_lucene.matrix.term_document_matrix import NormKind
from tdv_lucene.matrix.term_vectors import latent_semantic_vectors
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.ranking.functions import Bm25
from tdv_lucene.simulation.problem import JudgedMatrix, Problem
from tdv_lucene.simulation.retrieval import (
    MEASURES,
    QueryPostings,
    evaluate,
    make_queries,
    mean_measures,
    ranks_of,
    top_documents,
)
from tdv_lucene.vocabulary import ByteStrings


@pytest.fixture(scope="module")
def problem() -> Problem:
    matrix, topics, qrels = make_collection()
    vectors = latent_semantic_vectors(matrix, dimensions=8)
    return Problem.of(matrix, topics, qrels, vectors, "bm25", Parameters())


def dense_of(problem: Problem) -> np.ndarray:
    matrix = problem.matrix
    dense = np.zeros(matrix.shape)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    dense[rows, matrix.indices] = matrix.data
    return dense


def test_scores_sum_the_impacts_of_the_query_terms(problem):
    plain = problem.plain
    impacts = problem.impacts(plain)
    dense = dense_of(problem)
    for query, scores in problem.postings.scores(impacts):
        terms, tf = problem.queries.terms_of(query)
        statistics = plain.statistics.at(terms[:, None])
        by_hand = Bm25().term_scores(dense[terms], plain.doc_len[None], statistics)
        np.testing.assert_allclose(scores, (tf[:, None] * by_hand).sum(0), rtol=1e-5, atol=1e-6)


def test_measures_are_those_of_ir_measures(problem):
    queries = problem.queries
    judged = {
        qid: {f"d{doc}": int(grade) for doc, grade in zip(*queries.judged_of(place))}
        for place, qid in enumerate(queries.ids)
    }
    some = np.arange(3, len(queries))
    # Ranks for scores: trec_eval breaks ties by the id, Lucene and we by document number.
    run = {
        queries.ids[query]: {
            f"d{doc}": -float(rank) for rank, doc in enumerate(top_documents(scores, 1000))
        }
        for query, scores in problem.postings.scores(problem.impacts(problem.plain), some)
    }
    theirs = [ir_measures.parse_measure(name) for name in (*MEASURES, "Judged@10", CONDENSED)]
    measured = ir_measures.iter_calc(theirs, judged, run)
    expected = {(one.query_id, one.measure): one.value for one in measured}
    found = problem.measure(problem.plain, some, judged=True)
    np.testing.assert_array_equal(found[:, :-2], problem.measure(problem.plain)[some])
    for row, query in zip(found, some):
        of_query = [expected[queries.ids[query], measure] for measure in theirs]
        assert row.tolist() == pytest.approx(of_query, abs=1e-6)
    assert 0 < found[:, -2].mean() < 1
    assert mean_measures(found[:, :-2])["nDCG@5"] == pytest.approx(found[:, 0].mean())


def test_condensed_lists_are_for_shallow_pools_with_documents_that_are_not_relevant():
    assert condenses([0.9, 0.4], [1, 0]) and not condenses([0.9, 0.6], [1, 0])
    assert not condenses([0.1], [1, 2]), "of relevant ones alone no order is wrong"
    assert judged_share(["a", "b"], {"b": 0, "c": 1}) == 0.5 and judged_share([], {"b": 0}) == 1


def test_equal_scores_of_weights_fall_by_chance_and_not_by_number():
    """The same chance for every ranking and however documents are numbered."""
    scores = np.array([2, 1, 2, 2, 0], np.float32)
    docs, order = np.array([0, 2, 3, 1, 4]), np.array([4, 3, 1, 2, 0])
    assert ranks_of(scores, docs).tolist() == [1, 2, 3, 4, np.inf]
    assert ranks_of(scores, docs, order).tolist() == [3, 1, 2, 4, np.inf]
    counted = make_matrix(np.full((1, 200), 2))
    weighed = replace(counted, norms=np.ones(200, int), norm_kind=NormKind.ONES)
    turned = replace(weighed, doc_ids=ByteStrings.of([*weighed.doc_ids][::-1]))
    asked = {"q": ["t000"]}, {"q": {f"d{doc}": 1 for doc in range(20)}}
    by_number, by_chance, of_turned = (
        QueryPostings(matrix, make_queries(matrix, *asked)) for matrix in (counted, weighed, turned)
    )
    recall = MEASURES.index("R@100")
    equal = np.ones(200, np.float32)
    assert by_number.tie_order is None and evaluate(by_number, equal)[0, recall] == 1
    assert evaluate(by_chance, equal)[0, recall] == pytest.approx(0.5, abs=0.25)
    np.testing.assert_array_equal(evaluate(of_turned, equal), evaluate(by_chance, equal))


def test_relevant_documents_outside_the_index_count_against_recall():
    matrix = make_matrix(np.eye(3, dtype=int) + 1)
    queries = make_queries(matrix, {"q": ["t000"]}, {"q": {"d0": 2, "elsewhere": 1}})
    problem = Problem(JudgedMatrix(matrix, queries), None, "bm25", Parameters())
    ndcg, recall = problem.measure(problem.plain)[0][:2]
    assert recall == 0.5
    assert ndcg == pytest.approx(2 / (2 + 1 / np.log2(3)))


def test_candidates_hold_the_relevant_first_and_their_frequencies(problem):
    candidates = make_candidates(problem.postings, problem.impacts(problem.plain), depth=60)
    dense = dense_of(problem)
    for query in range(len(problem.queries)):
        docs, grades = problem.queries.judged_of(query)
        positive = np.count_nonzero(grades > 0)
        assert set(candidates.docs[query, :positive]) == set(docs[grades > 0])
        assert candidates.gains[query].sum() == positive
        held = candidates.docs[query][candidates.docs[query] >= 0]
        assert len(set(held.tolist())) == len(held)
        terms, _ = problem.queries.terms_of(query)
        np.testing.assert_array_equal(
            candidates.tf[query, : len(held), : len(terms)], dense[terms][:, held].T
        )


def test_batches_hold_whole_rows_and_mark_padding(problem):
    candidates = make_candidates(problem.postings, problem.impacts(problem.plain), depth=60)
    queries = np.array([3, 0])
    places = sample_places(np.random.default_rng(0), candidates, queries, 20)
    assert all(len(set(row)) == 20 for row in places.tolist())
    lists = make_lists(problem.rows, candidates, queries, places)
    docs = candidates.docs[queries[:, None], places]
    np.testing.assert_array_equal(lists.where, docs >= 0)
    sums = np.bincount(lists.batch.entry_docs, lists.batch.entry_tf, minlength=docs.size)
    expected = np.where(docs >= 0, problem.matrix.doc_len[docs], 0)
    np.testing.assert_array_equal(sums.reshape(docs.shape), expected)
    relevant = candidates.gains[queries] > 0
    kept = np.take_along_axis(relevant, places, axis=1).sum(1)
    assert (kept >= np.minimum(relevant.sum(1), 10)).all()


@pytest.mark.parametrize(
    ("topics", "qrels", "message"),
    [
        ({"a": ["t000"]}, {"b": {"d0": 1}}, "none of the 1 query ids"),
        ({"a": ["t000"]}, {"a": {"x9": 1}}, "no relevant document"),
        ({"a": ["t000"]}, {"a": {"d0": 0}}, "no document is judged relevant"),
        (
            {"a": ["unseen"]},
            {"a": {"d0": 1}},
            "no judged topic has a term of the field .* analysed as the index was",
        ),
    ],
)
def test_what_shares_nothing_is_refused(topics, qrels, message):
    matrix = make_matrix(np.eye(3, dtype=int) + 1)
    with pytest.raises(TdvError, match=message):
        make_queries(matrix, topics, qrels)
