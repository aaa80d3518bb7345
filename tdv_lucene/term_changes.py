"""What pruning did to terms: which went, which count for more than before, which for less."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .values import TermValues

_MOST = 20
_COMMON = 1000  # raised and lowered terms are shown from one document in so many
_FEWEST_DOCUMENTS = 5

Counts = Mapping[str, tuple[int, int]]
"""Term -> (document frequency, total term frequency)."""


@dataclass(frozen=True)
class TermChange:
    """One term before and after.

    Attributes
    ----------
    tdv : float or None
        Its discrimination value: learned, or the ratio of total frequencies at the recorded scale,
        which rounding blurs. 0 where it was dropped, None where frequencies were kept.
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

    @classmethod
    def of(cls, user_data: Mapping[str, str]) -> Pruned:
        """Read the commit's user data; an index of another make counts as scale 1."""
        kept = user_data.get("tdv.tf") == "original"
        scale = 1.0 if kept else float(user_data.get("tdv.scale") or 1.0)
        reduction = user_data.get("tdv.reduction")
        return cls(scale, kept, float(reduction) if reduction else None)

    def value(self, before: tuple[int, int], after: tuple[int, int]) -> float | None:
        """The discrimination value that the two counts of a term tell."""
        if not after[0]:
            return 0.0
        if self.kept_tf or not before[1]:
            return None
        return after[1] / (self.scale * before[1])


def learned_value(
    values: TermValues, pruned: Pruned, before: Counts, after: Counts
) -> Callable[[str], float | None]:
    """A function from term to value: the learned one where the term stayed, else 0.

    Raises
    ------
    TdvError
        When the recorded reduction is not one of these values.
    """
    tdv = values.at_reduction(
        pruned.reduction, scale=None if pruned.kept_tf else pruned.scale, original_tf=pruned.kept_tf
    ).tdv

    def value(term: str) -> float | None:
        position = int(values.vocabulary.find([term])[0])
        if position < 0 or not after.get(term, (0, 0))[0]:
            return pruned.value(before.get(term, (0, 0)), after.get(term, (0, 0)))
        return float(tdv[position])

    return value


def list_changes(
    before: Counts, after: Counts, documents: int, value: Callable[[str], float | None]
) -> dict[str, Any]:
    """The terms worth showing, 20 a list.

    Returns
    -------
    dict
        ``dropped`` (number of terms), ``most_dropped`` (by postings saved), ``raised`` and
        ``lowered`` (by value, of terms in at least one document of a thousand): lists of
        :class:`TermChange` as dicts.
    """
    gone = [term for term in before if term not in after]
    common = max(_FEWEST_DOCUMENTS, documents // _COMMON)
    valued = [
        (v, term)
        for term, (doc_freq, _) in before.items()
        if doc_freq >= common and term in after and (v := value(term)) is not None
    ]
    valued.sort()

    def rows(terms: list[str]) -> list[dict[str, Any]]:
        changes = (
            TermChange(t, value(t), before[t][0], after.get(t, (0, 0))[0]) for t in terms[:_MOST]
        )
        return [asdict(change) for change in changes]

    return {
        "dropped": len(gone),
        "most_dropped": rows(sorted(gone, key=lambda t: (-before[t][0], t))),
        "raised": rows([term for v, term in reversed(valued) if v > 1]),
        "lowered": rows([term for v, term in valued if v < 1]),
    }


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
    from .jvm.index import identify, read_user_data
    from .jvm.searcher import count_all_terms

    before, after = count_all_terms(index, field), count_all_terms(pruned, field)
    made = Pruned.of(read_user_data(pruned))
    if values is None:
        source = "the ratio of total frequencies after and before"

        def value(term: str) -> float | None:
            return made.value(before[term], after.get(term, (0, 0)))
    else:
        source = f"learned ({Path(values).name})"
        value = learned_value(open_values(values, pruned), made, before, after)
    return {
        "source": source,
        **list_changes(before, after, identify(index)["documents"], value),
    }


def open_values(values: str | os.PathLike, pruned: str | os.PathLike) -> TermValues:
    """Load term values, and be sure that ``pruned`` was made with values of that vocabulary."""
    from .jvm.index import read_user_data

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
