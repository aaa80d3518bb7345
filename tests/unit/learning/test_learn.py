"""Learning on a small collection with a known signal, for every model."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from small_problem import TOPIC_WORDS, make_collection

from tdv_lucene import TdvError, learn_term_values
from tdv_lucene.evaluation.significance import t_test
from tdv_lucene.learning.config import Recipe
from tdv_lucene.learning.prior import Prior
from tdv_lucene.learning.scale import (
    KEPT_OVERLAP,
    RANKING_SCALES,
    best_ranking_scale,
    faithful_scale,
)
from tdv_lucene.learning.selection import recommend
from tdv_lucene.learning.train import (
    Network,
    Trained,
    choose,
    choose_mildly,
    make_task,
    term_features,
    train,
)
from tdv_lucene.learning.validate import held_out_choice
from tdv_lucene.matrix.term_vectors import latent_semantic_vectors
from tdv_lucene.ranking import ANSERINI_DEFAULTS, MODELS
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.simulation.problem import Problem
from tdv_lucene.simulation.retrieval import MEASURES
from tdv_lucene.simulation.scoring import term_values
from tdv_lucene.values.posting_rule import constants_of

SHORT = Recipe(max_steps=40, check_every=20, learning_rate=3e-2, reductions=(0.0, 0.3))
TINY = Recipe(max_steps=2, check_every=1, folds=2, reductions=(0.0, 0.3))


@pytest.fixture(scope="module")
def collection():
    return make_collection()


@pytest.mark.parametrize("model", list(MODELS))
def test_gradients_make_noise_worth_less_than_the_subject(collection, model):
    matrix = collection[0]
    vectors = latent_semantic_vectors(matrix, dimensions=8)
    problem = Problem.of(*collection, vectors, model, Parameters(mu=50))  # documents are short
    features = term_features(matrix, vectors)
    task = make_task(problem, SHORT, features)
    queries = np.arange(32)  # as many as four folds have: no other shapes to compile for
    checkpoints = train(task, queries, np.random.default_rng(0), lambda: None)
    assert list(checkpoints) == [20, 40]
    values = np.asarray(term_values(checkpoints[40], features))
    assert values[TOPIC_WORDS:].mean() < 0.8 * values[:TOPIC_WORDS].mean()


def test_weights_are_learned_for_by_their_own_function_without_a_prior(collection):
    """What the norms are tells it; postings go by their share of the document's largest weight."""
    counted, *judged = collection
    weights = 10 * counted.data + np.arange(counted.postings) % 10  # seldom equal, as real ones
    matrix = replace(
        counted,
        data=weights,
        total_term_freq=np.add.reduceat(weights, counted.indptr[:-1]),
        doc_len=np.bincount(counted.indices, weights, len(counted.doc_len)).astype(np.int64),
        norms=np.minimum(counted.doc_len, 1),
        norm_kind=None,
    )
    values = learn_term_values(matrix, *judged, recipe=TINY)
    assert values.model == "impact" and "prior" not in values.manifest
    assert [point["removed"] for point in values.points] == pytest.approx([0, 0.3], abs=0.02)
    assert all(point["scale"] <= 1 for point in values.points)
    assert values.position_boost.power > 0 and values.position_boost.unit >= 1
    np.testing.assert_array_equal(
        matrix.stored_lengths()[matrix.indices] >= matrix.data, np.ones(matrix.postings, bool)
    )
    with pytest.raises(TdvError, match="would rank them wrongly"):
        learn_term_values(matrix, *judged, recipe=TINY, model="bm25")


def test_each_fold_is_chosen_for_by_the_others():
    gains = [np.array(of_choices)[:, None] for of_choices in ([9.0, 0.0], [0.0, 1.0], [0.0, 2.0])]
    others, everyone = choose(gains, 0.0)
    assert others == [1, 0, 0] and everyone == 0


