"""Look up terms of texts in a field's dictionary; compare analyzers on stored text."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from ..analysis import Analysis
from ..vocabulary import Vocabulary
from ._jobs import ask, java_class, java_index
from .analysis import analyze, make_analyzer


@dataclass(frozen=True)
class Known:
    """The different terms of some texts by an analysis, in order: those that a dictionary has, and
    the others."""

    analysis: Analysis
    known: list[str]
    unknown: list[str]

    @property
    def terms(self) -> int:
        """How many there are."""
        return len(self.known) + len(self.unknown)

    @property
    def share(self) -> float:
        """The share of the terms that are known; 1 where there are none."""
        return len(self.known) / self.terms if self.terms else 1.0


class Dictionary:
    """Looks up terms of texts in one field of an index; of one that the index lacks it is empty."""

    def __init__(self, index: str | os.PathLike[str], field: str) -> None:
        self._java = java_class("tdvlucene.search.Dictionary")
        self._index, self._field = java_index(index), field

    def look_up(self, texts: Sequence[str], analysis: Analysis) -> Known:
        """The terms of ``texts`` by an analysis."""
        given = self._index, self._field, make_analyzer(analysis), json.dumps(list(texts))
        return Known(analysis, **ask(self._java.known, *given))

    def compare(self, texts: Sequence[str], analyses: Iterable[Analysis]) -> list[Known]:
        """The terms by each analysis; the best known first, of equals the first."""
        found = [self.look_up(texts, one) for one in analyses]
        return sorted(found, key=lambda known: -known.share)

    def fields(self) -> list[str]:
        """All fields of the index that can be searched."""
        return ask(self._java.fields, self._index)


class TermsInMemory(Dictionary):
    """Looks up terms in a vocabulary, instead of an index."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def look_up(self, texts: Sequence[str], analysis: Analysis) -> Known:
        tokens = chain.from_iterable(analyze(texts, self._vocabulary.field, analysis))
        terms = sorted(set(tokens), key=str.encode)
        places = self._vocabulary.find(terms).tolist()
        known = [term for term, place in zip(terms, places) if place >= 0]
        return Known(analysis, known, [term for term, at in zip(terms, places) if at < 0])


@dataclass(frozen=True)
class Agreement:
    """How an analysis of stored text agrees with the terms that an index has.

    Attributes
    ----------
    documents : int
        Documents with a term by any of the analyses.
    exact : int
        Documents with just the terms it makes of their text.
    own, known, found : int
        Terms it makes of all their texts; of these, those that the documents have; terms that the
        documents have by any of the analyses.
    """

    documents: int
    exact: int
    own: int
    known: int
    found: int

    @property
    def overlap(self) -> float:
        """The agreement of the terms made and had (F1)."""
        return 2 * self.known / ((self.own + self.found) or 1)


class StoredSample:
    """The stored texts of at most ``most`` documents, from all over the index."""

    def __init__(self, index: str | os.PathLike[str], field: str, most: int) -> None:
        self._java = java_class("tdvlucene.inspect.AnalysisSample")
        self._sampled = java_index(index), field, most

    def texts(self) -> list[str]:
        """The texts; none where the index stores none."""
        return ask(self._java.texts, *self._sampled)

    def compare(self, analyses: Iterable[Analysis]) -> Mapping[Analysis, Agreement]:
        """How each analysis agrees with the index."""
        tried = list(analyses)
        analyzers = java_class("java.util.ArrayList")()
        for analysis in tried:
            analyzers.add(make_analyzer(analysis))
        found = ask(self._java.compare, *self._sampled, analyzers)
        return {analysis: Agreement(**one) for analysis, one in zip(tried, found)}
