"""The orders of postings: what they are, and what they do to long lists and rare terms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_problem import make_collection

from tdv_lucene.errors import TdvError
from tdv_lucene.learning.config import LearnConfig
from tdv_lucene.learning.learn import learn_term_values
from tdv_lucene.learning.recipes import DefaultRecipe
from tdv_lucene.matrix.first_positions import FirstPositionBoost
from tdv_lucene.matrix.norms import stored_lengths
from tdv_lucene.matrix.term_statistics import residual_idf
from tdv_lucene.prior.alone import prior_values
from tdv_lucene.pruning.reduction_choice import LARGEST_REDUCTION
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.ranking.bm25 import bm25_idf
from tdv_lucene.simulation.posting_rules import rule_of_order
from tdv_lucene.simulation.weighted_collection import keep_postings
from tdv_lucene.values.dropped_postings import LengthNorm
from tdv_lucene.values.term_orders import order_by_use, order_terms

SHORT = DefaultRecipe(max_steps=4, check_every=2, folds=2)


@pytest.fixture(scope="module")
def collection():
    return make_collection()


@pytest.mark.parametrize(
    ("kind", "a", "x0", "r"),
    [("smallest", 1.4, 0.57, 0.1), ("fastest", 1.44, 0.62, 0.02)],
)
def test_orders_by_use(collection, kind, a, x0, r):
    matrix = collection[0]
    ridf = np.maximum(residual_idf(matrix), 0)
    x = bm25_idf(matrix.doc_freq, matrix.doc_count) / np.log(matrix.doc_count + 1)
    expected = (ridf + 0.01) ** r * (x * np.exp(-x / x0)) ** a
    np.testing.assert_allclose(order_terms(matrix, kind), expected, rtol=1e-5)


def test_an_order_by_use_is_highest_at_x0_where_ridf_does_not_count(collection):
    matrix = collection[0]
    x = bm25_idf(matrix.doc_freq, matrix.doc_count) / np.log(matrix.doc_count + 1)
    best = x[np.argmax(order_by_use(matrix, 1.0, 0.3, 0.0))]
    assert abs(best - 0.3) == np.abs(x - 0.3).min()


def test_lengths_count_for_less_where_bytes_or_speed_are_preferred(collection):
    """Orders that have a saturation of their own use it whatever the search's k1 and b are."""
    matrix = collection[0]
    lengths = stored_lengths(matrix)
    for kind, k1, b in (("balanced", 1.7, 0.9), ("smallest", 2.0, 0.1), ("fastest", 2.0, 0.1)):
        searched = Parameters(k1=1.7, b=0.9)
        _, rule = rule_of_order(matrix, kind, "bm25", searched, DefaultRecipe(), (0.5,))
        assert rule.length_norm == LengthNorm.of(k1, b, float(lengths.sum() / matrix.doc_count))


@pytest.mark.parametrize(
    ("kind", "model", "share"),
    [("balanced", "qld", 0.67), ("lean", "qld", 0.8), ("ridf", "bm25", 0)],
)
def test_an_order_may_drop_more_whole_terms(collection, kind, model, share):
    _, rule = rule_of_order(
        collection[0], kind, model, Parameters(), DefaultRecipe(), DefaultRecipe().reductions
    )
    assert rule.whole_terms == share


@pytest.mark.parametrize(
    ("kind", "model", "times"),
    [("ridf", "bm25", 2), ("balanced", "bm25", 2), ("smallest", "bm25", 2), ("ridf", "qld", 1)],
)
def test_what_stands_early_is_kept_longest(collection, kind, model, times):
    """For BM25 the saturation that drops has twice the index's first-position boost and span."""
    matrix = collection[0]
    first = np.random.default_rng(1).integers(0, 60, matrix.postings).astype(np.uint16)
    matrix = replace(matrix, first_positions=first)
    boosted = matrix.with_position_boost(FirstPositionBoost(1.5, 3.0))
    for counted, expected in (
        (boosted, FirstPositionBoost(1.5 * times, 3.0 * times)),
        (matrix, None),
    ):
        order, rule = rule_of_order(counted, kind, model, Parameters(), DefaultRecipe(), (0.5,))
        _, cut = rule.drop(np.ones(len(order), np.float32), order, matrix.doc_freq, 0.5)
        assert rule.position_boost == cut.position_boost == expected


