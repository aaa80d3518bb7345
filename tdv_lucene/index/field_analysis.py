"""How a field was analysed, and how that is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..analysis import Analysis
from ..jvm.analysis import as_record, from_record

GIVEN, RECORDED, DEFAULT = "as given", "recorded in the index", "Anserini's default"
IN_VALUES = "recorded in the TDVs"
_SHOWN = 3
_GUESS = "guess"


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
    def unknown(cls, others: Iterable[Analysis], evidence: str) -> FieldAnalysis:
        """What cannot be told; the default is taken."""
        return cls(Analysis(), DEFAULT, False, tuple(others), evidence)

    @classmethod
    def of_record(cls, record: Mapping[str, Any], source: str) -> FieldAnalysis:
        """What was recorded, and where; a guess stays one, with what it was made from."""
        guess = record.get(_GUESS)
        if guess is None:
            return cls(from_record(record), source)
        others = tuple(map(from_record, guess["others"]))
        return cls(from_record(record), guess["source"], False, others, guess["evidence"])

    def as_record(self) -> dict[str, Any]:
        """Return what :meth:`of_record` reads again."""
        if self.is_certain:
            return as_record(self.analysis)
        others = [as_record(one) for one in self.others]
        guess = {"source": self.source, "evidence": self.evidence, "others": others}
        return {**as_record(self.analysis), _GUESS: guess}

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
