"""What pruning did to terms: which went, which count for more than before, which for less."""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..indexes.record import FieldRecord
from ..pruning.recorded_values import values_of_index
from ..records import ByteStrings

_MOST = 20
_COMMON = 1000  # raised and lowered terms are shown from one document in so many
_FEWEST_DOCUMENTS = 5

Counts = tuple[int, int]
"""Document frequency and total term frequency of a term; zeros where it is absent."""

Term = str | bytes
"""As Lucene has it, or as text where it is known to be."""

Value = Callable[[Term, Counts, Counts], float | None]
"""What is shown of a term with these counts before and after."""


@dataclass(frozen=True)
class TermChange:
    """One term before and after.

    Attributes
    ----------
    tdv : float or None
        What a :class:`TermMeasure` says of it: its discrimination value, or without learned values
        the ratio of its frequencies. 0 where it was dropped.
    df_before, df_after : int
    """

    term: str
    tdv: float | None
    df_before: int
    df_after: int


@dataclass(frozen=True, eq=False)
class TermMeasure:
    """What a comparison shows of every term, and what that is.

    Attributes
    ----------
    of : Value
        Gives 0 where a term was dropped, None where nothing tells.
    kind : str
        ``"learned"``, the discrimination values; or ``"ratio"``, of total frequencies.
    source : str
        Where they come from, in words.
    """

    of: Value
    kind: str
    source: str


def frequency_ratio(record: FieldRecord, term: str, before: Counts, after: Counts) -> float | None:
    """The ratio of a term's total frequencies after and before, at the recorded scale.

    Rounding, places that count and the loss of single postings blur what it tells of the term's
    value. 0 where the term was dropped, None where frequencies were kept.
    """
    if not after[0]:
        return 0.0
    if record.tf != "scaled" or not before[1]:
        return None
    return after[1] / (record.scale * before[1])


def measure_terms(
    pruned: str | os.PathLike, field: str, values: str | os.PathLike | None
) -> TermMeasure:
    """What to show of the terms of an index: its learned values where they are given.

    ``values`` is the folder that pruning was given, when it is at hand; without it, the ratio of
    frequencies.

    Raises
    ------
    TdvError
        When the index cannot be read, or was not pruned in ``field`` with these values.
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
        ``lowered`` (by value, of terms in at least one document of a thousand): lists of
        :class:`TermChange` as dicts.
    """
    common = _common(documents)
    dropped = 0
    gone: list[tuple[int, Term]] = []  # a heap of the largest so far
    valued: list[TermChange] = []
    for term, before, after in terms:
        if before[0] and not after[0]:
            dropped += 1
            keep = heapq.heappush if len(gone) < _MOST else heapq.heappushpop
            keep(gone, (before[0], term))
        elif before[0] >= common and (tdv := value(term, before, after)) is not None:
            valued.append(TermChange(_shown(term), tdv, before[0], after[0]))
    valued.sort(key=lambda change: (change.tdv, change.term))
    raised = [change for change in reversed(valued) if change.tdv > 1][:_MOST]
    lowered = [change for change in valued if change.tdv < 1][:_MOST]
    gone.sort(reverse=True)
    most_dropped = [TermChange(_shown(term), 0.0, doc_freq, 0) for doc_freq, term in gone]
    return {
        "dropped": dropped,
        "most_dropped": [asdict(change) for change in most_dropped],
        "raised": [asdict(change) for change in raised],
        "lowered": [asdict(change) for change in lowered],
    }


def _shown(term: Term) -> str:
    """The term as text; bytes that are not UTF-8 as ``\\xNN``."""
    return term if isinstance(term, str) else term.decode(errors="backslashreplace")


def describe_terms(
    index: str | os.PathLike,
    pruned: str | os.PathLike,
    field: str,
    values: str | os.PathLike | None = None,
) -> dict[str, Any]:
    """:func:`list_changes` of two indexes, with the ``tdv_kind`` and ``source`` of what is shown
    of terms as ``tdv`` (see :class:`TermMeasure`).

    Raises
    ------
    TdvError
        As :func:`measure_terms`, and when ``index`` cannot be read.
    """
    from ..jvm.index import identify
    from ..jvm.searcher import every_pair

    shown = measure_terms(pruned, field, values)
    documents = identify(index)["documents"]
    with every_pair(index, pruned, field) as (terms, counts):
        changes = list_changes(_worth_showing(terms, counts, documents), documents, shown.of)
        changes["dropped"] = int(np.count_nonzero(_gone(counts)))
    return {"source": shown.source, "tdv_kind": shown.kind, **changes}


def _gone(counts: np.ndarray) -> np.ndarray:
    """bool[n]: whether a term with these counts, before and after, was dropped."""
    gone: np.ndarray = (counts[:, 0] > 0) & (counts[:, 2] == 0)
    return gone


def _worth_showing(
    terms: ByteStrings, counts: np.ndarray, documents: int
) -> Iterator[tuple[Term, Counts, Counts]]:
    """All that :func:`list_changes` may list: of most terms nothing is told but their number."""
    gone, doc_freq = _gone(counts), counts[:, 0]
    most = np.sort(doc_freq[gone])[-_MOST:]
    among_most = gone & (doc_freq >= (most[0] if len(most) else 0))
    for number in np.flatnonzero(among_most | (~gone & (doc_freq >= _common(documents)))):
        before_df, before_total, after_df, after_total = counts[number].tolist()
        yield terms[number], (before_df, before_total), (after_df, after_total)


def _common(documents: int) -> int:
    """Documents that a term is in to be listed for its value."""
    return max(_FEWEST_DOCUMENTS, documents // _COMMON)


def trade_off(pruned: str | os.PathLike, field: str, values: str | os.PathLike) -> dict[str, Any]:
    """The validated operating points: ``points`` with ``reduction`` and ``measures``, ``full``
    (the measures of the full index on the same held-out queries) and ``chosen``, the reduction
    that was asked for.

    Raises
    ------
    TdvError
        As :func:`measure_terms`.
    """
    learned, _ = values_of_index(pruned, field, values)
    points, record = learned.points, FieldRecord.read(pruned, field)
    asked = record.requested_reduction
    return {
        "points": [{"reduction": p["reduction"], "measures": dict(p["measures"])} for p in points],
        "full": dict(points[0]["full"]) if points else {},
        "chosen": record.reduction if asked is None else asked,
    }
