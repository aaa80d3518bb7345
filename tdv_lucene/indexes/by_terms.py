"""How a field was analysed, told by its dictionary alone, where the index stores no text."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..analysis import LANGUAGES, Analysis
from ..jvm.analysis import identity_of
from ..jvm.dictionary import Dictionary, Known
from .candidates import in_letters_of
from .english_terms import EnglishTerms
from .field_analysis import FieldAnalysis

DICTIONARY = "its terms"

_TERMS = 20_000
"""The most frequent ones of a dictionary, that are looked at."""
_FREQUENT = 1000
"""Of these, the ones that show its letters."""
_KNOWN, _LEAD = 0.3, 0.1
"""Of the terms of a text in the language, those that a dictionary has by the best analysis at
least, and how many fewer it has by others."""
_ENOUGH = 40
"""Different terms of a text that tell something."""


def detect_by_terms(index: str | os.PathLike[str], field: str) -> FieldAnalysis:
    """Look up the words of a text that there is in all languages, by each language's own analysis
    and by those of English that may have made the dictionary (see :class:`EnglishTerms`).

    The text of the collection's language, analysed as the collection was, has the most terms in
    common with it. Never certain: a text is short, and a collection may lack its words.
    """
    with Dictionary(index, field) as dictionary:
        terms = dictionary.frequent_terms(_TERMS)
        english = EnglishTerms(terms, dictionary)
        readings = [*_readings(dictionary, english, terms[:_FREQUENT])]
    readings.sort(key=lambda reading: -reading.share)
    if not readings or readings[0].share < _KNOWN:
        return _without_language(english)
    best = readings[0].share
    chosen, *others = dict.fromkeys(r.analysis for r in readings if r.share > best - _LEAD)
    evidence = f"it has {best:.0%} of the terms of a text in the language"
    return FieldAnalysis(chosen, DICTIONARY, False, tuple(others), evidence)


def _readings(
    dictionary: Dictionary, english: EnglishTerms, frequent: Sequence[str]
) -> Iterator[Known]:
    for own, texts in declaration().items():
        if in_letters_of(own, frequent):
            possible = english.analyses(texts)
            known = [*map(identity_of, possible)]
            if not own.is_default and identity_of(own) not in known:
                possible.append(own)
            found = dictionary.compare(texts, possible)
            yield from (reading for reading in found if reading.terms >= _ENOUGH)


def _without_language(english: EnglishTerms) -> FieldAnalysis:
    """Of a collection in none of the languages, or of few words: what its words do not exclude."""
    left = english.analyses(()) if english.says_enough else []
    evidence = "it has few of the commonest words"
    if not left or left[0].is_default:
        return FieldAnalysis.unknown(left[1:], evidence)
    return FieldAnalysis(left[0], DICTIONARY, False, tuple(left[1:]), evidence)


@functools.cache
def declaration() -> Mapping[Analysis, Sequence[str]]:
    """The beginning of the Universal Declaration of Human Rights in each language, by the analysis
    that is made for it; nobody has a copyright in it."""
    path = Path(__file__).with_name("resources") / "declaration.json"
    texts: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8"))
    return {
        Analysis(name) if name in LANGUAGES else Analysis(analyzer=name): text
        for name, text in texts.items()
    }