def test_larger_differences_must_be_clearly_better():
    """Of weights; each fold's choice is made by the others' queries, whatever its own gain."""
    folds = list(np.arange(60).reshape(3, 20))
    noise = np.tile([0.05, -0.05], 30)
    networks = [
        Network(None, 1.0, slope, step)
        for slope, step in ((0.0, 0), (0.25, 20), (0.75, 20), (0.25, 10), (0.75, 10))
    ]

    def slopes(*extra: float) -> tuple[list[float], float, int]:
        """``extra``: what large slopes gain in each fold, over small ones."""
        gains = np.full((5, 60), 0.1)
        gains[0] = 0
        gains[[2, 4]] += noise + np.repeat(extra, 20)
        trained = [Trained(networks, gains[:, fold]) for fold in folds]
        others, everyone = choose_mildly(trained)
        chosen = networks[everyone]
        return [networks[k].slope for k in others], chosen.slope, chosen.step

    assert slopes(0.005, 0.005, 0.005) == ([0.25] * 3, 0.25, 10)  # noise: the fewest steps too
    assert slopes(0.05, 0.05, 0.05) == ([0.75] * 3, 0.75, 10)
    assert slopes(0.08, 0.0, 0.0) == ([0.25, 0.75, 0.75], 0.75, 10)


def test_held_out_queries_are_served_better(collection):
    unpruned = learn_term_values(*collection, recipe=SHORT).points[0]
    assert unpruned["measures"]["nDCG@5"] > unpruned["full"]["nDCG@5"]


def test_the_same_seed_learns_the_same():
    collection = make_collection(documents=120, queries=12)
    first, second = (learn_term_values(*collection, recipe=TINY, seed=5) for _ in range(2))
    np.testing.assert_array_equal(first.weights, second.weights)
    assert first.points == second.points
    other = learn_term_values(*collection, recipe=TINY, seed=6)
    assert not np.array_equal(first.weights, other.weights)


def test_the_manifest_holds_points_and_provenance(collection):
    values = learn_term_values(
        *collection, recipe=TINY, seed=3, parameters=Parameters(k1=1.2, b=0.75), measure="R@100"
    )
    manifest, (whole, point) = values.manifest, values.points
    assert values.measure == "R@100" and manifest["seed"] == 3
    assert recommend(values.points, "R@100", manifest["prior"]["reduction"]) == (
        values.recommended_reduction,
        manifest["recommended_because"],
    )
    assert manifest["source"] == collection[0].source
    assert manifest["parameters"] == {**ANSERINI_DEFAULTS, "k1": 1.2, "b": 0.75}
    (chosen,) = [e for e in point["scales"] if e["scale"] == point["scale"]]
    assert 0 < point["posting_bytes"] == chosen["posting_bytes"] < whole["posting_bytes"]
    assert 0 < point["dictionary_bytes"] <= manifest["full"]["dictionary_bytes"]
    assert 0 < point["visited"] < whole["visited"] <= manifest["full"]["visited"]
    most = manifest["full"]["posting_bytes"] + manifest["full"]["dictionary_bytes"]
    faithful = [e for e in point["scales"] if e["overlap_at_10"] >= KEPT_OVERLAP]
    smallest = min(faithful, key=lambda e: e["posting_bytes"])
    assert chosen["posting_bytes"] + chosen["dictionary_bytes"] <= most
    assert chosen is smallest or chosen["scale"] < smallest["scale"]


@pytest.fixture
def scales_foreseen(monkeypatch):
    """Agreement and bytes grow with the scale: .8 + .05 and 100 a unit of it."""

    def describe(at, scale, best):
        agreement = min(0.99, 0.8 + 0.05 * scale)
        size = {"posting_bytes": 100 * scale, "dictionary_bytes": 10}
        return {"scale": scale, "overlap_at_10": agreement, **size}

    name = "tdv_lucene.learning.scale"
    monkeypatch.setattr(f"{name}.best_documents", lambda at: None)
    monkeypatch.setattr(f"{name}.describe_scale", describe)


def _problem(whole: float) -> SimpleNamespace:
    """One whose full index has so many bytes."""
    full = SimpleNamespace(judged=SimpleNamespace(plain_bytes=whole))
    return SimpleNamespace(model="bm25", full=full)


def _scale_of(reduction: float, whole: float, **limits: float) -> float:
    at = SimpleNamespace(folds=[np.arange(3)], reduction=reduction, problem=_problem(whole))
    found = faithful_scale(at, **limits)
    assert found.entry["scale"] == found.of_folds[0] and found.entry in found.table
    assert found.table == sorted(found.table, key=lambda entry: entry["scale"])
    return found.of_folds[0]


def test_where_little_is_dropped_more_of_the_ranking_is_kept_in_no_more_bytes(scales_foreseen):
    chosen = {reduction: _scale_of(reduction, whole=1000) for reduction in (0.0, 0.15, 0.3, 0.8)}
    assert chosen == {0.0: 3, 0.15: 3, 0.3: 2, 0.8: 2}
    assert _scale_of(0.0, whole=310) == 3
    assert _scale_of(0.0, whole=309) == 2.5, "the dictionary counts"
    assert _scale_of(0.0, whole=135, least=2) == 1.25, "bytes come before what the prior knows"
    smallest = min(constants_of("bm25").scales)
    assert _scale_of(0.0, whole=1) == smallest, "there is no smaller one"


