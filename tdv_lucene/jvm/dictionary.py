"""Which terms of texts a field's dictionary has, by the analyzers that Anserini can index with."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ._jobs import java_class, java_path, translate_errors
from .index import DEFAULT_ANALYZER

_LETTERS = {
    "ar": "\u0600-\u06ff", "bn": "\u0980-\u09ff", "fa": "\u0600-\u06ff", "hi": "\u0900-\u097f",
    "ja": "\u3040-\u30ff\u4e00-\u9fff", "ko": "\uac00-\ud7af", "ru": "\u0400-\u04ff",
    "te": "\u0c00-\u0c7f", "th": "\u0e00-\u0e7f", "uk": "\u0400-\u04ff",
    "zh": "\u4e00-\u9fff",
}  # fmt: skip
"""Languages of Anserini's that are not written in Latin letters, and theirs."""


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

    def look_up(self, texts: Sequence[str], analyzer: Any = None) -> Known:
        """The terms of ``texts`` by an analyzer; None for the default one of queries."""
        analyzer = analyzer or java_class(DEFAULT_ANALYZER).newDefaultInstance()
        with translate_errors():
            return Known(**json.loads(self._java.of(analyzer, json.dumps(list(texts)))))

    def fields(self) -> list[str]:
        """All fields of the index that can be searched."""
        with translate_errors():
            names: list[str] = json.loads(self._java.fields())
        return names

    def stored_texts(self) -> list[str]:
        """Texts that some documents store; none where the index stores no text."""
        with translate_errors():
            texts: list[str] = json.loads(self._java.storedTexts())
        return texts


@contextmanager
def open_dictionary(index: str | os.PathLike[str], field: str) -> Iterator[Dictionary]:
    """Yield the dictionary of a field; of one that the index lacks it is empty."""
    with translate_errors():
        java = java_class("tdvlucene.inspect.KnownTerms")(java_path(index), field)
    try:
        yield Dictionary(java)
    finally:
        java.close()


def other_analyzers(text: str) -> Iterator[tuple[str, Any]]:
    """The option of Anserini's IndexCollection, and the analyzer that it indexes with; of languages
    in other letters than Latin only those whose letters are in ``text``."""
    english = java_class(DEFAULT_ANALYZER)
    yield "-stemmer none", english.newNonStemmingInstance()
    yield "-stemmer krovetz", english.newStemmingInstance("krovetz")
    yield "-pretokenized", java_class("org.apache.lucene.analysis.core.WhitespaceAnalyzer")()
    by_language = java_class("io.anserini.analysis.AnalyzerMap")
    for language in sorted(by_language.analyzerMap.keySet().toArray()):
        letters = _LETTERS.get(language, "")
        if (not letters or re.search(f"[{letters}]", text)) and _is_supported(language):
            yield f"-language {language}", by_language.getLanguageSpecificAnalyzer(language)


def _is_supported(language: str) -> bool:
    """Not every Java knows where Thai's words end."""
    thai = "org.apache.lucene.analysis.th.ThaiTokenizer"
    return language != "th" or bool(java_class(thai).DBBI_AVAILABLE)
