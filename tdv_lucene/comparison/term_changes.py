"""Changes of terms by pruning: dropped ones, those that count more than before, and less."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..index.index import Index
from ..index.record import FieldRecord
from ..jvm.searcher import every_pair
from ..vocabulary import ByteStrings

_MOST = 20
_COMMON = 1000  # raised and lowered terms are shown from one document in so many
_FEWEST_DOCUMENTS = 5

Counts = tuple[int, int]
"""Document frequency and total term frequency of a term; zeros if absent."""

Value = Callable[[str | bytes, Counts, Counts], float | None]
"""Function of a term and its counts before and after: 0 if dropped, None if nothing is known."""


@dataclass(frozen=True, eq=False)
class TermMeasure:
    """The number to show for each term, its kind - ``"learned"`` (TDVs) or ``"ratio"`` (of total
    frequencies) - and its source in words."""

    value: Value
    kind: str
    source: str


def frequency_ratio(record: FieldRecord, term: str, before: Counts, after: Counts) -> float | None:
    """Return the ratio of a term's total frequencies after and before, at the recorded scale.

    It only approximates the TDV: rounding, the first-position boost and dropped postings change it
    too. 0 if the term was dropped, None if frequencies were kept.
    """
    if not after[0]:
        return 0.0
    if record.tf != "scaled" or not before[1]:
        return None
    return after[1] / (record.scale * before[1])


def measure_terms(pruned: Index, field: str) -> TermMeasure:
    """Return the TDVs of an index's plan, or the ratio of frequencies for a field without one.

    Raises :class:`TdvError` when the plan cannot be read.
    """
    plan = None if pruned.plan is None else pruned.plan.of(field)
    if plan is None:
        ratio = partial(frequency_ratio, pruned.record(field))
        return TermMeasure(ratio, "ratio", "the ratio of total frequencies after and before")

    def value(term: str | bytes, before: Counts, after: Counts) -> float | None:
        if not after[0]:
            return 0.0
        position = int(plan.vocabulary.find([term])[0])
        return None if position < 0 else float(plan.tdv[position])

    return TermMeasure(value, "learned", f"learned from {plan.facts['learned_from']}")


def list_changes(
    terms: ByteStrings, counts: np.ndarray, documents: int, value: Value
) -> dict[str, Any]:
    """Return the terms most worth showing, 20 a list.

    ``counts``, int64[n, 4], are document and total term frequency before, and those after.

    Returns
    -------
    dict
        ``dropped`` (number of terms), ``most_dropped`` (by postings saved), ``raised`` and
        ``lowered`` (by TDV, of terms in at least one document of a thousand): lists of dicts of
        ``term``, ``tdv`` (what a :class:`TermMeasure` shows, 0 if dropped), ``df_before`` and
        ``df_after``.
    """

    def change(term: bytes, tdv: float, before: int, after: int) -> dict[str, Any]:
        text = term.decode(errors="backslashreplace")
        return {"term": text, "tdv": tdv, "df_before": before, "df_after": after}

    doc_freq = counts[:, 0]
    dropped = (doc_freq > 0) & (counts[:, 2] == 0)
    least = np.sort(doc_freq[dropped])[-_MOST:].min(initial=doc_freq.max(initial=0))
    most = np.flatnonzero(dropped & (doc_freq >= least)).tolist()  # a few more if some are equal
    largest = sorted(((int(doc_freq[i]), terms[i]) for i in most), reverse=True)[:_MOST]
    kept = []
    common = doc_freq >= max(_FEWEST_DOCUMENTS, documents // _COMMON)
    for i in np.flatnonzero(common & ~dropped).tolist():
        before_df, before_total, after_df, after_total = counts[i].tolist()
        tdv = value(terms[i], (before_df, before_total), (after_df, after_total))
        if tdv is not None:
            kept.append(change(terms[i], tdv, before_df, after_df))
    kept.sort(key=lambda change: (change["tdv"], change["term"]))
    return {
        "dropped": int(np.count_nonzero(dropped)),
        "most_dropped": [change(term, 0.0, df, 0) for df, term in largest],
        "raised": [row for row in reversed(kept) if row["tdv"] > 1][:_MOST],
        "lowered": [row for row in kept if row["tdv"] < 1][:_MOST],
    }


def describe_terms(index: Index, pruned: Index, field: str) -> dict[str, Any]:
    """Return :func:`list_changes` of two indexes, with ``tdv_kind`` and ``source`` of their TDVs.

    Raises :class:`TdvError` as :func:`measure_terms`.
    """
    shown = measure_terms(pruned, field)
    with every_pair(index, pruned, field) as (terms, counts):
        changes = list_changes(terms, counts, index.documents, shown.value)
    return {"source": shown.source, "tdv_kind": shown.kind, **changes}


def trade_off(pruned: Index, field: str) -> dict[str, Any] | None:
    """Return the operating points that learning measured, or None.

    ``points`` have ``reduction`` and ``measures``, ``full`` has the measures of the full index on
    the same held-out queries, ``chosen`` is the reduction asked for.

    Raises :class:`TdvError` when the plan cannot be read.
    """
    plan = None if pruned.plan is None else pruned.plan.of(field)
    if plan is None or not plan.learned["points"]:
        return None
    learned = {name: plan.learned[name] for name in ("points", "full")}
    return {**learned, "chosen": plan.facts["requested_reduction"]}
