"""How text becomes the terms of an index, in the terms of Anserini's flags."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from .errors import TdvError
from .options import Config, option

ENGLISH = "en"
STEMMERS = ("porter", "krovetz", "none")
STOP_WORDS = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then "
    "there these they this to was will with"
).split()
"""Lucene's ``EnglishAnalyzer.ENGLISH_STOP_WORDS_SET``, which Anserini's analyzer drops."""

# Anserini's names of languages.
LANGUAGES = {
    "ar": "Arabic", "bn": "Bengali", "da": "Danish", "de": "German", "en": "English",
    "es": "Spanish", "fa": "Persian", "fi": "Finnish", "fr": "French", "ha": "Hausa",
    "hi": "Hindi", "hu": "Hungarian", "id": "Indonesian", "it": "Italian", "ja": "Japanese",
    "ko": "Korean", "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese",
    "ru": "Russian", "so": "Somali", "sv": "Swedish", "sw": "Swahili", "te": "Telugu",
    "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "yo": "Yoruba", "zh": "Chinese",
}  # fmt: skip
SPLIT_AT_BLANKS = ("ha", "so", "sw", "yo")  # languages without an analyzer in Anserini


@dataclass(frozen=True)
class Analysis:
    """How a field is analysed, in the terms of Anserini's flags; the default is Anserini's.

    Raises :class:`TdvError` for an unknown stemmer or language, and for what excludes each other.
    """

    language: str = ENGLISH  # Anserini's -language
    stemmer: str = STEMMERS[0]  # for English: one of STEMMERS
    stopwords: tuple[str, ...] | None = None  # for English: None for Lucene's, () for none
    pretokenized: bool = False  # split at blanks only
    analyzer: str | None = None  # a Lucene Analyzer on the class path, by the name of its class

    def __post_init__(self) -> None:
        if self.stemmer not in STEMMERS:
            raise TdvError(f"stemmer must be one of {', '.join(STEMMERS)}, got '{self.stemmer}'")
        if self.analyzer is None and self.language not in LANGUAGES:
            raise TdvError(
                f"language must be one of Anserini's ({', '.join(LANGUAGES)}), got "
                f"'{self.language}': for a Lucene analyzer, pass its class as analyzer"
            )
        alone = {
            "analyzer": "an analyzer by class has its own language, stemmer and stop words",
            "pretokenized": "text that is split at blanks only has no language and no stemmer",
            "language": f"{LANGUAGES.get(self.language)} has its own stemmer and stop words",
        }
        given = [each.name for each in fields(self) if getattr(self, each.name) != each.default]
        reasons = [why for name, why in alone.items() if name in given]
        if reasons and len(given) > 1:
            raise TdvError(f"{' and '.join(given)} do not go together: {reasons[0]}; leave one out")

    def describe(self) -> str:
        """Return it in words."""
        if self.analyzer is not None:
            return self.analyzer
        if self.pretokenized:
            return "pretokenized (split at blanks)"
        name = LANGUAGES[self.language]
        if self.language != ENGLISH:
            return name
        stemmer = "no stemmer" if self.stemmer == "none" else f"{self.stemmer.title()} stemmer"
        stop = ""
        if self.stopwords is not None:
            stop = f", {len(self.stopwords) or 'no'} stop words"
        return f"{name} ({stemmer}{stop})"

    def flags(self) -> str:
        """Return the flags that the commands take for it."""
        if self.analyzer is not None:
            return f"--analyzer {self.analyzer}"
        if self.pretokenized:
            return "--pretokenized"
        if self.language != ENGLISH:
            return f"--language {self.language}"
        if self.stopwords is None:
            return f"--stemmer {self.stemmer}"
        return f"--stemmer {self.stemmer} --stopwords {'FILE' if self.stopwords else 'none'}"


DEFAULT = Analysis()


def read_stop_words(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Read a file of stop words, one a line, as Anserini does; ``none`` for none.

    Raises :class:`TdvError` when the file cannot be read.
    """
    if path == "none":
        return ()
    try:
        return tuple(Path(path).read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeError) as error:
        raise TdvError(
            f"cannot read stopwords {path} ({error}): name a text file in UTF-8 with a word per "
            "line, or 'none'"
        ) from None


_GROUP = "Analysis"


@dataclass(frozen=True, kw_only=True)
class Analysed(Config):
    """How text becomes terms. Without any of these, it is analysed as the index was."""

    language: str | None = option(
        None, "Analyse text as Anserini does for this language, such as de.  [default: as the "
        "index was analysed, see 'inspect']",
        metavar="CODE", group=_GROUP,
    )  # fmt: skip
    stemmer: str | None = option(
        None, "Use this stemmer for English.  [default: as the index]",
        choices=STEMMERS, group=_GROUP,
    )  # fmt: skip
    stopwords: str | os.PathLike[str] | None = option(
        None, "Remove the English stop words in this file, one per line. none: remove no words.  "
        "[default: as the index]",
        metavar="FILE", group=_GROUP,
    )  # fmt: skip
    pretokenized: bool = option(False, "Split text at blanks only.", group=_GROUP)
    analyzer: str | None = option(
        None, "Use this Lucene analyzer, such as org.apache.lucene.analysis.el.GreekAnalyzer.",
        metavar="CLASS", group=_GROUP,
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.analysis

    @property
    def analysis(self) -> Analysis | None:
        """Return the analysis that was asked for; None for none."""
        given = self.asked_analysis
        if not any(given.values()):
            return None
        if self.stopwords is not None:
            given["stopwords"] = read_stop_words(self.stopwords)
        return Analysis(**{name: x for name, x in given.items() if x is not None})

    @property
    def asked_analysis(self) -> dict[str, Any]:
        """Return these options by name."""
        return {name: getattr(self, name) for name in Analysed.OPTIONS}
