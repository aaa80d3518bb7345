"""How the text of a field was analysed: as it was asked for, as the index records it, or found."""

from __future__ import annotations

import functools
import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..analysis import Analysis
from ..errors import TdvError
from ..source import Source
from .search_parameters import holds_weights
from .user_data import FieldRecord, user_data_of

_log = logging.getLogger(__name__)

RECORD = "analysis"
"""Of the commit's user data: how all fields were analysed, or with a dot and a name, one."""

GIVEN, RECORDED, DEFAULT = "as given", "recorded in the index", "Anserini's default"
IN_VALUES = "recorded in the TDVs"
_SHOWN = 3


@dataclass(frozen=True)
class FieldAnalysis:
    """How a field was analysed, and how that is known.

    Attributes
    ----------
    analysis : Analysis
        What to analyse queries with; the default where it cannot be told.
    source : str
        How it is known.
    is_certain : bool
        Whether no other that is known here agrees with the evidence.
    others : tuple of Analysis
        That it may have been.
    evidence : str
        In words.
    """

    analysis: Analysis
    source: str
    is_certain: bool = True
    others: tuple[Analysis, ...] = ()
    evidence: str = ""

    @classmethod
    def of_record(cls, record: Mapping[str, Any], source: str) -> FieldAnalysis:
        """What was recorded, and where."""
        from ..jvm.analysis import from_record

        return cls(from_record(record), source)

    @property
    def is_proved(self) -> bool:
        """Whether it is known to be the index's, and not only asked for."""
        return self.is_certain and self.source != GIVEN

    @property
    def advice(self) -> str:
        """What to give where it cannot be told for sure."""
        ways = dict.fromkeys(one.flags() for one in (self.analysis, *self.others[:_SHOWN]))
        return f"Give the one that the index was made with: {' or '.join(ways)}"

    def describe(self) -> str:
        """In words, as ``German (detected from stored text)``."""
        named, how = self.analysis.describe(), self._how_known()
        return f"{named[:-1]}; {how})" if named.endswith(")") else f"{named} ({how})"

    def _how_known(self) -> str:
        others = " or ".join(one.describe() for one in self.others[:_SHOWN])
        if self.source in (GIVEN, RECORDED, IN_VALUES):
            return self.source
        if self.source == DEFAULT:
            known = f"; it may also be {others}" if others else ""
            return f"{self.source}: it cannot be told{known}"
        if others:
            return f"likeliest by {self.source}; {others} may be as well"
        return f"{'' if self.is_certain else 'probably, '}detected from {self.source}"

    def as_dict(self) -> dict[str, object]:
        """For programs."""
        return {
            "described": self.describe(),
            "analysis": self.analysis.describe(),
            "flags": self.analysis.flags(),
            "source": self.source,
            "certain": self.is_certain,
            "others": [one.describe() for one in self.others],
            "evidence": self.evidence,
        }


def analysis_of(
    index: str | os.PathLike[str], field: str = "contents", asked: Analysis | None = None
) -> FieldAnalysis:
    """Return how queries are analysed for ``field``: as ``asked``, recorded or detected.

    Of shards, how each of them was.

    Raises
    ------
    TdvError
        When the index records another analysis than was asked for, or shards differ.
    """
    source = Source.of(index)
    if source.is_sharded:
        found = {name: analysis_of(name, field, asked) for name in source.folders_here}
        return refuse_different(found, "the shards")
    recorded = analysis_recorded(user_data_of(index), field)
    if asked is None:
        return recorded or _detected(index, field)
    if recorded is not None and _identity(recorded.analysis) != _identity(asked):
        raise TdvError(
            f"{index} records that its field '{field}' was analysed as "
            f"{recorded.analysis.describe()}, and {asked.flags()} was given: leave it out, or give "
            f"{recorded.analysis.flags()}"
        )
    return FieldAnalysis(asked, GIVEN)


def refuse_different(found: Mapping[str, FieldAnalysis], what: str) -> FieldAnalysis:
    """Return how several indexes were analysed, by the surest of them.

    Raises
    ------
    TdvError
        When two of them were analysed otherwise.
    """
    certain = {name: one for name, one in found.items() if one.is_certain}
    first, *others = certain or found
    for other in others if certain else ():
        if _identity(certain[first].analysis) != _identity(certain[other].analysis):
            raise TdvError(
                f"{what} were analysed differently: {first} as {certain[first].describe()}, "
                f"{other} as {certain[other].describe()}; index them with the same options"
            )
    return found[first]


def analysis_recorded(user_data: Mapping[str, str], field: str) -> FieldAnalysis | None:
    """Return what a commit's user data say of a field; None where they say nothing."""
    text = user_data.get(f"{RECORD}.{field}", user_data.get(RECORD))
    return None if text is None else FieldAnalysis.of_record(json.loads(text), RECORDED)


def as_user_data(analysis: Analysis, field: str | None = None) -> dict[str, str]:
    """What a commit's user data say of an analysis of one field, or of all."""
    from ..jvm.analysis import as_record

    name = RECORD if field is None else f"{RECORD}.{field}"
    return {name: json.dumps(as_record(analysis), ensure_ascii=False)}


def record_to_add(found: FieldAnalysis, field: str) -> dict[str, str]:
    """What an index should say that is made from another, beyond what that says itself; nothing
    where it cannot be told."""
    is_news = found.is_certain and found.source != RECORDED
    return as_user_data(found.analysis, field) if is_news else {}


def _detected(index: str | os.PathLike[str], field: str) -> FieldAnalysis:
    from ..jvm.index import identify

    if holds_weights(index, field):
        return FieldAnalysis(Analysis(pretokenized=True), "weights", evidence="its norms are all 1")
    is_pruned = FieldRecord.read(index, field).values_sha256 is not None
    found = _detect_once(os.path.abspath(index), identify(index)["commit"], field, is_pruned)
    _log.info("%s, field '%s': %s, %s", index, field, found.describe(), found.evidence)
    return found


@functools.lru_cache(maxsize=64)
def _detect_once(index: str, commit: str, field: str, is_pruned: bool) -> FieldAnalysis:
    """One commit stays as it is."""
    from .detection import detect

    found = detect(index, field, is_pruned=is_pruned)
    if found.analysis is None:
        return FieldAnalysis(Analysis(), DEFAULT, False, found.others, found.evidence)
    return FieldAnalysis(
        found.analysis, found.source, found.is_certain, found.others, found.evidence
    )


def _identity(analysis: Analysis) -> tuple[Any, ...]:
    from ..jvm.analysis import identity_of

    return identity_of(analysis)
