"""How a field was analysed, told by what the index holds: nothing of it is recorded by Anserini."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..analysis import ENGLISH, LANGUAGES, Analysis
from ..jvm.analysis import analyze, identity_of
from ..jvm.dictionary import Agreement, Dictionary, Known, open_dictionary, open_stored_sample
from .candidates import candidates, in_letters_of

STORED_TEXT, DICTIONARY = "stored text", "its terms"

_DOCUMENTS = (20, 400)
"""Looked at: at first, and where these do not tell two analyses apart."""
_FREQUENT = 1000
"""Terms of a dictionary that show its letters."""
_FEWEST_TERMS = 20
_ALIKE, _AHEAD = 0.8, 0.05
"""Where no analysis makes just the documents' terms, as of text with markup: how alike the terms
of the best must be, and how much more than those of others."""
_KNOWN, _LEAD = 0.3, 0.1
"""Of the terms of a text in the language, those that a dictionary has by the best analysis at
least, and how many fewer it has by others."""
_ENOUGH = 40
"""Different terms of a text that tell something."""
_WORDS = 0.85
"""Of a dictionary's terms, those that are words of a text, without marks: of fewer, no analysis
made it that looks for words, but one that splits at blanks, or into parts of words."""


@dataclass(frozen=True)
class Detected:
    """What was found out.

    Attributes
    ----------
    analysis : Analysis or None
        None where it cannot be told.
    is_certain : bool
        Whether it is the only one that agrees with the evidence, of those that are known here.
    others : tuple of Analysis
        That agree as well, or nearly.
    source : str
        What was looked at.
    evidence : str
        In words.
    """

    analysis: Analysis | None
    is_certain: bool
    others: tuple[Analysis, ...]
    source: str
    evidence: str


def detect(index: str | os.PathLike[str], field: str, *, is_pruned: bool) -> Detected:
    """Find out how ``field`` was analysed, by the stored text or else by the terms alone."""
    return _by_stored_text(index, field, is_pruned) or _by_terms(index, field)


def _by_stored_text(index: str | os.PathLike[str], field: str, is_pruned: bool) -> Detected | None:
    """None where the index stores no text of the field.

    The stored text of a sample of documents is analysed in all ways known here, and held against
    the terms that the index has for these documents. One whose postings were dropped has fewer
    (``is_pruned``).
    """
    with open_stored_sample(index, field, _DOCUMENTS[0]) as sample:
        tried = list(candidates(sample.texts()))
        found = sample.compare(tried)
    if not any(agreement.found for agreement in found.values()):
        return None
    alike = _alike(found, is_pruned)
    if len(alike) > 1:
        with open_stored_sample(index, field, _DOCUMENTS[1]) as sample:
            found = sample.compare(alike)
        alike = _alike(found, is_pruned) or alike
    if not alike:
        return _nearest(found)
    best, *others = alike
    agreement = found[best]
    is_certain = not others and not is_pruned and agreement.found >= _FEWEST_TERMS
    just = "no terms but those" if is_pruned else "exactly the terms"
    evidence = (
        f"{agreement.documents} of {agreement.documents} sampled documents have {just} that it "
        "makes of their text"
    )
    return Detected(best, is_certain, tuple(others), STORED_TEXT, evidence)


def _alike(found: Mapping[Analysis, Agreement], is_pruned: bool) -> list[Analysis]:
    """Those that agree in all documents; of a pruned index, those of them with the fewest terms."""
    if not is_pruned:
        return [one for one, of in found.items() if of.exact == of.documents]
    within = [one for one, of in found.items() if of.within == of.documents]
    fewest = min((found[one].own for one in within), default=0)
    return [one for one in within if found[one].own == fewest]


def _nearest(found: Mapping[Analysis, Agreement]) -> Detected:
    """The one that agrees best; nothing that two do about as well."""
    order: Sequence[Analysis] = sorted(found, key=lambda one: -found[one].overlap)
    best, *others = order
    overlap = found[best].overlap
    near = tuple(one for one in others if found[one].overlap > overlap - _AHEAD)
    evidence = (
        f"of the terms that it makes of the stored text and those of the sampled documents "
        f"{overlap:.0%} are the same"
    )
    if overlap < _ALIKE or near:
        return Detected(None, False, (best, *near)[:3], STORED_TEXT, evidence)
    return Detected(best, False, (), STORED_TEXT, evidence)


@dataclass(frozen=True)
class Reading:
    """How many of a text's terms a dictionary has, as one analysis makes them."""

    analysis: Analysis
    found: Known


def read_text(
    dictionary: Dictionary, texts: Sequence[str], analyses: Iterable[Analysis]
) -> list[Reading]:
    """Look a text's terms up by each analysis; the best first, of equals the first."""
    found = [Reading(one, dictionary.look_up(texts, one)) for one in analyses]
    return sorted(found, key=lambda reading: -reading.found.share)


def _by_terms(index: str | os.PathLike[str], field: str) -> Detected:
    """Look up the words of a text that there is in all languages, by all analyses of each.

    The text of the collection's language, analysed as the collection was, has the most terms in
    common with it. Never certain: a text is short, and a collection may lack its words.
    """
    with open_dictionary(index, field) as dictionary:
        frequent = dictionary.frequent_terms(_FREQUENT)
        languages = {
            one: texts for one, texts in declaration().items() if in_letters_of(one, frequent)
        }
        plain = _plain(frequent)
        known = {identity_of(one) for one in plain}
        readings = [
            reading
            for own, texts in languages.items()
            for reading in read_text(
                dictionary, texts, [*plain, *([] if identity_of(own) in known else [own])]
            )
            if reading.found.terms >= _ENOUGH
        ]
    readings.sort(key=lambda reading: -reading.found.share)
    if not readings or readings[0].found.share < _KNOWN:
        return Detected(None, False, (), DICTIONARY, "it has few of the commonest words")
    best = readings[0].found.share
    near = dict.fromkeys(r.analysis for r in readings if r.found.share > best - _LEAD)
    evidence = f"it has {best:.0%} of the terms of a text in the language"
    chosen, *others = sorted(near, key=lambda one: not one.is_default)
    if others and not chosen.is_default:
        return Detected(None, False, (chosen, *others), DICTIONARY, evidence)
    return Detected(chosen, False, tuple(others), DICTIONARY, evidence)


def _plain(terms: Sequence[str]) -> list[Analysis]:
    """Those of no language but English, for a dictionary with these terms."""
    bare = Analysis(stemmer="none", stopwords=())
    tokens = analyze(terms, analysis=bare)
    words = sum(made == [term] for term, made in zip(terms, tokens))
    if words < _WORDS * len(terms):
        return [Analysis(pretokenized=True)]
    return [one for one in candidates(terms) if one.language == ENGLISH]


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
