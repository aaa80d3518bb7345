"""The paper's method with its choices made by inner folds: its loss, its zeros, its choice."""

from __future__ import annotations

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from small_problem import make_collection

from tdv_lucene.matrix.term_vectors import latent_semantic_vectors
from tdv_lucene.paper import method
from tdv_lucene.paper.own_formulas import OwnPostings
from tdv_lucene.paper.recipes import (
    Setting,
    Tried,
    Triples,
    TunedRecipe,
    choose,
    learn_by_paper,
    most_zeros,
    train_to_zeros,
    tuned_features,
    without_learning,
)
from tdv_lucene.ranking import SearchParameters
from tdv_lucene.simulation.problem import Problem

RECIPE = TunedRecipe(
    sparsities=(0.95,), powers=(0.0, 1.0), targets=(0.1, 0.3), inner_folds=2, candidates=50,
    pairs_per_step=16, learning_rate=0.1,
)  # fmt: skip
MODELS = ("bm25", "qld", "tfidf")


@pytest.fixture(scope="module")
def collection():
    return make_collection(documents=120, queries=24)


def problem_of(collection, model="bm25"):
    matrix = collection[0]
    vectors = latent_semantic_vectors(matrix, dimensions=8)
    return Problem.of(*collection, vectors, model, SearchParameters())


@pytest.fixture(scope="module")
def problem(collection):
    return problem_of(collection)


def prepared(problem):
    features = tuned_features(problem.matrix, problem.vectors, RECIPE.share_of_statistics)
    return features, Triples(problem, RECIPE.candidates)


def stops_of(problem, queries, seed=0):
    rng = np.random.default_rng(seed)
    return list(train_to_zeros(problem, *prepared(problem), queries, RECIPE, 0.95, rng))


def test_whitened_vectors_are_centred_uncorrelated_and_of_unit_length_on_the_mean():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(400, 5)) @ rng.normal(size=(5, 5)) + 7
    found = method.whitened(vectors).astype(np.float64)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(found.T @ found / 400, np.eye(5) / 5, atol=1e-5)


def scores_of_terms(model, given, dense, idf, l1, mean_length):
    """float64[V, D]: the paper's equations, of frequencies times TDVs and of their sums ``l1``."""
    if model == "tfidf":
        return dense * idf[:, None]
    length = dense.sum(axis=0)
    if model == "bm25":
        norm = given.k1 * (1 - given.b + given.b * length / mean_length)
        return idf[:, None] * dense * (given.k1 + 1) / (dense + norm)
    p = np.maximum(l1 / l1.sum(), 1e-12)
    return np.log1p(dense / (given.mu * p[:, None])) + np.log(given.mu / (length + given.mu))


@pytest.mark.parametrize("model", MODELS)
def test_scores_by_l1_are_the_papers_equations(collection, model):
    problem = problem_of(collection, model)
    matrix, given = problem.matrix, problem.parameters
    _, triples = prepared(problem)
    rng = np.random.default_rng(3)
    batch = triples.batch(triples.pairs[:6], rng)
    values = rng.uniform(0.5, 2, matrix.shape[0]).astype(np.float32)
    formula = method.Formula(model, given.values(), 1e-9)
    totals = jnp.asarray(matrix.total_term_freq, jnp.float32)
    of_all = method.Collection(totals, jnp.float32(matrix.doc_count))
    found = method.scores(formula, jnp.asarray(values), batch, of_all)
    l1 = np.asarray(matrix.total_term_freq) * values.astype(np.float64)
    dense = np.zeros((len(values), 12))
    np.add.at(dense, (batch.entry_terms, batch.entry_docs), batch.entry_tf)
    idf = np.log((l1.max() + 1) / (l1 + 1))
    weighted = dense * values[:, None]
    parts = scores_of_terms(model, given, weighted, idf, l1, l1.sum() / matrix.doc_count)
    parts = parts.reshape(len(values), 6, 2)
    for query in range(6):
        terms, times = batch.query_terms[query], batch.query_tf[query]
        expected = times @ parts[terms, query]
        np.testing.assert_allclose(found[query], expected, rtol=1e-3, atol=1e-4)


