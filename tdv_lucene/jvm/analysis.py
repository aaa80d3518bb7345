"""Analyzers: Anserini's and Lucene's own classes, made as Anserini makes them."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from ..analysis import DEFAULT, ENGLISH, LANGUAGES, SPLIT_AT_BLANKS, STEMMERS, Analysis
from ..errors import TdvError
from ._jobs import call, java_class

_LUCENE = {
    "standard.Standard": "", "core.Simple": "", "classic.Classic": "",
    "ar.Arabic": "ar", "bg.Bulgarian": "cyrillic", "br.Brazilian": "latin", "ca.Catalan": "latin",
    "cjk.CJK": "cjk", "ckb.Sorani": "ar", "cz.Czech": "latin", "el.Greek": "greek",
    "et.Estonian": "latin", "eu.Basque": "latin", "ga.Irish": "latin", "gl.Galician": "latin",
    "hy.Armenian": "armenian", "lt.Lithuanian": "latin", "lv.Latvian": "latin",
    "ne.Nepali": "deva", "ro.Romanian": "latin", "sr.Serbian": "cyrillic", "ta.Tamil": "tamil",
}  # fmt: skip
LUCENE_CLASSES = {
    f"org.apache.lucene.analysis.{name}Analyzer": letters for name, letters in _LUCENE.items()
}
"""Lucene's analyzers that Anserini has no flag for, and the letters they are for; "" for all."""

_WHITESPACE = "org.apache.lucene.analysis.core.WhitespaceAnalyzer"
_ENGLISH = "io.anserini.analysis.DefaultEnglishAnalyzer"


def class_of(analysis: Analysis) -> str:
    """The name of the analyzer's Java class."""
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
    """The Lucene ``Analyzer``, as Anserini makes it; threads may share it.

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
    """The argument of a constructor, as Anserini makes it of a file; none for the default."""
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
    """Whether this Java has what an analyzer needs."""
    if not name.endswith(".ThaiAnalyzer"):
        return True
    return bool(java_class("org.apache.lucene.analysis.th.ThaiTokenizer").DBBI_AVAILABLE)


def anserini_analyses() -> Iterator[Analysis]:
    """All that Anserini indexes text with by a flag, its default first."""
    yield from (
        Analysis(stemmer=stemmer, stopwords=words) for words in (None, ()) for stemmer in STEMMERS
    )
    yield Analysis(pretokenized=True)
    yield from (Analysis(name) for name in LANGUAGES if name not in (ENGLISH, *SPLIT_AT_BLANKS))


def analyze(
    texts: Sequence[str], field: str = "contents", analysis: Analysis = DEFAULT
) -> list[list[str]]:
    """Tokens of each text, in one call; by default those of Anserini's default analyzer."""
    return _analysed("tokens", texts, field, analysis) if texts else []


def most_terms() -> int:
    """How many different terms Lucene takes in a query."""
    return int(java_class("tdvlucene.search.Analysis").mostTerms())


def shorten(texts: Sequence[str], field: str, analysis: Analysis) -> list[tuple[int, str]]:
    """How many different terms each text has, and as much of its beginning as Lucene takes."""
    return [(terms, text) for terms, text in _analysed("shorten", texts, field, analysis)]


def analyze_topics(
    topics: Mapping[str, str], field: str = "contents", analysis: Analysis = DEFAULT
) -> dict[str, list[str]]:
    """Query id -> tokens of its text, as :func:`analyze` has them."""
    return dict(zip(topics, analyze(list(topics.values()), field, analysis)))


Place = tuple[int, int, str]
"""Where a token stands in a text, from and to, and its term."""


def find_places(
    texts: Sequence[str], terms: Sequence[str], field: str, analysis: Analysis
) -> list[list[Place]]:
    """Where each text has one of the terms, as the analysis sees it, in one call."""
    found = _analysed("places", texts, field, analysis, json.dumps(list(terms)))
    return [[(start, end, term) for start, end, term in places] for places in found]


def _analysed(
    method: str, texts: Sequence[str], field: str, analysis: Analysis, *more: str
) -> list[Any]:
    java = getattr(java_class("tdvlucene.search.Analysis"), method)
    return json.loads(java(make_analyzer(analysis), field, json.dumps(list(texts)), *more))
