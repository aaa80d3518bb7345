"""The program that an index is for: whose defaults it is searched with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..ranking import NAMED_DEFAULTS


@dataclass(frozen=True)
class Searcher:
    """The program that an index is for: its defaults are taken where the index records nothing.

    Attributes
    ----------
    why_not_anserinis : str
        Why Lucene's are taken, as ``tdvlucene.common.Searcher`` says; empty for Anserini's.
    """

    why_not_anserinis: str = ""

    @classmethod
    def of_shards(cls, reasons: Sequence[str]) -> Searcher:
        """Choose for all shards, of the reason that each of them has: an empty one has no field."""
        return cls(min(reasons, key=bool))

    @property
    def name(self) -> str:
        """One of :data:`..ranking.NAMED_DEFAULTS`."""
        return "lucene" if self.why_not_anserinis else "anserini"

    def describe(self, names: Iterable[str]) -> str:
        """Say whose defaults these parameters have, and why."""
        defaults = NAMED_DEFAULTS[self.name]
        told = ", ".join(f"{name} {defaults[name]:g}" for name in names)
        why = self.why_not_anserinis and f" (the index is not Anserini's: {self.why_not_anserinis})"
        return f"{self.name.title()}'s {told}{why}"
