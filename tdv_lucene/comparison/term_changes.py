"""What pruning did to terms: which went, which count for more than before, which for less."""

from __future__ import annotations

import heapq
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..values.term_values import TermValues

_MOST = 20
_COMMON = 1000  # raised and lowered terms are shown from one document in so many
_FEWEST_DOCUMENTS = 5

Counts = tuple[int, int]
"""Document frequency and total term frequency of a term; zeros where it is absent."""

Term = str | bytes
"""As Lucene has it, or as text where it is known to be."""

Value = Callable[[Term, Counts, Counts], float | None]
"""The discrimination value of a term with these counts before and after."""


@dataclass(frozen=True)
class TermChange:
    """One term before and after.

    Attributes
    ----------
    tdv : float or None
        Its discrimination value: learned, or the ratio of total frequencies at the recorded scale,
        which rounding, places that count and the loss of single postings blur. 0 where it was
        dropped, None where frequencies were kept.
    df_before, df_after : int
    """

    term: str
    tdv: float | None
    df_before: int
    df_after: int


@dataclass(frozen=True)
class Pruned:
    """What a pruned index records of its making (see :func:`tdv_lucene.prune_index`)."""

    scale: float
    kept_tf: bool
    reduction: float | None
    unit: str = "term"

    @classmethod
    def of(cls, user_data: Mapping[str, str]) -> Pruned:
        """Read the commit's user data; an index of another make counts as scale 1."""
        kept = user_data.get("tdv.tf") in ("original", "similarity")
        scale = 1.0 if kept else float(user_data.get("tdv.scale") or 1.0)
        reduction = user_data.get("tdv.reduction")
        unit = user_data.get("tdv.unit", "term")
        return cls(scale, kept, float(reduction) if reduction else None, unit)

    def value(self, term: Term, before: Counts, after: Counts) -> float | None:
        """The discrimination value that the two counts of a term tell, whichever it is."""
        if not after[0]:
            return 0.0
        if self.kept_tf or not before[1]:
            return None
        return after[1] / (self.scale * before[1])


def learned_value(values: TermValues, pruned: Pruned) -> Value:
    """A function that gives the learned value where the term stayed, else 0.

    Raises
    ------
    TdvError
        When the recorded reduction is out of range.
    """
    tdv = values.at_reduction(
        pruned.reduction,
        scale=None if pruned.kept_tf else pruned.scale,
        original_tf=pruned.kept_tf,
        unit=pruned.unit,
    ).tdv

    def value(term: Term, before: Counts, after: Counts) -> float | None:
        position = int(values.vocabulary.find([term])[0])
        if position < 0 or not after[0]:
            return pruned.value(term, before, after)
        return float(tdv[position])

    return value


def pair_terms(
    before: Iterable[tuple[Term, int, int]], after: Iterable[tuple[Term, int, int]]
) -> Iterator[tuple[Term, Counts, Counts]]:
    """Bring two lists of (term, df, total) together, both in Lucene's order: that of bytes, and
    of ``str`` by code points."""
    absent = (0, 0)
    tagged = heapq.merge(
        ((term, 0, counts) for term, *counts in before),
        ((term, 1, counts) for term, *counts in after),
    )
    for term, group in itertools.groupby(tagged, key=lambda row: row[0]):
        found = {side: tuple(counts) for _, side, counts in group}
        yield term, found.get(0, absent), found.get(1, absent)


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
    common = max(_FEWEST_DOCUMENTS, documents // _COMMON)
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
    valued.sort(key=lambda of: (of.tdv, of.term))
    raised = [of for of in reversed(valued) if of.tdv > 1][:_MOST]
    lowered = [of for of in valued if of.tdv < 1][:_MOST]
    gone.sort(reverse=True)
    most_dropped = [TermChange(_shown(term), 0.0, doc_freq, 0) for doc_freq, term in gone]
    return {
        "dropped": dropped,
        "most_dropped": [asdict(of) for of in most_dropped],
        "raised": [asdict(of) for of in raised],
        "lowered": [asdict(of) for of in lowered],
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
    """:func:`list_changes` of two indexes, with ``source``: where the values come from.

    ``values`` is the folder that learning wrote, when it is at hand.

    Raises
    ------
    TdvError
        When the indexes cannot be read, or the values are of another index.
    """
    from ..jvm.index import identify, read_user_data
    from ..jvm.searcher import every_term

    made = Pruned.of(read_user_data(pruned))
    value: Value = made.value
    source = "the ratio of total frequencies after and before"
    if values is not None:
        value = learned_value(open_values(values, pruned), made)
        source = f"learned ({Path(values).name})"
    with every_term(index, field) as before, every_term(pruned, field) as after:
        changes = list_changes(pair_terms(before, after), identify(index)["documents"], value)
    return {"source": source, **changes}


def open_values(values: str | os.PathLike, pruned: str | os.PathLike) -> TermValues:
    """Load term values, and be sure that ``pruned`` was made with values of that vocabulary."""
    from ..jvm.index import read_user_data

    loaded = TermValues.load(values)
    made_with = read_user_data(pruned).get("tdv.vocabulary_sha256")
    if made_with is not None:
        loaded.check(made_with)
    return loaded


def trade_off(values: TermValues, pruned: Pruned) -> dict[str, Any]:
    """The validated operating points: ``points`` with ``reduction`` and ``measures``, ``full``
    (the measures of the full index on the same held-out queries) and ``chosen``, the reduction."""
    points = values.points
    return {
        "points": [{"reduction": p["reduction"], "measures": dict(p["measures"])} for p in points],
        "full": dict(points[0]["full"]) if points else {},
        "chosen": pruned.reduction,
    }
