"""The paper's recipe on a small collection with a known signal, its loss, measures and tables."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_problem import make_collection, make_run

from tdv_lucene.evaluation.measures import evaluate_run
from tdv_lucene.matrix.term_vectors import latent_semantic_vectors
from tdv_lucene.paper.experiment import measure
from tdv_lucene.paper.method import Formula, Weights, objective, scores
from tdv_lucene.paper.published import MEASURES
from tdv_lucene.paper.recipes import (
    PaperRecipe,
    Triples,
    glorot_start,
    learn_by_paper,
    literal_features,
)
from tdv_lucene.paper.results import paper_tables
from tdv_lucene.ranking import SearchParameters
from tdv_lucene.simulation.problem import Problem
from tdv_lucene.simulation.scoring import Features, Linear

SHORT = PaperRecipe(max_epochs=2, patience=1, learning_rate=1e-2)


@pytest.fixture(scope="module")
def collection():
    return make_collection()


@pytest.mark.slow
@pytest.mark.parametrize("model", ["bm25", "qld", "tfidf"])
def test_the_papers_recipe_learns_and_stops(collection, model):
    vectors = latent_semantic_vectors(collection[0])
    values = learn_by_paper(collection[0], collection[1:], model, SHORT, vectors)
    assert np.isfinite(values.weights).all() and (values.weights >= 0).all()
    assert values.manifest["recommended_reduction"] == 0.0
    assert 0 <= values.manifest["recipe"]["epoch"] <= 2
    np.testing.assert_array_equal(values.priority, values.weights)


def test_negatives_are_the_judged_ones_where_there_are_any(collection):
    matrix, topics, qrels = collection
    first, second = list(qrels)[:2]
    qrels = {**qrels, second: {doc: g for doc, g in qrels[second].items() if g > 0}}
    vectors = latent_semantic_vectors(matrix, dimensions=2)
    problem = Problem.of(matrix, topics, qrels, vectors, "bm25", SearchParameters())
    triples, ids = Triples(problem), problem.queries.ids
    named = {(ids[query], f"d{doc}") for query, doc in triples.pairs.tolist()}
    assert named == {(q, d) for q, judged in qrels.items() for d, g in judged.items() if g > 0}
    rng = np.random.default_rng(0)
    drawn = triples.negatives(np.repeat(ids.index(first), 500), rng)
    judged = {int(doc[1:]) for doc, grade in qrels[first].items() if grade == 0}
    assert set(drawn.tolist()) == judged
    drawn = triples.negatives(np.repeat(ids.index(second), 500), rng)
    assert len(set(drawn.tolist())) > 20


def test_hinge_is_a_mean_and_the_penalty_a_sum(collection):
    matrix = collection[0]
    vectors = latent_semantic_vectors(matrix, dimensions=2)
    problem = Problem.of(*collection, vectors, "bm25", SearchParameters())
    triples = Triples(problem)
    batch = triples.batch(triples.pairs[:5], np.random.default_rng(0))
    linear = Linear(jnp.zeros(0), jnp.zeros(2), jnp.ones(()))
    features = literal_features(matrix, vectors)
    formula = Formula("bm25", problem.parameters.values())
    given = linear, features, formula, batch, None
    found = np.asarray(scores(formula, jnp.ones(matrix.shape[0]), batch, None))
    hinge = np.maximum(0, 1 - found[:, 0] + found[:, 1]).mean()
    assert float(objective(*given, Weights(0.0))) == pytest.approx(hinge, rel=1e-4)
    expected = 0.99 * hinge + 0.01 * batch.entry_tf.sum()
    assert float(objective(*given, Weights(0.01))) == pytest.approx(expected, rel=1e-4)


def test_the_start_stays_within_glorots_bound():
    features = Features(
        np.zeros((3, 0), np.float32), np.array([2], np.int32), np.zeros((1, 5), np.float32)
    )
    start = glorot_start(jax.random.key(0), features)
    assert start.of_vector.shape == (5,) and float(start.bias) == 1.0
    assert 0 < np.abs(start.of_vector).max() <= np.sqrt(6 / (5 + 1))


@pytest.mark.parametrize("removed, shown", [(32.304, "-32.30 %"), (0.001, "0.00 %")])
def test_the_papers_third_table_has_the_papers_signs(removed, shown):
    effect = {"baseline": 0.5, "tdv": 0.25, "p_value": 0.01, "published": [31.5, 33.25]}
    entry = {
        "nDCG@5": effect, "R@1000": {**effect, "published": None},
        "latency_ms": {"baseline": 2.0, "tdv": 1.0, "published": None},
        "postings_visited": {"baseline": 30.0, "tdv": 20.0},
        "postings_removed": {"mean": removed, "published": 47.1},
    }  # fmt: skip
    report = {"collection": "LA", "queries": 10, "folds": 5, "models": {"bm25": entry}}
    first, second, third = paper_tables(report)
    assert first.rows == [("BM25", "2.000", "1.000", "x2.00", "x1.50", "-", "-", "-")]
    assert second.rows[0] == ("BM25, nDCG@5", "50.00", "25.00*", "0.010", "31.50", "33.25")
    assert third.rows == [("TDV-BM25", shown, "-47.10 %")]


def written(path: Path, run: dict[str, dict[str, float]]) -> Path:
    lines = [f"{q} Q0 {d} 1 {score} x\n" for q, docs in run.items() for d, score in docs.items()]
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize("seed", range(5))
def test_without_ties_they_are_trec_evals(seed: int, tmp_path: Path) -> None:
    topics, qrels, run = make_run(seed)
    path = written(tmp_path / "run", run)
    found, expected = measure(path, topics, qrels), evaluate_run(path, topics, qrels)
    assert [*found] == [*MEASURES]
    for name, values in found.items():
        np.testing.assert_allclose(values, expected.values[name], atol=1e-12)
    assert not any(values.any() for values in measure(written(path, {}), topics, qrels).values())


def test_of_equal_scores_the_lower_id_comes_first(tmp_path: Path) -> None:
    """trec_eval puts the higher one first."""
    path = written(tmp_path / "run", {"q": {"b": 1.0, "a": 1.0}})
    assert measure(path, {"q": ""}, {"q": {"a": 1}})["nDCG@5"] == 1
    assert evaluate_run(path, {"q": ""}, {"q": {"a": 1}}).values["nDCG@5"] < 1
