"""Anserini's and Lucene's own analyzers, made as Anserini makes them, and what a field's dictionary
and stored text say of them.
"""

from __future__ import annotations

import functools
import json
import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import accumulate, chain
from typing import Any

from ..analysis import DEFAULT, ENGLISH, LANGUAGES, SPLIT_AT_BLANKS, STEMMERS, Analysis
from ..errors import TdvError
from ..vocabulary import Vocabulary
from ._jobs import ask, call, java_class, java_index

_LUCENE = {
    "standard.Standard": "", "core.Simple": "", "classic.Classic": "",
    "ar.Arabic": "ar", "bg.Bulgarian": "cyrillic", "br.Brazilian": "latin", "ca.Catalan": "latin",
    "cjk.CJK": "cjk", "ckb.Sorani": "ar", "cz.Czech": "latin", "el.Greek": "greek",
    "et.Estonian": "latin", "eu.Basque": "latin", "ga.Irish": "latin", "gl.Galician": "latin",
    "hy.Armenian": "armenian", "lt.Lithuanian": "latin", "lv.Latvian": "latin",
    "ne.Nepali": "deva", "ro.Romanian": "latin", "sr.Serbian": "cyrillic", "ta.Tamil": "tamil",
}  # fmt: skip
# Lucene's analyzers that Anserini has no flag for, and the letters they are for; "" for all.
LUCENE_CLASSES = {
    f"org.apache.lucene.analysis.{name}Analyzer": letters for name, letters in _LUCENE.items()
}

_WHITESPACE = "org.apache.lucene.analysis.core.WhitespaceAnalyzer"
_ENGLISH = "io.anserini.analysis.DefaultEnglishAnalyzer"
_DICTIONARY = "tdvlucene.search.Dictionary"


def class_of(analysis: Analysis) -> str:
    """Return the name of the analyzer's Java class."""
    if analysis.analyzer is not None:
        return analysis.analyzer
    if analysis.pretokenized or analysis.language in SPLIT_AT_BLANKS:
        return _WHITESPACE
    if analysis.language == ENGLISH:
        return _ENGLISH
    return java_class("io.anserini.analysis.AnalyzerMap").analyzerMap.get(analysis.language)


def identity_of(analysis: Analysis) -> tuple[Any, ...]:
    """Return all that decides on the terms: analyses of one identity give the same terms."""
    return class_of(analysis), analysis.stemmer, analysis.stopwords


def as_record(analysis: Analysis) -> dict[str, Any]:
    """Describe it as an index records it: what differs from the default, and the Java class."""
    said = {
        name: value for name, value in asdict(analysis).items() if value != getattr(DEFAULT, name)
    }
    return {**said, "class": class_of(analysis)}


def from_record(record: Mapping[str, Any]) -> Analysis:
    """Read :func:`as_record`. Where the language has another class here, as Korean has in Anserini
    1 and 2, the recorded class."""
    known = {field.name for field in fields(Analysis)}
    said = {name: value for name, value in record.items() if name in known}
    if said.get("stopwords") is not None:
        said["stopwords"] = tuple(said["stopwords"])
    made = Analysis(**said)
    recorded = record.get("class", class_of(made))
    return made if recorded == class_of(made) else Analysis(analyzer=recorded)


@functools.cache
def make_analyzer(analysis: Analysis) -> Any:
    """Return the Lucene ``Analyzer``, as Anserini makes it; threads may share it.

    Raises :class:`TdvError` when there is no such class, or this Java has no word boundaries of the
    language.
    """
    name = class_of(analysis)
    if not is_supported(name):
        home = java_class("java.lang.System").getProperty("java.home")
        raise TdvError(
            "Thai needs a Java that knows where Thai's words end (module jdk.localedata), and "
            f"{home} does not: set JAVA_HOME to a whole JDK 21 or newer, such as Temurin's"
        )
    if name != _ENGLISH:
        return _by_name(name)
    english = java_class(_ENGLISH)
    words = analysis.stopwords
    if analysis.stemmer == "none":
        return english.newNonStemmingInstance(*_stop_set(words))
    return english.newStemmingInstance(analysis.stemmer, *_stop_set(words))


def _stop_set(words: Sequence[str] | None) -> list[Any]:
    """Return the argument of a constructor, as Anserini makes it of a file; none for the
    default."""
    if words is None:
        return []
    found = java_class("org.apache.lucene.analysis.CharArraySet")(len(words), False)
    for word in words:
        found.add(word)
    return [found]


def _by_name(name: str) -> Any:
    try:
        return call(java_class("tdvlucene.search.Analysis").byName, name)
    except TdvError as error:
        raise TdvError(
            f"analyzer {name} is no Lucene analyzer that can be made without "
            "arguments from a class on the class path: write its whole name, such as "
            "org.apache.lucene.analysis.el.GreekAnalyzer, and add its jar to CLASSPATH if it is "
            f"your own ({error})"
        ) from None


def is_supported(name: str) -> bool:
    """Return whether this Java has what an analyzer needs."""
    if not name.endswith(".ThaiAnalyzer"):
        return True
    return bool(java_class("org.apache.lucene.analysis.th.ThaiTokenizer").DBBI_AVAILABLE)


