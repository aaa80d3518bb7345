"""The paper's recipe on a small collection with a known signal, its loss, and its tables."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_problem import make_collection

from tdv_lucene.embedding.term_vectors import latent_semantic_vectors
from tdv_lucene.paper import pairwise
from tdv_lucene.paper.learn import learn_by_paper
from tdv_lucene.paper.pairwise import PaperRecipe, draw_negatives, glorot_start, relevant_pairs
from tdv_lucene.paper.similarities import hinge_with_sparsity
from tdv_lucene.paper.tables import paper_tables
from tdv_lucene.simulation.retrieval import make_queries
from tdv_lucene.simulation.scoring import Features

SHORT = PaperRecipe(max_epochs=2, patience=1, learning_rate=1e-2, reductions=(0.0,), folds=2)


@pytest.fixture(scope="module")
def collection():
    return make_collection()


@pytest.mark.parametrize(
    "model", ["bm25", *(pytest.param(name, marks=pytest.mark.slow) for name in ("qld", "tfidf"))]
)
def test_the_papers_recipe_learns_and_stops(collection, model):
    vectors = latent_semantic_vectors(collection[0])
    values = learn_by_paper(*collection, model=model, recipe=SHORT, vectors=vectors)
    assert np.isfinite(values.weights).all() and (values.weights >= 0).all()
    assert values.manifest["recommended_reduction"] == 0.0
    assert all(0 <= fold["network"]["epoch"] <= 2 for fold in values.manifest["folds"])
    np.testing.assert_array_equal(values.priority, values.weights)


def test_negatives_are_the_judged_ones_where_there_are_any(collection):
    matrix, topics, qrels = collection
    first, second = list(qrels)[:2]
    qrels = {**qrels, second: {doc: g for doc, g in qrels[second].items() if g > 0}}
    queries = make_queries(matrix, topics, qrels)
    pairs = relevant_pairs(queries)
    named = {(queries.ids[query], f"d{doc}") for query, doc in pairs.tolist()}
    assert named == {(q, d) for q, judged in qrels.items() for d, g in judged.items() if g > 0}
    rng = np.random.default_rng(0)
    of_first = pairs[pairs[:, 0] == queries.ids.index(first), 0]
    drawn = draw_negatives(queries, np.repeat(of_first, 50), matrix.shape[1], rng)
    judged = {int(doc[1:]) for doc, grade in qrels[first].items() if grade == 0}
    assert set(drawn.tolist()) == judged
    of_second = pairs[pairs[:, 0] == queries.ids.index(second), 0]
    drawn = draw_negatives(queries, np.repeat(of_second, 200), matrix.shape[1], rng)
    assert len(set(drawn.tolist())) > 20


def test_hinge_is_a_mean_and_the_penalty_a_sum():
    positive, negative = jnp.array([3.0, 0.5]), jnp.array([1.0, 0.25])
    # hinge: (0 + 0.75) / 2
    value = hinge_with_sparsity(positive, negative, jnp.array(40.0), 0.01)
    assert float(value) == pytest.approx(0.99 * 0.375 + 0.01 * 40)


def test_the_start_stays_within_glorots_bound():
    features = Features(
        np.zeros((3, 2), np.float32), np.array([2], np.int32), np.zeros((1, 3), np.float32)
    )
    start = glorot_start(jax.random.key(0), features)
    bound = np.sqrt(6 / (5 + 1))
    weights = np.concatenate([start.of_statistics, start.of_vector])
    assert len(weights) == 5 and np.abs(weights).max() <= bound and float(start.bias) == 1.0


@pytest.mark.parametrize("removed, shown", [(32.304, "-32.30 %"), (0.001, "0.00 %")])
def test_the_papers_third_table_has_the_papers_signs(removed, shown):
    effect = {"baseline": 0.5, "tdv": 0.25, "p_value": 0.01, "published": [31.5, 33.25]}
    entry = {
        "nDCG@5": effect, "R@1000": {**effect, "published": None},
        "latency_ms": {"baseline": 2.0, "tdv": 1.0, "published": None},
        "postings_removed": {"mean": removed, "published": 47.1},
    }  # fmt: skip
    report = {"collection": "LA", "queries": 10, "folds": 5, "models": {"bm25": entry}}
    first, second, third = paper_tables(report)
    assert first.rows == [("BM25", "2.000", "1.000", "x2.00", "-", "-", "-")]
    assert second.rows[0] == ("BM25, nDCG@5", "50.00", "25.00*", "0.010", "31.50", "33.25")
    assert third.rows == [("TDV-BM25", shown, "-47.10 %")]


def test_what_was_compiled_is_not_kept_for_ever():
    assert pairwise._compiled.cache_info().maxsize <= 8
