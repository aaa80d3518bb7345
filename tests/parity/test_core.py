"""NumPy oracle = JAX core for the three models, in both forms, and gradients that are right."""

from __future__ import annotations

import jax
import numpy as np
import pytest
import ranking_oracle as oracle

from tdv_lucene.paper import method as paper
from tdv_lucene.ranking.functions import Bm25, Dirichlet, TfIdf
from tdv_lucene.simulation import scoring

TERMS, DOCS = 12, 7
K1, B, MU = 0.9, 0.4, 50.0
QUERIES = [{0: 1, 3: 2}, {5: 1, 7: 1, 9: 1}, {1: 1, 2: 1, 11: 3}]
LUCENE = {
    "bm25": (Bm25(K1, B), lambda tf, q, d: oracle.bm25(tf, q, d, K1, B)),
    "qld": (Dirichlet(MU), lambda tf, q, d: oracle.dirichlet(tf, q, d, MU)),
    "tfidf": (TfIdf(), oracle.tf_idf),
}
PAPER = {model: paper.Formula(model, {"k1": K1, "b": B, "mu": MU}) for model in LUCENE}


@pytest.fixture(autouse=True)
def _nothing_is_promoted_in_silence():
    with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
        yield


@pytest.fixture
def float64():
    """Double precision for finite differences, in this test only."""
    with jax.enable_x64(True):
        yield


@pytest.fixture
def tf() -> np.ndarray:
    """Frequencies float64[TERMS, DOCS], half of them 0, every term somewhere."""
    rng = np.random.default_rng(3)
    counts = rng.poisson(2.0, (TERMS, DOCS)) * (rng.random((TERMS, DOCS)) < 0.6)
    counts[np.arange(TERMS), np.arange(TERMS) % DOCS] += 1
    return counts.astype(float)


def values(seed: int = 4) -> np.ndarray:
    """Term values float64[TERMS], away from ReLU's kink."""
    return np.random.default_rng(seed).uniform(0.2, 2.0, TERMS)


def batch_of(tf: np.ndarray, docs: np.ndarray) -> scoring.Batch:
    """A batch of QUERIES with the candidates ``docs`` int[B, C], padded in every way."""
    longest = max(map(len, QUERIES)) + 1
    query_terms = np.zeros((len(QUERIES), longest), np.int32)
    query_tf = np.zeros((len(QUERIES), longest), tf.dtype)
    for b, query in enumerate(QUERIES):
        query_terms[b, : len(query)] = list(query)
        query_tf[b, : len(query)] = list(query.values())
    rows = [tf[:, doc] for doc in docs.ravel()]
    entries = [
        (term, place, row[term]) for place, row in enumerate(rows) for term in np.flatnonzero(row)
    ]
    entries += [(0, docs.size - 1, 0.0)] * 5
    terms, places, frequencies = map(np.array, zip(*entries))
    return scoring.Batch(
        query_terms, query_tf, tf[query_terms[:, None, :], docs[:, :, None]],
        terms.astype(np.int32), places.astype(np.int32), frequencies.astype(tf.dtype),
    )  # fmt: skip


def lucene_scores(model: str, tf: np.ndarray, tdv: np.ndarray, docs: np.ndarray) -> jax.Array:
    statistics = scoring.weighted_statistics(tdv, (tf > 0).sum(1), tf.sum(1), float(DOCS))
    return scoring.score_batch(LUCENE[model][0], tdv, batch_of(tf, docs), statistics)


CANDIDATES = np.array([[0, 1, 2, 3], [4, 5, 6, 0], [1, 3, 5, 6]])


@pytest.mark.parametrize("model", LUCENE)
def test_scores_are_lucenes_on_the_weighted_matrix(model, tf, float64):
    tdv = values()
    scores = lucene_scores(model, tf, tdv, CANDIDATES)
    formula = LUCENE[model][1]
    expected = [
        [formula(tf * tdv[:, None], query, doc) for doc in docs]
        for query, docs in zip(QUERIES, CANDIDATES)
    ]
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


@pytest.mark.parametrize("model", LUCENE)
def test_gradients_match_finite_differences(model, tf, float64):
    weights = np.random.default_rng(5).normal(size=CANDIDATES.shape)

    def total(tdv):
        return (lucene_scores(model, tf, tdv, CANDIDATES) * weights).sum()

    tdv = values(6)
    expected = oracle.finite_differences(total, tdv)
    np.testing.assert_allclose(jax.grad(total)(tdv), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("model", LUCENE)
def test_a_term_of_value_zero_scores_nothing_and_has_a_finite_gradient(model, tf):
    tdv = values().astype(np.float32)
    tdv[[0, 3]] = 0  # all terms of the first query
    narrow = tf.astype(np.float32)
    assert not lucene_scores(model, narrow, tdv, CANDIDATES)[0].any()
    gradient = jax.grad(lambda x: lucene_scores(model, narrow, x, CANDIDATES).sum())(tdv)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("model", PAPER)
def test_the_papers_equations_over_a_half_batch(model, tf, float64):
    tdv, docs = values(), np.array([2, 4, 6])
    half = batch_of(tf, docs[:, None])
    scores = paper.scores(PAPER[model], tdv, half, None)[:, 0]
    weighted = (tf * tdv[:, None])[:, docs]
    expected = [
        oracle.paper_score(model, weighted, query, place, k1=K1, b=B, mu=MU)
        for place, query in enumerate(QUERIES)
    ]
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


@pytest.mark.parametrize("model", PAPER)
def test_the_papers_gradients_match_finite_differences(model, tf, float64):
    half = batch_of(tf, np.array([[2], [4], [6]]))

    def total(tdv):
        found = paper.scores(PAPER[model], tdv, half, None)[:, 0]
        return (found * np.array([1.0, -2.0, 0.5])).sum()

    tdv = values(7)
    expected = oracle.finite_differences(total, tdv)
    np.testing.assert_allclose(jax.grad(total)(tdv), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("k1", "b"), [(0.0, 0.4), (0.9, 1.0)])
def test_an_absent_term_of_an_empty_document_scores_zero_at_the_edge_of_bm25(k1, b):
    statistics = scoring.Statistics(np.array(3.0), np.array(5.0), 10.0, 50.0)
    scores = Bm25(k1, b).term_scores(np.zeros(1), np.zeros(1), statistics)
    assert scores.tolist() == [0.0]
