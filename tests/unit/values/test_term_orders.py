"""The orders of postings: what they are, and what they do to long lists and rare terms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_problem import make_collection, make_matrix, weights_matrix

from tdv_lucene import learn_term_values, prior_values
from tdv_lucene.learning import scale
from tdv_lucene.learning.config import Recipe
from tdv_lucene.matrix.term_statistics import residual_idf, share_between_terms, spread_of_weights
from tdv_lucene.pruning.sizes import LARGEST_REDUCTION
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.ranking.functions import bm25_idf
from tdv_lucene.ranking.postings import FirstPositionBoost
from tdv_lucene.simulation.collection import keep_postings, rule_of_order
from tdv_lucene.values.posting_rule import order_terms

SHORT = Recipe(max_steps=4, check_every=2, folds=2)


@pytest.fixture(scope="module")
def collection():
    return make_collection()


def test_the_order(collection):
    matrix = collection[0]
    ridf = np.maximum(residual_idf(matrix), 0)
    idf = bm25_idf(matrix.doc_freq, matrix.doc_count)
    rarity = 0.7 * (ridf * matrix.doc_freq).sum() / matrix.doc_freq.sum() * (idf / 8) ** 4
    expected = (ridf + 0.05 + rarity) ** 0.9 * idf**0.6
    np.testing.assert_allclose(order_terms(matrix), expected, rtol=1e-5)
    per_byte = expected / (1 + 8 / matrix.doc_freq) ** 0.5
    np.testing.assert_allclose(order_terms(matrix, per_byte=0.5), per_byte, rtol=1e-5)


@pytest.mark.parametrize(("model", "times"), [("bm25", 2), ("qld", 1)])
def test_what_stands_early_is_kept_longest(collection, model, times):
    """For BM25 the saturation that drops has twice the index's first-position boost and span."""
    matrix = collection[0]
    first = np.random.default_rng(1).integers(0, 60, matrix.postings).astype(np.uint16)
    matrix = replace(matrix, first_positions=first)
    boosted = matrix.with_position_boost(FirstPositionBoost(1.5, 3.0))
    for counted, expected in (
        (boosted, FirstPositionBoost(1.5 * times, 3.0 * times)),
        (matrix, None),
    ):
        rule = rule_of_order(counted, model, Parameters(), (0.5,))
        ones = np.ones(matrix.shape[0], np.float32)
        _, cut = rule.thresholds_at(ones, rule.priority, matrix.doc_freq, 0.5)
        assert rule.position_boost == cut.position_boost == expected


def test_the_rule_drops_by_order_times_saturation(collection):
    """At half of the postings, none that stays is worth less than one that goes."""
    matrix = collection[0]
    rule = rule_of_order(matrix, "bm25", Parameters(), (0.5,))
    order = rule.priority
    everything = np.ones(len(order), np.float32)
    tdv, cut = rule.thresholds_at(everything, order, matrix.doc_freq, 0.5)
    kept = keep_postings(matrix, tdv, cut)
    length_norm = cut.length_norm.at(matrix.stored_lengths())
    rows = np.repeat(np.arange(len(order)), np.diff(matrix.indptr))
    worth = order[rows] * (matrix.data / (matrix.data + length_norm[matrix.indices]))
    left = np.repeat(np.arange(len(order)), np.diff(kept.indptr)), kept.indices
    stays = np.isin(rows * matrix.shape[1] + matrix.indices, left[0] * matrix.shape[1] + left[1])
    assert 0.4 < stays.mean() < 0.6
    assert worth[~stays].max() <= worth[stays].min() * 1.002  # thresholds lie a thousandth apart


def test_the_larger_idf_is_corrected_as_far_as_pruning_goes(collection):
    """At 91 % TDVs had the factors of 80 %, of learned TDVs and of the prior's alone."""
    recipe = Recipe(values=False, folds=2, reductions=(0.0,))
    matrix = collection[0]
    for values in (learn_term_values(*collection, recipe=recipe), prior_values(matrix)):
        rule = values.posting_rule
        assert rule.factors_at[-1] == LARGEST_REDUCTION
        ones = np.ones(len(values.weights), np.float32)
        at_80, at_95 = (
            rule.thresholds_at(ones, values.priority, matrix.doc_freq, r)[0] for r in (0.8, 0.95)
        )
        kept = at_95 > 0
        assert kept.any() and (at_95[kept] < at_80[kept]).any()


def test_queries_choose_how_much_a_terms_bytes_count(collection, monkeypatch):
    """What they choose is the order of what is learned, and caps scales where postings go."""
    recipe, served, found = replace(SHORT, reductions=(0.0, 0.5)), [], []
    monkeypatch.setattr(scale, "_FEWEST_QUERIES", 2)
    for way, expected in ((0, (0, None)), (3, (1, 1))):
        monkeypatch.setattr(
            scale, "clearly_best", lambda by_way, way=way: served.append(by_way) or way
        )
        found.append(learn_term_values(*collection, recipe=recipe))
        chosen = found[-1].manifest["recipe"]
        assert (chosen["per_byte"], chosen["finest"]) == expected
    assert [by_way.shape for by_way in served[:3]] == [(4, 40), (4, 20), (4, 20)]  # all, and others
    np.testing.assert_array_equal(found[1].priority, order_terms(collection[0], per_byte=1.0))
    (fine, dropped), (same, coarse) = ([p["scale"] for p in values.points] for values in found)
    assert fine == same and coarse == 1 < dropped


@pytest.mark.parametrize(("between", "power"), [(0.0, 0), (0.3, 0), (0.7, None), (0.97, 1)])
def test_weights_of_a_model_are_dropped_by_their_size_and_those_of_terms_by_their_order(
    between: float, power: float | None
) -> None:
    matrix = weights_matrix(between, 60)
    order = order_terms(matrix, "impact")
    mean = matrix.total_term_freq / matrix.doc_freq
    spread = spread_of_weights(matrix)
    worth = (spread + 0.05) ** 0.6 * mean**-0.35
    if power is None:
        explained = share_between_terms(matrix)
        assert 0.5 < explained < 0.85
        power = (explained - 0.5) / 0.35
    np.testing.assert_allclose(order, worth**power, rtol=1e-5)


def test_the_share_of_variance_between_terms_is_that_of_the_weights() -> None:
    matrix = weights_matrix(0.6, 60)
    weights = np.asarray(matrix.data, float)
    mean = matrix.total_term_freq / matrix.doc_freq
    within = ((weights - np.repeat(mean, matrix.doc_freq)) ** 2).sum()
    share = share_between_terms(matrix)
    assert share == pytest.approx(1 - within / ((weights - weights.mean()) ** 2).sum())
    alike = make_matrix(np.full((3, 4), 7))
    assert share_between_terms(alike) == 1