def test_the_rule_drops_by_order_times_saturation(collection):
    """At half of the postings, none that stays is worth less than one that goes."""
    matrix = collection[0]
    order, rule = rule_of_order(matrix, "smallest", "bm25", Parameters(), DefaultRecipe(), (0.5,))
    everything = np.ones(len(order), np.float32)
    tdv, cut = rule.drop(everything, order, matrix.doc_freq, 0.5)
    kept = keep_postings(matrix, tdv, cut)
    length_norm = cut.length_norm.at(stored_lengths(matrix))
    rows = np.repeat(np.arange(len(order)), np.diff(matrix.indptr))
    worth = order[rows] * (matrix.data / (matrix.data + length_norm[matrix.indices]))
    left = np.repeat(np.arange(len(order)), np.diff(kept.indptr)), kept.indices
    stays = np.isin(rows * matrix.shape[1] + matrix.indices, left[0] * matrix.shape[1] + left[1])
    assert 0.4 < stays.mean() < 0.6
    assert worth[~stays].max() <= worth[stays].min() * 1.002  # thresholds lie a thousandth apart


def test_the_more_speed_counts_the_fewer_postings_stay_in_long_lists(collection):
    matrix = collection[0]
    by_length = np.argsort(matrix.doc_freq)
    long, short = {}, {}
    for kind in ("balanced", "smallest", "fastest"):
        order, rule = rule_of_order(matrix, kind, "bm25", Parameters(), DefaultRecipe(), (0.6, 0.8))
        everything = np.ones(len(order), np.float32)
        for reduction, lists, left in ((0.6, by_length[-15:], long), (0.8, by_length[:20], short)):
            tdv, cut = rule.drop(everything, order, matrix.doc_freq, reduction)
            left[kind] = keep_postings(matrix, tdv, cut).doc_freq[lists].sum()
    assert long["fastest"] < long["smallest"] < long["balanced"]
    assert short["balanced"] < short["smallest"] < short["fastest"]


def test_a_preference_decides_the_order_whatever_queries_or_prior_say(collection):
    found = learn_term_values(*collection, recipe=replace(SHORT, prefer="speed"))
    np.testing.assert_array_equal(found.priority, order_terms(collection[0], "fastest"))
    assert {fold["order"] for fold in found.manifest["folds"]} == {"fastest"}
    alone = prior_values(collection[0], prefer="size")
    np.testing.assert_array_equal(alone.priority, order_terms(collection[0], "smallest"))
    default = prior_values(collection[0])
    np.testing.assert_array_equal(default.priority, order_terms(collection[0], "balanced"))


def test_orders_to_try_begin_with_the_priors():
    recipe = DefaultRecipe()
    assert recipe.orders_to_try(None, "bm25") == ("ridf", "named")
    assert recipe.orders_to_try("balanced", "tfidf") == ("balanced", "ridf", "named")
    assert recipe.orders_to_try("balanced", "qld") == ("balanced", "ridf", "named")
    small = DefaultRecipe(prefer="size")
    assert small.orders_to_try("balanced", "bm25") == ("smallest",)
    assert small.orders_to_try("balanced", "qld") == ("lean",)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"prefer": "tempo"}, "prefer='tempo' is unknown: choose one of ranking, size, speed"),
        ({"prefer": "speed", "model": "qld"}, "is for bm25, not for model 'qld'"),
        ({"prefer": "size", "model": "tfidf"}, "is for bm25 and qld, not for model 'tfidf'"),
    ],
)
def test_preferences_that_do_nothing_are_refused(options, said):
    with pytest.raises(TdvError, match=said):
        LearnConfig(**options)


def test_a_recipe_with_a_preference_is_refused_for_other_models(collection):
    with pytest.raises(TdvError, match="is for bm25, not for model 'qld'"):
        learn_term_values(*collection, model="qld", recipe=replace(SHORT, prefer="speed"))


def test_the_larger_idf_is_corrected_as_far_as_pruning_goes(collection):
    """At 91 % TDVs had the factors of 80 %, of learned TDVs and of the prior's alone."""
    recipe = DefaultRecipe(values=False, tuned=False, folds=2, reductions=(0.0,))
    matrix = collection[0]
    for values in (learn_term_values(*collection, recipe=recipe), prior_values(matrix)):
        rule = values.posting_rule
        assert rule.factors_at[-1] == LARGEST_REDUCTION
        ones = np.ones(len(values.weights), np.float32)
        at_80, at_95 = (
            rule.drop(ones, values.priority, matrix.doc_freq, r)[0] for r in (0.8, 0.95)
        )
        kept = at_95 > 0
        assert kept.any() and (at_95[kept] < at_80[kept]).any()
