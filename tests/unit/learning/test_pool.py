"""Learning from a pool of documents: what it knows of the others, and that it is the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_problem import TOPIC_WORDS, make_collection

import tdv_lucene.matrix.term_vectors as term_vectors
from tdv_lucene import TdvError, TermDocumentMatrix, learn_term_values
from tdv_lucene.learning import pool as pools
from tdv_lucene.learning.config import Recipe
from tdv_lucene.learning.pool import POOL, pool_size, search_matrix, searched
from tdv_lucene.matrix.term_vectors import latent_semantic_vectors
from tdv_lucene.progress import silent
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.ranking.postings import FirstPositionBoost, LengthNorm, PostingCut
from tdv_lucene.simulation.bytes import estimate_posting_bytes
from tdv_lucene.simulation.collection import (
    apply_values,
    correct_idf,
    keep_postings,
    plain_collection,
    term_totals,
)
from tdv_lucene.simulation.problem import Problem
from tdv_lucene.simulation.retrieval import make_queries
from tdv_lucene.values.posting_rule import make_posting_rule

TINY = Recipe(max_steps=4, check_every=2, folds=2, reductions=(0.0, 0.45), prior=False)


@pytest.fixture(scope="module")
def collection():
    matrix, topics, qrels = make_collection(documents=1200, queries=20)
    few = {
        qid: dict([*judged.items()][:4] + [*judged.items()][-3:]) for qid, judged in qrels.items()
    }
    places = np.random.default_rng(1).integers(0, 60, matrix.postings).astype(np.uint16)
    return replace(matrix, first_positions=places), topics, few


def pool_of(collection, size: int, seed: int = 0) -> TermDocumentMatrix:
    queries = make_queries(*collection)
    return pools.pool_of(collection[0], queries, "bm25", None, size, seed)[0]


def rule_of(matrix: TermDocumentMatrix):
    """A rule by saturation alone, and the order it goes with."""
    order = np.linspace(0.5, 1.5, matrix.shape[0]).astype(np.float32)
    rule = make_posting_rule(matrix, order, 0.2, k1=1.2, b=0.75)
    return correct_idf(rule, matrix, (0.0, 0.45), "bm25", 1.2), order


def test_a_pool_of_all_documents_has_the_statistics_of_the_matrix(collection):
    matrix, pooled = collection[0], pool_of(collection, 1200)
    assert pooled.pool.drawn.any() and not pooled.pool.drawn.all()
    boost = FirstPositionBoost(2.0, 4.0)
    matrix, pooled = (each.with_position_boost(boost) for each in (matrix, pooled))
    np.testing.assert_array_equal(pooled.indices, matrix.indices)
    np.testing.assert_allclose(term_totals(pooled), term_totals(matrix), rtol=1e-9)
    (rule, order), (of_pool, _) = rule_of(matrix), rule_of(pooled)
    np.testing.assert_allclose(of_pool.thresholds[1], rule.thresholds[1])
    np.testing.assert_allclose(of_pool.factors, rule.factors, rtol=1e-6)
    tdv, cut = rule.thresholds_at(np.ones(len(order), np.float32), order, matrix.doc_freq, 0.45)
    for scale in (None, 2.0):
        found, wanted = (
            apply_values(keep_postings(each, tdv, cut), tdv, scale) for each in (pooled, matrix)
        )
        for statistic, truth in zip(found.statistics, wanted.statistics):
            np.testing.assert_allclose(statistic, truth, rtol=1e-9)
        np.testing.assert_array_equal(found.doc_len, wanted.doc_len)
        assert found.postings == wanted.postings
    left, truth = keep_postings(pooled, tdv, cut), keep_postings(matrix, tdv, cut)
    for name in ("indptr", "indices", "doc_freq", "total_term_freq", "doc_len"):
        np.testing.assert_array_equal(getattr(left, name), getattr(truth, name))
    assert (left.doc_count, left.collection_postings) == (truth.doc_count, truth.postings)
    again = apply_values(left, tdv)
    np.testing.assert_allclose(again.statistics.doc_freq, np.maximum(truth.doc_freq, 1))


def test_what_is_not_in_the_pool_is_estimated(collection):
    matrix, pooled = collection[0], pool_of(collection, 500)
    assert pooled.shape[1] == 500
    plain, truth = plain_collection(pooled), plain_collection(matrix)
    for found, wanted in zip(plain.statistics, truth.statistics):
        np.testing.assert_allclose(found, wanted, rtol=1e-9)  # nothing was done: nothing to guess
    rule, order = rule_of(matrix)
    tdv, cut = rule.thresholds_at(np.ones(len(order), np.float32), order, matrix.doc_freq, 0.45)
    found, wanted = (
        apply_values(keep_postings(each, tdv, cut), tdv, 2.0) for each in (pooled, matrix)
    )
    # About 5,000 of 21,000 postings are drawn ones: a standard error of a hundredth.
    assert found.postings == pytest.approx(wanted.postings, rel=0.03)
    assert found.statistics.avg_doc_len == pytest.approx(wanted.statistics.avg_doc_len, rel=0.03)
    of_pool, _ = rule_of(pooled)
    at = np.array([30, 45, 60])
    np.testing.assert_allclose(of_pool.thresholds[1][at], rule.thresholds[1][at], rtol=0.05)
    left = keep_postings(pooled, tdv, cut)
    assert left.collection_postings == int(left.doc_freq.sum())
    assert (left.doc_freq >= np.diff(left.indptr)).all()
    assert (left.doc_freq[tdv == 0] == 0).all()


def test_a_pool_has_the_judged_and_the_best_found_documents(collection):
    matrix, topics, qrels = collection
    pooled = pool_of(collection, 600)
    held = set(pooled.doc_ids)
    assert {doc.encode() for judged in qrels.values() for doc in judged} <= held
    queries = make_queries(matrix, topics, qrels)
    rankings = searched(search_matrix(matrix, queries, "bm25"), "bm25", 40, 600)
    assert {found[0].encode() for found in rankings} <= held
    assert pooled.pool.drawn.sum() >= 240
    certain = int((~pooled.pool.drawn).sum())
    assert pooled.pool.doc_weight == pytest.approx((1200 - certain) / (600 - certain))


@pytest.mark.parametrize(("shared", "asked"), [(False, [60]), (True, [60, 120, 200])])
def test_searches_go_as_deep_as_the_pool_has_room(shared, asked):
    """Ten queries, a pool of 1,000 documents: 600 are found, by lists of 60 if none is in two."""
    depths = []

    def search(settings, hits):
        depths.append(hits)
        found = {
            f"{q}": [f"{0 if shared else q}-{rank}" for rank in range(hits)] for q in range(10)
        }
        return [found] * len(settings)

    searched(search, "bm25", 10, 1000)
    assert list(dict.fromkeys(depths)) == asked


def test_drawn_documents_push_ranks_down_by_what_they_stand_for(collection, monkeypatch):
    matrix, topics, qrels = collection
    vectors = latent_semantic_vectors(matrix, dimensions=4)
    whole = Problem.of(matrix, topics, qrels, vectors, "bm25", Parameters())
    pooled = Problem.of(pool_of(collection, 500), topics, qrels, vectors, "bm25", Parameters())
    found, wanted = (problem.measure(problem.plain) for problem in (pooled, whole))
    # The head was found by searching: there is nothing to guess.
    np.testing.assert_allclose(found[:, 0], wanted[:, 0], atol=1e-12)
    # With the subject worth little, relevant documents stand far down, among what was drawn.
    values = np.where(np.arange(matrix.shape[0]) < TOPIC_WORDS, 0.05, 1).astype(np.float32)
    found, wanted = (
        problem.measure(apply_values(problem.matrix, values))[:, 2].mean()
        for problem in (pooled, whole)
    )
    monkeypatch.setattr(pooled.postings, "pool", None)  # each counts for itself alone
    uncounted = pooled.measure(apply_values(pooled.matrix, values))[:, 2].mean()
    assert abs(found - wanted) < abs(uncounted - wanted) / 4


def test_learning_from_a_pool_tells_so_and_gives_every_term_a_value(collection):
    matrix, topics, qrels = collection
    values = learn_term_values(matrix, topics, qrels, recipe=TINY, pool=500, seed=2)
    assert values.manifest["pool"]["documents"] == 500
    assert len(values.weights) == matrix.shape[0] and np.isfinite(values.weights).all()
    # Thresholds are of all postings, not of the pool's, by the order's saturation.
    boost, span = values.position_boost
    counted = matrix.with_position_boost(FirstPositionBoost(2 * boost, 2 * span))
    rule = values.posting_rule
    exact = make_posting_rule(counted, rule.priority, 0.0, k1=4.0, b=0.2)
    np.testing.assert_array_equal(rule.thresholds[1], exact.thresholds[1])


def test_a_large_collection_is_learned_from_by_a_pool():
    assert [pool_size(documents, None) for documents in (300_000, 300_001)] == [0, POOL]
    assert [pool_size(1000, asked) for asked in (0, 500, 1000, 2000)] == [0, 500, 0, 0]


def test_queries_without_judgements_are_told_before_a_search(collection):
    matrix, topics, qrels = collection
    with pytest.raises(TdvError, match="none of the 20 query ids of the qrels"):
        learn_term_values(matrix, {"other": topics["q1"]}, qrels, pool=500, search=_no_search)


def _no_search(parameters, hits):
    raise AssertionError("learning has begun")


def test_a_pool_too_small_for_the_judged_documents_is_refused(collection):
    with pytest.raises(TdvError, match=r"pool 50 is too small: [\d,]+ documents are judged"):
        learn_term_values(*collection, recipe=TINY, pool=50)


@pytest.fixture(scope="module")
def long_lists() -> TermDocumentMatrix:
    """Lists of all sizes, some much longer than a stretch."""
    rng = np.random.default_rng(0)
    sizes = np.concatenate([[60_000, 45_000, 30_000, 20_000], rng.integers(1, 400, 3000)])
    docs = [np.sort(rng.choice(80_000, size, replace=False)) for size in sizes]
    indices = np.concatenate(docs).astype(np.int32)
    data = rng.geometric(0.6, len(indices)).astype(np.int32)
    small = make_collection()[0]
    doc_len = np.bincount(indices, data, minlength=80_000).astype(np.int64)
    return replace(
        small,
        vocabulary=type(small.vocabulary)("contents", small.vocabulary.terms.of(
            [f"{i:05d}".encode() for i in range(len(sizes))])),
        doc_ids=small.doc_ids.of([f"{i}".encode() for i in range(80_000)]),
        indptr=np.concatenate([[0], np.cumsum(sizes)]), indices=indices, data=data,
        doc_freq=sizes, total_term_freq=np.add.reduceat(data, np.cumsum(sizes) - sizes),
        doc_len=doc_len, norms=doc_len,
    )  # fmt: skip


def test_a_pool_foresees_the_bytes_of_its_collection(long_lists):
    """Also where two of the four long lists lose nearly all."""
    tdv, least = np.ones(long_lists.shape[0], np.float32), np.zeros(long_lists.shape[0], np.float32)
    documents = np.arange(0, 80_000, 8)
    pool = pools._with_pool(long_lists, documents, np.ones(10_000, bool), silent)
    for lost in (0.0, 0.8):
        least[[1, 3]] = lost
        cut = PostingCut(least, LengthNorm(1.0, 0.0))
        exact, found = (
            estimate_posting_bytes(left, apply_values(left, tdv, 1))
            for left in (keep_postings(matrix, tdv, cut) for matrix in (long_lists, pool))
        )
        assert found == pytest.approx(exact, rel=0.05)


def test_vectors_of_a_large_collection_are_of_a_sample(collection, monkeypatch):
    matrix = collection[0]
    monkeypatch.setattr(term_vectors, "SAMPLED_FROM", 1000)
    monkeypatch.setattr(term_vectors, "SAMPLE", 300)
    first, again, other = (
        latent_semantic_vectors(matrix, dimensions=8, seed=seed) for seed in (1, 1, 2)
    )
    assert first.origin["documents"] == 300
    np.testing.assert_array_equal(first.vectors, again.vectors)
    assert not np.array_equal(first.vectors[:10], other.vectors[:10])
