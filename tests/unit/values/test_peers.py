"""Unlearned prunings: what each gives up first, and that learned weights are forgotten."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_problem import make_collection, make_matrix

from tdv_lucene.errors import TdvError
from tdv_lucene.simulation.collection import keep_postings
from tdv_lucene.values.peers import CARMEL_K, PEERS, POSTINGS, unlearned_values
from tdv_lucene.vocabulary import ByteStrings, Vocabulary


@pytest.fixture(scope="module")
def matrix():
    """Three terms in 8, 4 and 4 of 8 documents; the last is heaped up in its documents."""
    dense = np.zeros((3, 8), int)
    dense[0] = 1
    dense[1, :4] = 1
    dense[2, 4:] = 5
    return make_matrix(dense)


def first_to_go(matrix, name: str) -> int:
    return int(np.argmin(unlearned_values(matrix, name).priority))


def test_the_most_frequent_goes_first_by_documents_or_by_occurrences(matrix):
    assert first_to_go(matrix, "df") == 0
    assert first_to_go(matrix, "stopwords") == 2  # 20 occurrences


def test_ridf_gives_up_what_occurs_like_noise(matrix):
    priority = unlearned_values(matrix, "ridf").priority
    assert np.argsort(priority)[-1] == 2
    # log(8 / 4) + log(1 - exp(-20 / 8))
    assert priority[2] == pytest.approx(np.log(2) + np.log(1 - np.exp(-2.5)), abs=1e-6)


def test_the_standard_list_goes_before_frequent_words(matrix):
    terms = Vocabulary("contents", ByteStrings.of([b"library", b"the", b"xylem"]))
    with_the = make_matrix(np.array([[3, 3, 3], [0, 0, 1], [1, 1, 0]]))
    object.__setattr__(with_the, "vocabulary", terms)
    order = np.argsort(unlearned_values(with_the, "stopwords").priority)
    assert [terms.terms[i] for i in order] == [b"the", b"library", b"xylem"]


def test_random_is_the_seeds(matrix):
    matrix = make_collection()[0]
    one, same, other = (unlearned_values(matrix, "random", seed=s).priority for s in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("name", PEERS)
def test_frequencies_stay_and_the_size_is_met(name):
    matrix = make_collection()[0]
    if name in POSTINGS and POSTINGS[name].of_weights:
        weights = np.random.default_rng(0).integers(1, 250, matrix.postings)
        norms = np.minimum(matrix.doc_len, 1)  # as an impact index has them
        matrix = replace(matrix, data=weights, norms=norms, norm_kind=None)
    point = unlearned_values(matrix, name).at_reduction(0.45)
    assert set(point.tdv) <= {0.0, 1.0} and point.scale == 1
    removed = 1 - keep_postings(matrix, point.tdv, point.cut).postings / matrix.postings
    assert removed == pytest.approx(0.45, abs=0.03)  # a hundred terms are coarse


def test_carmel_keeps_each_lists_best_postings():
    matrix = make_collection()[0]
    rule = unlearned_values(matrix, "carmel-epsilon").posting_rule
    lengths = matrix.stored_lengths()
    for term in (0, 70):
        span = slice(matrix.indptr[term], matrix.indptr[term + 1])
        tf = matrix.data[span]
        saturation = np.sort(tf / (tf + rule.length_norm.at(lengths[matrix.indices[span]])))
        assert len(tf) >= CARMEL_K
        assert rule.priority[term] == pytest.approx(1 / saturation[-CARMEL_K], rel=1e-5)
    delta = unlearned_values(matrix, "carmel-delta").posting_rule
    assert delta.priority[70] == pytest.approx(1 / saturation[-1], rel=1e-5)


def test_lists_shorter_than_carmels_k_go_last():
    dense = np.zeros((2, 40), int)
    dense[0] = 1
    dense[1, :3] = 1
    values = unlearned_values(make_matrix(dense), "carmel-epsilon")
    assert values.posting_priority[1] > 100 * values.posting_priority[0]


def test_an_unknown_name_is_refused(matrix):
    with pytest.raises(TdvError, match=", ".join(PEERS)):
        unlearned_values(matrix, "carmelita")
