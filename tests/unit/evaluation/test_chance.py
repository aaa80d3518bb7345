"""Judgements of another collection, whose documents have the same kind of ids, are noticed."""

from __future__ import annotations

import numpy as np
import pytest

from tdv_lucene.evaluation.measures import ndcg, note_on_chance

DOCUMENTS, QUERIES = 2000, 200


def _judged(rng: np.random.Generator) -> list[dict[str, int]]:
    """Of each query a few relevant documents, drawn at random, and one that is not relevant."""
    drawn = [rng.choice(DOCUMENTS, rng.integers(2, 12), replace=False) for _ in range(QUERIES)]
    return [{str(doc): i % 4 for i, doc in enumerate(docs)} for docs in drawn]


def _mean(rankings: list[np.ndarray], judged: list[dict[str, int]]) -> float:
    values = []
    for ranking, grades in zip(rankings, judged):
        relevant = {doc: g for doc, g in grades.items() if g > 0}
        best = np.array(sorted(relevant.values(), reverse=True), np.float64)
        ranks = np.array([1.0 + list(ranking).index(int(doc)) for doc in relevant])
        found = np.array([*relevant.values()], np.float64)
        zeros = np.zeros(len(best), np.int64)
        values.append(ndcg(zeros, ranks, found, zeros, best, depth=5, number=1)[0])
    return float(np.mean(values))


def test_a_random_ranking_is_told_with_what_chance_gives():
    rng = np.random.default_rng(0)
    judged = _judged(rng)
    means = [_mean([rng.permutation(DOCUMENTS) for _ in judged], judged) for _ in range(20)]
    notes = [note_on_chance(mean, judged, DOCUMENTS, "I", "Q for T") for mean in means]
    assert sum(map(bool, notes)) >= 19
    told = next(note for note in notes if note)
    expected = float(told.split("at random ")[1].split(")")[0])
    assert expected == pytest.approx(np.mean(means), rel=0.3)
    assert told.startswith("I ranks what is judged relevant in Q for T no better than chance")
    assert "are topics and judgements those of this collection?" in told


def test_poor_rankings_and_few_queries_say_nothing():
    judged = _judged(np.random.default_rng(1))
    assert note_on_chance(0.02, judged, DOCUMENTS, "I", "Q") == ""
    assert note_on_chance(0.0, judged[:2], 50, "I", "Q") == "", "chance reaches real rankings"
    nothing = [{"1": 0}]
    assert note_on_chance(0.0, nothing + judged, DOCUMENTS, "I", "Q")
