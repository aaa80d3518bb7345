"""What pruning did to terms: which were dropped, which count for more than before or for less."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..indexes.user_data import FieldRecord
from ..jvm.index import identify
from ..jvm.searcher import every_pair
from ..pruning.field_rule import values_of_index
from ..vocabulary import ByteStrings

_MOST = 20
_COMMON = 1000  # raised and lowered terms are shown from one document in so many
_FEWEST_DOCUMENTS = 5

Counts = tuple[int, int]
"""Document frequency and total term frequency of a term; zeros where it is absent."""

Term = str | bytes
"""As Lucene has it, or as text where it is known to be."""

Value = Callable[[Term, Counts, Counts], float | None]
"""What is shown of a term with these counts before and after."""


@dataclass(frozen=True, eq=False)
class TermMeasure:
    """What a comparison shows of every term, and what that is.

    Attributes
    ----------
    value : Value
        Returns 0 for a dropped term, None if nothing is known.
    kind : str
        ``"learned"``, the TDVs; or ``"ratio"``, of total frequencies.
    source : str
        Where it comes from, in words.
    """

    value: Value
    kind: str
    source: str


def frequency_ratio(record: FieldRecord, term: str, before: Counts, after: Counts) -> float | None:
    """Return the ratio of a term's total frequencies after and before, at the recorded scale.

    It only approximates the TDV: rounding, the first-position boost and dropped postings change it
    as well. 0 if the term was dropped, None if frequencies were kept.
    """
    if not after[0]:
        return 0.0
    if record.tf != "scaled" or not before[1]:
        return None
    return after[1] / (record.scale * before[1])


def measure_terms(
    pruned: str | os.PathLike[str], field: str, values: str | os.PathLike[str] | None
) -> TermMeasure:
    """Return what to show of the terms of an index: the learned TDVs if they are given.

    ``values`` is the folder that pruning was given; without it, the ratio of frequencies is shown.

    Raises :class:`TdvError` when the index cannot be read, or ``field`` was not pruned with these
    TDVs.
    """
    record = FieldRecord.read(pruned, field)
    ratio = partial(frequency_ratio, record)
    if values is None:
        return TermMeasure(ratio, "ratio", "the ratio of total frequencies after and before")
    learned, tdv = values_of_index(pruned, field, values)

    def value(term: Term, before: Counts, after: Counts) -> float | None:
        if not after[0]:
            return 0.0
        position = int(learned.vocabulary.find([term])[0])
        return None if position < 0 else float(tdv[position])

    return TermMeasure(value, "learned", f"learned ({Path(values).name})")


def list_changes(
    terms: ByteStrings, counts: np.ndarray, documents: int, value: Value
) -> dict[str, Any]:
    """The terms worth showing, 20 a list, of int64[n, 4] counts: document and total term frequency
    before, and those after.

    Returns
    -------
    dict
        ``dropped`` (number of terms), ``most_dropped`` (by postings saved), ``raised`` and
        ``lowered`` (by TDV, of terms in at least one document of a thousand): lists of dicts of
        ``term``, ``tdv`` (what a :class:`TermMeasure` shows, 0 if dropped), ``df_before`` and
        ``df_after``.
    """
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
            kept.append(_change(terms[i], tdv, before_df, after_df))
    kept.sort(key=lambda change: (change["tdv"], change["term"]))
    return {
        "dropped": int(np.count_nonzero(dropped)),
        "most_dropped": [_change(term, 0.0, df, 0) for df, term in largest],
        "raised": [change for change in reversed(kept) if change["tdv"] > 1][:_MOST],
        "lowered": [change for change in kept if change["tdv"] < 1][:_MOST],
    }


def _change(term: bytes, tdv: float, before: int, after: int) -> dict[str, Any]:
    """A row of :func:`list_changes`; bytes that are not UTF-8 are shown as ``\\xNN``."""
    text = term.decode(errors="backslashreplace")
    return {"term": text, "tdv": tdv, "df_before": before, "df_after": after}


def describe_terms(
    index: str | os.PathLike[str],
    pruned: str | os.PathLike[str],
    field: str,
    values: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Return :func:`list_changes` of two indexes, with the ``tdv_kind`` and ``source`` of what
    ``tdv`` shows (see :class:`TermMeasure`).

    Raises :class:`TdvError` as :func:`measure_terms`, and when ``index`` cannot be read.
    """
    shown = measure_terms(pruned, field, values)
    documents = identify(index)["documents"]
    with every_pair(index, pruned, field) as (terms, counts):
        changes = list_changes(terms, counts, documents, shown.value)
    return {"source": shown.source, "tdv_kind": shown.kind, **changes}


def trade_off(
    pruned: str | os.PathLike[str], field: str, values: str | os.PathLike[str]
) -> dict[str, Any]:
    """Return the validated operating points: ``points`` with ``reduction`` and ``measures``,
    ``full`` (the measures of the full index on the same held-out queries) and ``chosen``, the
    reduction asked for.

    Raises :class:`TdvError` as :func:`measure_terms`.
    """
    learned, _ = values_of_index(pruned, field, values)
    points = learned.points
    return {
        "points": [{"reduction": p["reduction"], "measures": dict(p["measures"])} for p in points],
        "full": dict(points[0]["full"]) if points else {},
        "chosen": FieldRecord.read(pruned, field).requested_reduction,
    }