def anserini_analyses() -> Iterator[Analysis]:
    """Yield the analyses that Anserini has flags for, its default first."""
    yield from (
        Analysis(stemmer=stemmer, stopwords=words) for words in (None, ()) for stemmer in STEMMERS
    )
    yield Analysis(pretokenized=True)
    yield from (Analysis(name) for name in LANGUAGES if name not in (ENGLISH, *SPLIT_AT_BLANKS))


def analyze(
    texts: Sequence[str], field: str = "contents", analysis: Analysis = DEFAULT
) -> list[list[str]]:
    """Return tokens of each text, in one call; by default those of Anserini's default analyzer."""
    return _tokens(texts, field, analysis, places=False)


def most_terms() -> int:
    """Return how many different terms Lucene takes in a query."""
    return int(java_class("org.apache.lucene.search.IndexSearcher").getMaxClauseCount())


def analyze_topics(
    topics: Mapping[str, str], field: str = "contents", analysis: Analysis = DEFAULT
) -> dict[str, list[str]]:
    """Query id -> tokens of its text, as :func:`analyze` has them."""
    return dict(zip(topics, analyze(list(topics.values()), field, analysis)))


Place = tuple[int, int, str]
"""Where a token stands in a text, from and to, and its term."""


def find_places(texts: Sequence[str], field: str, analysis: Analysis) -> list[list[Place]]:
    """Return tokens of each text with their places, in one call."""
    found = _tokens(texts, field, analysis, places=True)
    return [_in_characters(text, tokens) for text, tokens in zip(texts, found)]


def _in_characters(text: str, tokens: Sequence[tuple[str, int, int]]) -> list[Place]:
    """Java counts characters beyond U+FFFF as two."""
    if all(character <= "\uffff" for character in text):
        return [(start, end, term) for term, start, end in tokens]
    units = list(accumulate((1 + (character > "\uffff") for character in text), initial=0))
    return [
        (bisect_left(units, start), bisect_left(units, end), term) for term, start, end in tokens
    ]


def _tokens(texts: Sequence[str], field: str, analysis: Analysis, places: bool) -> list[Any]:
    if not texts:
        return []
    java = java_class("tdvlucene.search.Analysis").tokens
    return json.loads(java(make_analyzer(analysis), field, json.dumps(list(texts)), places))


@dataclass(frozen=True)
class Known:
    """The different terms of some texts by an analysis, in order: those that a dictionary has, and
    the others."""

    analysis: Analysis
    known: list[str]
    unknown: list[str]

    @property
    def terms(self) -> int:
        """Return how many there are."""
        return len(self.known) + len(self.unknown)

    @property
    def share(self) -> float:
        """The share of the terms that are known; 1 where there are none."""
        return len(self.known) / self.terms if self.terms else 1.0


class Dictionary:
    """Looks up terms of texts in one field of an index; of one that the index lacks it is empty."""

    def __init__(self, index: str | os.PathLike[str], field: str) -> None:
        self._index, self._field = java_index(index), field

    def look_up(self, texts: Sequence[str], analysis: Analysis) -> Known:
        """Return the terms of ``texts`` by an analysis."""
        tokens = chain.from_iterable(analyze(texts, self._field, analysis))
        terms = sorted(set(tokens), key=lambda term: term.encode("utf-8", "replace"))
        found: tuple[list[str], list[str]] = [], []
        for term, is_known in zip(terms, self._has(terms)):
            found[not is_known].append(term)
        return Known(analysis, *found)

    def _has(self, terms: list[str]) -> Iterable[bool]:
        counted = java_class(_DICTIONARY).of
        counts = ask(counted, self._index, self._field, json.dumps(terms))
        return [documents > 0 for documents, _ in counts]

    def compare(self, texts: Sequence[str], analyses: Iterable[Analysis]) -> list[Known]:
        """Return the terms by each analysis; the best known first, of equals the first."""
        found = [self.look_up(texts, one) for one in analyses]
        return sorted(found, key=lambda known: -known.share)

    def fields(self) -> list[str]:
        """Return all fields of the index that can be searched."""
        return ask(java_class(_DICTIONARY).fields, self._index)


class TermsInMemory(Dictionary):
    """Looks up terms in a vocabulary, instead of an index."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary, self._field = vocabulary, vocabulary.field

    def _has(self, terms: list[str]) -> Iterable[bool]:
        return self._vocabulary.find(terms) >= 0


@dataclass(frozen=True)
class Agreement:
    """Agreement of an analysis of stored text with the terms that an index has."""

    documents: int  # with a term by any of the analyses
    exact: int  # documents with just the terms it makes of their text
    own: int  # terms it makes of all their texts
    known: int  # those of these that the documents have
    found: int  # terms that the documents have by any of the analyses

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
        """Return the texts; none where the index stores none."""
        return ask(self._java.texts, *self._sampled)

    def compare(self, analyses: Iterable[Analysis]) -> Mapping[Analysis, Agreement]:
        """Return the agreement of each analysis with the index."""
        tried = list(analyses)
        analyzers = java_class("java.util.ArrayList")()
        for analysis in tried:
            analyzers.add(make_analyzer(analysis))
        found = ask(self._java.compare, *self._sampled, analyzers)
        return {analysis: Agreement(**one) for analysis, one in zip(tried, found)}
