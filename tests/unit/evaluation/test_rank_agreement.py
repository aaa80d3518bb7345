"""Agreement of rankings, against definitions written out and published values."""

from __future__ import annotations

import pandas as pd
import pytest

from tdv_lucene.evaluation.rank_agreement import (
    compare_rankings,
    kendall_tau,
    overlap,
    rank_biased_overlap,
)


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


@pytest.mark.parametrize("second", ["abcde", "edcba", "vwxyz", "bacxd"])
def test_rbo_of_equal_lengths_is_the_extrapolated_sum(second):
    assert rank_biased_overlap("abcde", second) == pytest.approx(
        rbo_by_definition("abcde", second, 0.9)
    )


def test_rbo_of_uneven_rankings():
    """Eq. 32 written out for s = 1, l = 2: X_1 = 0, X_2 = 1."""
    p = 0.9
    by_hand = (1 - p) / p * (0 + 1 / 2 * p**2) + 1 / 2 * p**2
    assert rank_biased_overlap("a", "ba") == pytest.approx(by_hand)
    assert rank_biased_overlap("ba", "a") == pytest.approx(by_hand)
    assert rank_biased_overlap("a", "ab") == pytest.approx(1.0), "what is seen agrees wholly"
    assert rank_biased_overlap("ab", "") == 0.0


def test_kendall_tau_of_common_documents():
    assert kendall_tau("abcd", "axbcd") == pytest.approx(1.0)
    assert kendall_tau("abc", "cba") == pytest.approx(-1.0)
    assert kendall_tau("abc", "acb") == pytest.approx(1 / 3)
    assert kendall_tau("abc", "axy") is None


def run(**rankings):
    rows = [(q, d, -float(i)) for q, docs in rankings.items() for i, d in enumerate(docs)]
    return pd.DataFrame(rows, columns=["query", "docid", "score"])


def test_queries_of_the_baseline_count():
    found = compare_rankings(run(q1="abc", q2="ab"), run(q1="abc", q3="x"))
    assert found == {
        "queries": 2,
        "overlap_at_10": 0.5,
        "rbo": pytest.approx(0.5),
        "kendall_tau": pytest.approx(1.0),
    }
    assert compare_rankings(run(), run(q1="a"))["rbo"] is None