def test_shrinking_all_values_does_not_lower_the_penalty_and_a_zero_does(problem):
    _, triples = prepared(problem)
    batch = triples.batch(triples.pairs[:16], np.random.default_rng(0))
    ones = np.ones(problem.matrix.shape[0], np.float32)
    penalty = float(method.unit_l1(jnp.asarray(ones), batch))
    assert float(method.unit_l1(jnp.asarray(ones / 8), batch)) == pytest.approx(penalty, rel=1e-4)
    fewer = ones.copy()
    fewer[-20:] = 0
    assert float(method.unit_l1(jnp.asarray(fewer), batch)) < 0.95 * penalty


def test_negatives_are_found_by_the_baseline_and_not_relevant_or_from_anywhere(problem):
    _, triples = prepared(problem)
    queries = np.arange(4)
    pairs = triples.of(queries)
    assert set(pairs[:, 0]) <= set(queries.tolist())
    relevant = {(q, d) for q, d in triples.pairs.tolist()}
    first = problem.postings.top(problem.impacts(problem.plain), RECIPE.candidates)
    drawn = triples.negatives(np.repeat(queries, 100), np.random.default_rng(0)).reshape(4, 100)
    for query, others in enumerate(drawn.tolist()):
        assert set(others) <= set(first[query].tolist()) - {-1}
        assert not any((query, doc) in relevant for doc in others)
    free = Triples(problem, RECIPE.candidates, anywhere=0.5)
    drawn = free.negatives(np.repeat(0, 4000), np.random.default_rng(0))
    assert 0.4 < np.isin(drawn, free.others[0]).mean() < 1
    assert len(set(drawn.tolist())) == problem.matrix.shape[1]


@pytest.mark.parametrize("model", MODELS)
def test_zeros_appear_on_the_way(collection, model):
    problem = problem_of(collection, model)
    stops = stops_of(problem, np.arange(len(problem.queries)))
    assert [stop.target for stop in stops] == list(RECIPE.targets)
    doc_freq = problem.matrix.doc_freq
    for stop in stops:
        assert stop.dropped >= stop.target
        assert stop.dropped == pytest.approx(doc_freq[stop.values == 0].sum() / doc_freq.sum())
        assert (stop.values >= 0).all() and (stop.values > 0).any()


def measured(ndcg, recall):
    return np.stack([np.asarray(ndcg, float), np.asarray(recall, float)], axis=1)


def tried(dropped, ndcg, recall=0.0, power=0.0):
    measures = BASE + np.stack([np.broadcast_to(ndcg, 3), np.broadcast_to(recall, 3)], axis=1)
    return Tried(Setting(0.8, power, dropped), dropped, measures)


BASE = measured([0.2, 0.4, 0.6], [0.9, 0.9, 0.9])


def test_the_most_zeros_that_keep_both_measures_are_chosen():
    few, some, better = tried(0.1, 0.2), tried(0.3, 0.01), tried(0.3, [0.03, 0.031, 0.03], power=1)
    worse, forgetful = tried(0.4, -0.01), tried(0.5, 0.2, -0.05)
    assert most_zeros([few, some, better, worse, forgetful], BASE, RECIPE) == better.setting
    assert most_zeros([tried(0.2, 0.0, -0.001)], BASE, RECIPE) is not None
    assert most_zeros([worse, forgetful], BASE, RECIPE) is None
    lucky = tried(0.3, [-0.1, -0.1, 0.4], power=1)
    assert most_zeros([some, lucky], BASE, RECIPE) == some.setting


