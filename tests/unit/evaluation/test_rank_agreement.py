"""Agreement of rankings, against definitions written out and published values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tdv_lucene.evaluation.rank_agreement import compare_rankings, overlap, rank_biased_overlap
from tdv_lucene.evaluation.run_arrays import Run, share_names


def test_overlap_counts_the_best():
    assert overlap("abcdef", "fabxyz", depth=3) == pytest.approx(2 / 3)
    assert overlap("ab", "ba") == 1.0
    assert overlap("ab", "") == 0.0


def rbo_by_definition(first, second, p, terms=4000):
    """Eq. 4 of the paper: the infinite sum, with the last agreement carried on."""
    total, agreement = 0.0, 0.0
    for depth in range(1, terms):
        if depth <= len(first):
            agreement = len(set(first[:depth]) & set(second[:depth])) / depth
        total += (1 - p) * p ** (depth - 1) * agreement
    return total


def test_rbo():
    """The extrapolated sum; of uneven rankings eq. 32 for s = 1, l = 2: X_1 = 0, X_2 = 1."""
    for second in ("abcde", "edcba", "vwxyz", "bacxd"):
        expected = rbo_by_definition("abcde", second, 0.9)
        assert rank_biased_overlap("abcde", second) == pytest.approx(expected)
    p = 0.9
    by_hand = (1 - p) / p * (0 + 1 / 2 * p**2) + 1 / 2 * p**2
    assert rank_biased_overlap("a", "ba") == pytest.approx(by_hand)
    assert rank_biased_overlap("ba", "a") == pytest.approx(by_hand)
    assert rank_biased_overlap("a", "ab") == pytest.approx(1.0), "what is seen agrees wholly"
    assert rank_biased_overlap("ab", "") == 0.0


def test_kendall_tau_of_common_documents():
    pairs = ("abcd", "axbcd"), ("abc", "cba"), ("abc", "acb"), ("abc", "axy")
    found = [compare_frames(run(q=a), run(q=b))["kendall_tau"] for a, b in pairs]
    assert found == [pytest.approx(1.0), pytest.approx(-1.0), pytest.approx(1 / 3), None]


def run(**rankings):
    rows = [(q, d, -float(i)) for q, docs in rankings.items() for i, d in enumerate(docs)]
    return pd.DataFrame(rows, columns=["query", "docid", "score"])


def compare_frames(*frames):
    return compare_rankings(*share_names([Run.of_frame(frame) for frame in frames]))


def test_queries_of_the_baseline_count():
    found = compare_frames(run(q1="abc", q2="ab"), run(q1="abc", q3="x"))
    assert found == {
        "queries": 2,
        "overlap_at_10": 0.5,
        "rbo": pytest.approx(0.5),
        "kendall_tau": pytest.approx(1.0),
    }
    assert compare_frames(run(), run(q1="a"))["rbo"] is None


def _scipys_tau(first, second) -> float | None:
    ranks = [second.index(document) for document in first if document in second]
    return stats.kendalltau(range(len(ranks)), ranks).statistic if len(ranks) > 1 else None


def test_runs_in_numbers_agree_as_their_rankings_do() -> None:
    """The means of the single functions, query by query."""
    rng = np.random.default_rng(1)
    rows = [
        [(f"q{q}", f"d{d}", float(s)) for q in range(9) for d, s in
         zip(rng.choice(300, 150, replace=False), rng.integers(0, 99, 150))]
        for _ in range(2)
    ]  # fmt: skip
    first, second = (pd.DataFrame(run, columns=["query", "docid", "score"]) for run in rows)
    second = second[second["query"] != "q3"]
    found = compare_frames(first, second)
    ranked = [run.sort_values("score", ascending=False, kind="stable") for run in (first, second)]
    pairs = [[run[run["query"] == f"q{q}"]["docid"].tolist() for run in ranked] for q in range(9)]
    assert found["queries"] == 9
    assert found["overlap_at_10"] == pytest.approx(np.mean([overlap(*pair) for pair in pairs]))
    assert found["rbo"] == pytest.approx(np.mean([rank_biased_overlap(*pair) for pair in pairs]))
    taus = [_scipys_tau(*(ranking[:100] for ranking in pair)) for pair in pairs]
    assert found["kendall_tau"] == pytest.approx(np.mean([tau for tau in taus if tau is not None]))
