"""Statistics of measures: paired tests, overlap, chance, the best parameters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tdv_lucene.evaluation.measures import ndcg, note_on_chance
from tdv_lucene.evaluation.runs import overlap
from tdv_lucene.evaluation.significance import compare_paired
from tdv_lucene.evaluation.tuning import OBJECTIVE, parameters_to_try, tune
from tdv_lucene.ranking import ANSERINI_DEFAULTS, GRIDS


def test_against_scipy():
    rng = np.random.default_rng(0)
    a = rng.random(40)
    b = a + rng.normal(0.03, 0.1, 40)
    result = compare_paired(a, b, comparisons=4)
    expected = stats.ttest_rel(b, a)
    assert result.p_value_uncorrected == pytest.approx(expected.pvalue)
    assert result.p_value == pytest.approx(min(1, 4 * expected.pvalue))
    assert result.ci95 == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert result.difference == pytest.approx((b - a).mean())
    assert (result.wins, result.ties, result.losses) == ((b > a).sum(), 0, (b < a).sum())
    same = compare_paired(a, a + 1e-12, comparisons=4)
    assert (same.p_value, same.ties, same.ci95[0]) == (1.0, 40, pytest.approx(0.0))


@pytest.mark.parametrize(
    ("queries", "expected"), [(2, 0.5), (8, 2 / 2**8), (13, 2 / 2**13), (2000, 2e-4)]
)
def test_constant_gain(queries, expected):
    """With no spread there is nothing to test by but the signs; p is never 0."""
    before = np.linspace(0.1, 0.2, queries)
    result = compare_paired(before, before + 0.1, comparisons=1)
    assert result.p_value == pytest.approx(expected)
    assert result.ci95 is None and result.ci95_corrected is None


def test_corrected_intervals_agree_with_corrected_p_values():
    """Of many samples, an interval leaves out 0 exactly where p is below .05."""
    rng = np.random.default_rng(2)
    outcomes = set()
    for _ in range(60):
        a = rng.random(40)
        result = compare_paired(a, a + rng.normal(0.04, 0.1, 40), comparisons=8)
        low, high = result.ci95_corrected
        assert (low > 0 or high < 0) == (result.p_value < 0.05)
        assert low < result.ci95[0] < result.ci95[1] < high
        alone = result.ci95[0] > 0 or result.ci95[1] < 0
        outcomes.add((alone, result.p_value < 0.05))
    assert (True, False) in outcomes, "an uncorrected interval seems to contradict p"
    alone = compare_paired(a, a + rng.normal(0.04, 0.1, 40), comparisons=1)
    assert alone.ci95 == alone.ci95_corrected


def test_overlap_counts_the_best():
    assert overlap("abcdef", "fabxyz", depth=3) == pytest.approx(2 / 3)
    assert overlap("ab", "ba") == 1.0
    assert overlap("ab", "") == 0.0


DOCUMENTS, QUERIES = 2000, 200


def _judged(rng: np.random.Generator) -> list[dict[str, int]]:
    """Of each query a few relevant documents, drawn at random, and one that is not relevant."""
    drawn = [rng.choice(DOCUMENTS, rng.integers(2, 12), replace=False) for _ in range(QUERIES)]
    return [{str(doc): i % 4 for i, doc in enumerate(docs)} for docs in drawn]


def _mean(judged: list[dict[str, int]], rng: np.random.Generator) -> float:
    """Mean nDCG@5 where relevant documents have any ranks."""
    grades = [sorted((g for g in of.values() if g > 0), reverse=True) for of in judged]
    queries, all_grades = np.repeat(np.arange(QUERIES), [*map(len, grades)]), np.concatenate(grades)
    ranks = np.concatenate([1.0 + rng.permutation(DOCUMENTS)[: len(each)] for each in grades])
    values = ndcg(queries, ranks, all_grades, queries, all_grades, depth=5, number=QUERIES)
    return float(values.mean())


def test_a_random_ranking_is_told_with_what_chance_gives():
    rng = np.random.default_rng(0)
    judged = _judged(rng)
    means = [_mean(judged, rng) for _ in range(20)]
    told = [note_on_chance(mean, judged, DOCUMENTS, "I", "Q for T") for mean in means]
    assert sum(map(bool, told)) >= 19
    note = max(told)
    expected = float(note.split("at random ")[1].split(")")[0])
    assert expected == pytest.approx(np.mean(means), rel=0.3)
    assert note.startswith("I ranks what is judged relevant in Q for T no better than chance")


def test_poor_rankings_and_few_queries_say_nothing():
    judged = _judged(np.random.default_rng(1))
    assert note_on_chance(0.02, judged, DOCUMENTS, "I", "Q") == ""
    assert note_on_chance(0.0, judged[:2], 50, "I", "Q") == "", "chance reaches real rankings"
    nothing = [{"1": 0}]
    assert note_on_chance(0.0, nothing + judged, DOCUMENTS, "I", "Q")


def test_what_was_given_is_tried_first_and_nothing_twice():
    for model, grid in GRIDS.items():
        choices = parameters_to_try(model, ANSERINI_DEFAULTS)
        assert choices[0] == {name: ANSERINI_DEFAULTS[name] for name in grid}
        assert len({tuple(choice.items()) for choice in choices}) == len(choices)
        assert len(choices) == np.prod([len(values) for values in grid.values()], dtype=int)
    own = parameters_to_try("qld", {"mu": 77.0})
    assert own[0] == {"mu": 77.0} and len(own) == len(GRIDS["qld"]["mu"]) + 1


def test_the_best_of_some_queries_is_taken_the_first_of_equals():
    """mu 250 suits the first query, 4000 the second, and for the third all are alike."""

    def measure(choice):
        return np.array([choice["mu"] == 250, choice["mu"] == 4000, 1], float)

    tuning = tune("qld", {"mu": 1000}, measure)
    assert [tuning.best(np.array(some))["mu"] for some in ([0], [1], [2])] == [250, 4000, 1000]
    assert tuning.best()["mu"] == 250  # 4000 serves as well, and comes later
    assert {row["mu"]: row[OBJECTIVE] for row in tuning.table()}[4000] == 2 / 3
