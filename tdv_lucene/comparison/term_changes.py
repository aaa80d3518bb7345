"""What pruning did to terms: which were dropped, which count for more than before or for less."""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..indexes.user_data import FieldRecord
from ..jvm.index import identify
from ..jvm.searcher import every_pair
from ..pruning.recorded_values import values_of_index
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
    terms: Iterable[tuple[Term, Counts, Counts]], documents: int, value: Value
) -> dict[str, Any]:
    """The terms worth showing, 20 a list, of (term, counts before, counts after).

    Returns
    -------
    dict
        ``dropped`` (number of terms), ``most_dropped`` (by postings saved), ``raised`` and
        ``lowered`` (by TDV, of terms in at least one document of a thousand): lists of dicts of
        ``term``, ``tdv`` (what a :class:`TermMeasure` shows, 0 if dropped), ``df_before`` and
        ``df_after``.
    """
    common = _common(documents)
    dropped = 0
    largest: list[tuple[int, Term]] = []  # a heap of those dropped so far
    kept: list[dict[str, Any]] = []
    for term, before, after in terms:
        if before[0] and not after[0]:
            dropped += 1
            keep = heapq.heappush if len(largest) < _MOST else heapq.heappushpop
            keep(largest, (before[0], term))
        elif before[0] >= common and (tdv := value(term, before, after)) is not None:
            kept.append(_change(term, tdv, before[0], after[0]))
    kept.sort(key=lambda change: (change["tdv"], change["term"]))
    largest.sort(reverse=True)
    return {
        "dropped": dropped,
        "most_dropped": [_change(term, 0.0, doc_freq, 0) for doc_freq, term in largest],
        "raised": [change for change in reversed(kept) if change["tdv"] > 1][:_MOST],
        "lowered": [change for change in kept if change["tdv"] < 1][:_MOST],
    }


def _change(term: Term, tdv: float, before: int, after: int) -> dict[str, Any]:
    """A row of :func:`list_changes`."""
    return {"term": _shown(term), "tdv": tdv, "df_before": before, "df_after": after}


def _shown(term: Term) -> str:
    """The term as text; bytes that are not UTF-8 as ``\\xNN``."""
    return term if isinstance(term, str) else term.decode(errors="backslashreplace")


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
        changes = list_changes(_worth_showing(terms, counts, documents), documents, shown.value)
        changes["dropped"] = int(np.count_nonzero(_dropped(counts)))
    return {"source": shown.source, "tdv_kind": shown.kind, **changes}


def _dropped(counts: np.ndarray) -> np.ndarray:
    """bool[n]: whether a term with these counts, before and after, was dropped."""
    dropped: np.ndarray = (counts[:, 0] > 0) & (counts[:, 2] == 0)
    return dropped


def _worth_showing(
    terms: ByteStrings, counts: np.ndarray, documents: int
) -> Iterator[tuple[Term, Counts, Counts]]:
    """All that :func:`list_changes` may list: of most terms nothing is told but their number."""
    dropped, doc_freq = _dropped(counts), counts[:, 0]
    most = np.sort(doc_freq[dropped])[-_MOST:]
    among_most = dropped & (doc_freq >= (most[0] if len(most) else 0))
    for number in np.flatnonzero(among_most | (~dropped & (doc_freq >= _common(documents)))):
        before_df, before_total, after_df, after_total = counts[number].tolist()
        yield terms[int(number)], (before_df, before_total), (after_df, after_total)


def _common(documents: int) -> int:
    """Documents that a term is in to be listed for its value."""
    return max(_FEWEST_DOCUMENTS, documents // _COMMON)


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