def test_the_scale_of_tfidf_is_the_one_that_ranks_best(scales_foreseen):
    """Each fold is measured at what the others choose; without a clear winner it is the first."""
    served = {0.2: [0.1, 0.1, 0.1, 0.1], 1: [0.2, 0.2, 0.2, 0.2], 3: [0.9, 0.9, 0.3, 0.3]}

    def held_out(scales):
        return np.repeat(np.array(served[scales[0]])[:, None], 3, axis=1)

    folds = [np.array([0, 1]), np.array([2, 3])]
    at = SimpleNamespace(folds=folds, held_out=held_out, problem=_problem(whole=310))
    found = best_ranking_scale(at, first=0.2, others=(1, 3))
    assert [entry["scale"] for entry in found.table] == [0.2, 1, 3]
    assert found.of_folds == [3, 3] and found.entry["scale"] == 0.2, "3 is not clearly better"
    served[3][0] = -9.0  # only its own fold must not see that
    assert best_ranking_scale(at, first=0.2, others=(1, 3)).of_folds == [3, 1]
    assert best_ranking_scale(at, first=0.2, others=()).of_folds == [0.2, 0.2]
    at.problem = _problem(whole=309)
    found = best_ranking_scale(at, first=0.2, others=(1, 3))
    assert found.entry["scale"] == 1 and found.of_folds == [1, 1], "3 is larger than the full one"


def test_tfidf_tries_scales_that_do_more_than_round(collection):
    values = learn_term_values(*collection, model="tfidf", recipe=TINY)
    tried = [entry["scale"] for entry in values.points[0]["scales"]]
    assert tried == sorted({*RANKING_SCALES, Prior.load().settings("tfidf", False, 1).scale})
    assert values.points[0]["scale"] in tried


def test_two_queries_are_enough_and_one_is_refused_without_a_prior(collection):
    matrix, topics, qrels = collection
    two = list(topics)[:2]
    values = learn_term_values(
        matrix, {q: topics[q] for q in two}, {q: qrels[q] for q in two}, recipe=TINY
    )
    assert values.manifest["queries"] == 2
    with pytest.raises(TdvError, match="folds is 1"):
        Recipe(folds=1)
    with pytest.raises(TdvError, match="at least 2 judged queries"):
        learn_term_values(
            matrix, {two[0]: topics[two[0]]}, {two[0]: qrels[two[0]]},
            recipe=replace(TINY, prior=False),
        )  # fmt: skip


def test_vectors_of_another_vocabulary_are_refused(collection):
    vectors = latent_semantic_vectors(make_collection(documents=260)[0])
    object.__setattr__(vectors, "vocabulary_sha256", "0" * 64)
    with pytest.raises(TdvError, match="made for another vocabulary"):
        learn_term_values(*collection, vectors=vectors)


def test_what_the_choice_of_a_point_is_worth_is_measured_on_queries_that_had_no_part_in_it():
    """Two points of which one is worth .1 for each half of the queries, and the other -.1."""
    folds = [np.arange(20), np.arange(20, 40)]
    noise = np.random.default_rng(0).normal(0, 0.01, 40)
    gains = np.repeat([0.1, -0.1], 20) + noise
    full = dict.fromkeys(MEASURES, 0.5)
    points = [{"reduction": r, "posting_bytes": 1 - r, "full": full} for r in (0.0, 0.3, 0.6)]
    columns = [np.zeros((40, len(MEASURES))) for _ in points]
    columns[1][:, 0], columns[2][:, 0] = gains, -gains

    def best(some):
        return recommend(some).reduction

    found = held_out_choice(points, columns, folds, "nDCG@5", best)
    assert found["mean"] == pytest.approx(-0.1, abs=0.01), "each half takes what is bad for it"
    low, high = found["ci95"]
    of_mean = t_test(np.concatenate([columns[2][:20, 0], columns[1][20:, 0]]))[1]
    assert high - low == pytest.approx(2**0.5 * (of_mean[1] - of_mean[0]))
    alone = held_out_choice(points, columns, [np.arange(40)], "nDCG@5", best)
    assert alone is None, "nobody else could choose"
