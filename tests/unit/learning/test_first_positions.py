"""What a posting counts for by where its document has the term first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_problem import make_matrix

from tdv_lucene import learn_term_values, unlearned_values
from tdv_lucene.learning.config import Recipe
from tdv_lucene.learning.tune import PRICE, choose_parameters
from tdv_lucene.matrix.term_document_matrix import lucene_length
from tdv_lucene.matrix.term_vectors import latent_semantic_vectors
from tdv_lucene.progress import silent
from tdv_lucene.ranking import SearchParameters as Parameters
from tdv_lucene.ranking.postings import (
    DEFAULT_BOOST,
    POSITIONS,
    FirstPositionBoost,
    LengthNorm,
    PostingCut,
)
from tdv_lucene.simulation.collection import (
    apply_values,
)
from tdv_lucene.simulation.problem import Problem

SHORT = Recipe(max_steps=2, check_every=2, folds=2, reductions=(0.0, 0.45))


def with_positions(matrix, first):
    return replace(matrix, first_positions=np.asarray(first, np.uint16))


def make_titled(queries: int = 30, others: int = 38):
    """Return (matrix, topics, qrels): all documents of a query hold its word twice, and the
    relevant one, last by number, holds it first; ``others`` are words of all documents."""
    dense = np.zeros((queries + 1, 3 * queries), np.int64)
    dense[queries] = others
    first = []
    for query in range(queries):
        dense[query, 3 * query : 3 * query + 3] = 2
        first += [30, 50, 0]
    matrix = with_positions(make_matrix(dense), first + [1] * 3 * queries)
    topics = {f"q{query}": [f"t{query:03d}"] for query in range(queries)}
    return matrix, topics, {f"q{q}": {f"d{3 * q + 2}": 1} for q in range(queries)}


def problem_of(collection, lead: FirstPositionBoost | None = DEFAULT_BOOST) -> Problem:
    matrix, topics, qrels = collection
    vectors = latent_semantic_vectors(matrix, dimensions=2)
    return Problem.of(
        matrix.with_position_boost(lead), topics, qrels, vectors, "bm25", Parameters()
    )


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(3)
    dense = rng.poisson(0.7, (240, 90))  # longer than norms are exact
    dense[:, 0] += 1
    made = make_matrix(dense)
    return with_positions(made, rng.choice([0, 1, 5, 40, 1023, 1024, 65535], made.postings))


def chosen_by_all(problem: Problem, price: float | None = None) -> Problem:
    everyone = np.arange(len(problem.queries))
    return choose_parameters(problem, [], everyone, silent, price=price)[0]


@pytest.mark.parametrize("of_cut", [(3.0, 2.0), (6.0, 4.0), None])
def test_a_recount_finds_what_values_and_lead_make_of_the_index(matrix, of_cut):
    """The saturation that decides may have another boost than the frequency that is stored."""
    rng = np.random.default_rng(4)
    lead, scale = FirstPositionBoost(3.0, 2.0), 4.0
    tdv = rng.choice(np.float32([0, 0.5, 1, 1.75]), len(matrix.vocabulary))
    cut = PostingCut(
        rng.uniform(0.2, 0.8, len(tdv)).astype(np.float32),
        LengthNorm.of(0.9, 0.4, 30.0, by_postings=False),
        None if of_cut is None else FirstPositionBoost(*of_cut),
    )
    rows = np.repeat(np.arange(len(tdv)), np.diff(matrix.indptr))
    place = np.minimum(matrix.first_positions, POSITIONS - 1).astype(np.float64)
    counted = matrix.data * (1 + 3 / (1 + place / 2) ** 2)
    boost, span = of_cut or (0.0, 1.0)
    compared = matrix.data * (1 + boost / (1 + place / span) ** 2)
    length = lucene_length(matrix.doc_len)  # of the index as it is: no lead
    length_norm = cut.length_norm.fixed + cut.length_norm.per_token * length[matrix.indices]
    stored = np.rint(scale * counted * tdv[rows]) * (
        compared / (compared + length_norm) >= cut.least[rows]
    )
    found = apply_values(matrix.with_position_boost(lead), tdv, scale, cut)
    assert found.postings == np.count_nonzero(stored) < matrix.postings
    np.testing.assert_array_equal(
        found.statistics.total_term_freq, np.bincount(rows, stored, len(tdv))
    )
    lengths = np.bincount(matrix.indices, stored, matrix.shape[1]).astype(int)
    np.testing.assert_array_equal(found.doc_len, lucene_length(lengths))


def test_a_lead_that_serves_the_queries_is_kept_and_sized():
    problem = problem_of(make_titled())
    before = problem.full.measure(problem.plain)[:, 0].mean()
    assert before < 0.9  # ties by number: the relevant one comes last
    chosen = chosen_by_all(problem)
    assert chosen.matrix.position_boost is not None
    assert chosen.measure(chosen.start)[:, 0].min() == 1


@pytest.mark.parametrize(("queries", "goes"), [(2, False), (40, True)])
def test_a_lead_from_a_prior_goes_where_enough_queries_lose_by_it(queries, goes):
    matrix, topics, qrels = make_titled(queries)
    last = {query: {f"d{int(doc[1:]) - 1}": 1} for query, grades in qrels.items() for doc in grades}
    prior = problem_of((matrix, topics, last))
    chosen = chosen_by_all(prior, PRICE)
    assert (chosen.matrix.position_boost is None) == goes
    if not goes:
        assert chosen is prior


def test_of_a_dozen_words_the_first_count_no_more_than_others():
    """There the boost starts where the index stands as it is: its bytes would pay for nothing."""
    values = learn_term_values(*make_titled(others=20), recipe=replace(SHORT, values=False))
    full, whole = values.manifest["full"], values.points[0]
    assert values.position_boost is None and values.manifest["prior"]["reduction"] == 0
    assert whole["scale"] == 1 and whole["posting_bytes"] <= full["posting_bytes"]


def test_places_alone_serve_without_values():
    collection = make_titled()
    values = learn_term_values(*collection, recipe=replace(SHORT, values=False))
    assert (values.weights == 1).all()
    point = values.points[0]
    assert point["measures"]["nDCG@5"] > point["full"]["nDCG@5"]


def test_the_boost_of_what_is_dropped_is_its_own():
    matrix, topics, qrels = make_titled()
    values = learn_term_values(matrix, topics, qrels, recipe=SHORT)
    boost, of_rule = values.position_boost, values.posting_rule.position_boost
    assert of_rule == FirstPositionBoost(2 * boost.boost, 2 * boost.span)

    def with_rule_of(lead):
        rule = {**values.manifest["posting_rule"], "lead": lead}
        return replace(values, manifest={**values.manifest, "posting_rule": rule})

    same, bare = with_rule_of(boost._asdict()), with_rule_of(None)
    assert same.posting_rule.position_boost == boost and bare.posting_rule.position_boost is None
    cuts = [each.at_reduction(0.45).cut.position_boost for each in (values, same, bare)]
    assert cuts == [of_rule, boost, None]


def test_without_positions_or_wish_there_is_no_lead():
    titled, topics, qrels = make_titled()
    bare = learn_term_values(replace(titled, first_positions=None), topics, qrels, recipe=SHORT)
    unwanted = learn_term_values(titled, topics, qrels, recipe=replace(SHORT, lead=False))
    assert bare.position_boost is unwanted.position_boost is None
    np.testing.assert_array_equal(bare.weights, unwanted.weights)
    assert unlearned_values(titled, "ridf").position_boost is None