def test_inner_folds_are_measured_by_trainings_that_did_not_see_them(problem, monkeypatch):
    from tdv_lucene.paper import recipes

    seen, tried = [], []
    train, measure = recipes.train_to_zeros, recipes._measure

    def noted(problem, features, triples, queries, *rest, **named):
        seen.append(set(queries.tolist()))
        return train(problem, features, triples, queries, *rest, **named)

    def measuring(problem, values, some=None):
        tried.append(set(some.tolist()))
        return measure(problem, values, some)

    monkeypatch.setattr(recipes, "train_to_zeros", noted)
    monkeypatch.setattr(recipes, "_measure", measuring)
    folds = np.array_split(np.arange(len(problem.queries)), 2)
    features, triples = prepared(problem)
    choose([problem] * 3, features, triples, folds, RECIPE, 0)
    assert [sorted(each) for each in seen] == [folds[1].tolist(), folds[0].tolist()]
    baseline, *others = tried
    assert baseline == set(range(len(problem.queries)))
    assert others and all(each in [set(fold.tolist()) for fold in folds] for each in others)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_learning_records_the_choice_and_is_deterministic(collection, model, monkeypatch):
    vectors = latent_semantic_vectors(collection[0], dimensions=8)
    recipe = replace(RECIPE, kept_recall=0.0)
    # Anything is kept, so that there are zeros.
    monkeypatch.setattr("tdv_lucene.paper.recipes.most_zeros", lambda tried, *_: tried[-1].setting)
    matrix, *judged = collection
    one, again = (learn_by_paper(matrix, judged, model, recipe, vectors) for _ in range(2))
    np.testing.assert_array_equal(one.weights, again.weights)
    found = one.manifest["recipe"]
    assert found["chosen"] == {"sparsity": 0.95, "power": 1.0, "target": 0.3}
    assert len(found["tried"]) == len(recipe.targets) * len(recipe.powers)
    doc_freq = np.asarray(one.doc_freq)
    gone = doc_freq[one.weights == 0].sum()
    assert gone / doc_freq.sum() >= 0.3
    assert one.manifest["recommended_reduction"] == 0.0
    ridf, full = (without_learning(one, matrix, by_ridf) for by_ridf in (True, False))
    assert 0 <= gone - doc_freq[ridf.weights == 0].sum() <= doc_freq.max()
    assert (full.weights == 1).all()
    assert ridf.manifest["parameters"] == full.manifest["parameters"] == one.manifest["parameters"]


def test_where_no_zeros_keep_the_measures_nothing_is_dropped(collection):
    vectors = latent_semantic_vectors(collection[0], dimensions=8)
    recipe = replace(RECIPE, kept_recall=2.0)
    values = learn_by_paper(collection[0], collection[1:], "bm25", recipe, vectors)
    assert "chosen" not in values.manifest["recipe"]
    np.testing.assert_array_equal(values.weights, 1)


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_own_formulas_are_the_papers_equations(collection, model, values):
    matrix, topics, qrels = collection
    dense = np.zeros(matrix.shape)
    for term in range(len(dense)):
        row = slice(matrix.indptr[term], matrix.indptr[term + 1])
        dense[term, matrix.indices[row]] = matrix.data[row]
    doc_freq, count = np.count_nonzero(dense, axis=1), matrix.shape[1]
    tdv, given = None, SearchParameters()
    if values:
        tdv = np.random.default_rng(0).uniform(0, 2, len(dense)).astype(np.float32)
        tdv[::4] = 0
        dense *= tdv[:, None]
    l1, length = dense.sum(axis=1), dense.sum(axis=0)
    idf = np.log((l1.max() + 1) / (l1 + 1)) if values else np.log((count + 1) / doc_freq)
    parts = scores_of_terms(model, given, dense, idf, l1, length.mean())
    postings = OwnPostings(matrix, topics, qrels, model, given, tdv)
    names = [term.decode() for term in matrix.vocabulary.terms]
    for query, scores in postings.scores(postings.own, range(5)):
        asked = [names.index(token) for token in topics[postings.queries.ids[query]]]
        expected, matching = parts[asked].sum(axis=0), dense[asked].sum(axis=0) > 0
        np.testing.assert_array_equal(scores > 0, matching)
        shift = (scores - expected)[matching]
        np.testing.assert_allclose(shift, shift[0], atol=1e-6)
