"""Single queries and terms that pruning changed most, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..evaluation.evaluate import Evaluation
from ..timing.latency_summary import QueryTerms
from .table import Table

VALUE_COLUMN = {"learned": "TDV", "ratio": "tf ratio"}
"""What ``tdv`` is called at the head of a column, by its kind: only what was learned is a TDV."""


def extreme_queries(
    topics: Mapping[str, str],
    evaluations: Mapping[str, Evaluation],
    measure: str,
    words: Mapping[str, QueryTerms],
    most: int = 10,
) -> list[Table]:
    """The queries that lost and gained most in the second system, none that did not change."""
    (full, before), (pruned, after) = [*evaluations.items()][:2]
    differences = after.values[measure] - before.values[measure]
    order = np.argsort(differences, kind="stable")
    lost = [i for i in order[:most] if differences[i] < 0]
    gained = [i for i in order[::-1][:most] if differences[i] > 0]

    def row(i: int) -> tuple[str, ...]:
        query = before.queries[i]
        numbers = (before.values[measure][i], after.values[measure][i])
        values = (f"{value:.3f}" for value in numbers)
        dropped = _most_thinned(words[query].thinned(full, pruned))
        return (f"{query}: {topics[query]}", dropped, *values, f"{differences[i]:+.3f}")

    columns = ("query", "postings dropped", full, pruned, "difference")
    return [
        Table(
            f"{title}, {measure}", columns, [row(i) for i in shown],
            bars=tuple(float(differences[i]) for i in shown),
        )
        for title, shown in (("Lost most", lost), ("Gained most", gained))
    ]  # fmt: skip


def _most_thinned(shares: Mapping[str, float]) -> str:
    """Name the terms with dropped postings and the share dropped, the largest first."""
    order = sorted(((t, s) for t, s in shares.items() if s >= 0.005), key=lambda share: -share[1])
    named = (f"{term} {'all' if share == 1 else f'{share:.0%}'}" for term, share in order)
    return ", ".join(named) or "none"


def term_tables(terms: Mapping[str, Any]) -> list[Table]:
    """The terms dropped, raised and lowered, of :mod:`tdv_lucene.comparison.term_changes`."""
    titles = {
        "most_dropped": f"Terms dropped: {terms['dropped']:,}, of which these save most postings",
        "raised": "Terms raised most",
        "lowered": "Terms lowered most, but kept",
    }
    columns = ("term", VALUE_COLUMN[terms["tdv_kind"]], "df", "df after")
    return [
        Table(title, columns, [_term_row(term) for term in terms[key]])
        for key, title in titles.items()
        if terms[key]
    ]


def _term_row(term: Mapping[str, Any]) -> tuple[str, ...]:
    tdv = "none" if term["tdv"] is None else f"{term['tdv']:.3f}"
    return term["term"], tdv, f"{term['df_before']:,}", f"{term['df_after']:,}"
