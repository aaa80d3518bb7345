"""Which terms of texts a field's dictionary has, and what analyzers make of stored text."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..analysis import Analysis
from ._jobs import ask, java_path, opened, translate_errors
from .analysis import make_analyzer


@dataclass(frozen=True)
class Known:
    """The different terms of some texts, in order: those that a dictionary has, and the others."""

    known: list[str]
    unknown: list[str]

    @property
    def terms(self) -> int:
        """How many there are."""
        return len(self.known) + len(self.unknown)

    @property
    def share(self) -> float:
        """Of the terms, those that are known; 1 where there are none."""
        return len(self.known) / self.terms if self.terms else 1.0


class Dictionary:
    """Looks up terms of texts in one field of an index; for one thread."""

    def __init__(self, java: Any) -> None:
        self._java = java

    def look_up(self, texts: Sequence[str], analysis: Analysis) -> Known:
        """The terms of ``texts`` by an analysis."""
        return Known(**ask(self._java.of, make_analyzer(analysis), json.dumps(list(texts))))

    def fields(self) -> list[str]:
        """All fields of the index that can be searched."""
        return ask(self._java.fields)

    def frequent_terms(self, most: int) -> list[str]:
        """The terms in the most documents of the largest segment."""
        return ask(self._java.frequentTerms, most)


@contextmanager
def open_dictionary(index: str | os.PathLike[str], field: str) -> Iterator[Dictionary]:
    """Yield the dictionary of a field; of one that the index lacks it is empty."""
    with opened("tdvlucene.inspect.KnownTerms", java_path(index), field) as java:
        yield Dictionary(java)


@dataclass(frozen=True)
class Agreement:
    """How an analysis of stored text agrees with the terms that an index has.

    Attributes
    ----------
    documents : int
        That were looked at, and have a term by any of the analyses.
    exact : int
        Of these, those that have just the terms it makes of their text.
    within : int
        Of these, those that have no other terms.
    own, known, found : int
        Terms it makes of all their texts; of these, those that the documents have; terms that the
        documents have by any of the analyses.
    """

    documents: int
    exact: int
    within: int
    own: int
    known: int
    found: int

    @property
    def overlap(self) -> float:
        """Of the terms made and had, those that are both (F1)."""
        return 2 * self.known / ((self.own + self.found) or 1)


class StoredSample:
    """The stored texts of some documents; for one thread."""

    def __init__(self, java: Any) -> None:
        self._java = java

    def texts(self) -> list[str]:
        """The texts; none where the index stores none."""
        return ask(self._java.texts)

    def compare(self, analyses: Iterable[Analysis]) -> Mapping[Analysis, Agreement]:
        """How each analysis agrees with the index; for one call."""
        tried = dict(enumerate(analyses))
        with translate_errors():
            for number, analysis in tried.items():
                self._java.add(str(number), make_analyzer(analysis))
        found = ask(self._java.compare)
        return {analysis: Agreement(**found[str(number)]) for number, analysis in tried.items()}


@contextmanager
def open_stored_sample(
    index: str | os.PathLike[str], field: str, most: int
) -> Iterator[StoredSample]:
    """Yield the stored texts of at most ``most`` documents, from all over the index."""
    with opened("tdvlucene.inspect.AnalysisSample", java_path(index), field, most) as java:
        yield StoredSample(java)
