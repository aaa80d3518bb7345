"""How the text of a field was analysed: as it was asked for, as the index records it, or found."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ..analysis import Analysis
from ..errors import TdvError
from ..jvm.analysis import (
    LUCENE_CLASSES,
    Agreement,
    StoredSample,
    anserini_analyses,
    as_record,
    from_record,
    identity_of,
    is_supported,
    make_analyzer,
)
from .index import Index
from .parameters import Described

GIVEN, RECORDED, DEFAULT = "as given", "recorded in the index", "Anserini's default"
IN_VALUES = "recorded in the TDVs"
_SHOWN = 3
_NO_TEXT = "it stores no text of the field"
_GUESS = "guess"


@dataclass(frozen=True)
class FieldAnalysis:
    """An analysis of a field, and how it is known."""

    analysis: Analysis  # to analyse queries with; the default where it cannot be told
    source: str  # how it is known
    is_certain: bool = True  # no other that is known here agrees with the evidence
    others: tuple[Analysis, ...] = ()  # that agree as well
    evidence: str = ""  # in words

    @classmethod
    def unknown(cls, others: Iterable[Analysis], evidence: str) -> FieldAnalysis:
        """Take the default for what cannot be told."""
        return cls(Analysis(), DEFAULT, False, tuple(others), evidence)

    @classmethod
    def of_record(cls, record: Mapping[str, Any], source: str) -> FieldAnalysis:
        """Read a record; a guess stays one, with what it was made from."""
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
        """Return whether it is known to be the index's, and not only asked for."""
        return self.is_certain and self.source != GIVEN

    @property
    def advice(self) -> str:
        """Tell what to give where the analysis cannot be told for sure."""
        ways = dict.fromkeys(one.flags() for one in (self.analysis, *self.others[:_SHOWN]))
        return f"Give the one that the index was made with: {' or '.join(ways)}"

    def describe(self) -> str:
        """Return it in words, as ``German (detected from stored text)``."""
        named, how = self.analysis.describe(), self._how_known()
        return f"{named[:-1]}; {how})" if named.endswith(")") else f"{named} ({how})"

    def _how_known(self) -> str:
        others = " or ".join(one.describe() for one in self.others[:_SHOWN])
        if self.source in (GIVEN, RECORDED, IN_VALUES):
            return self.source
        if self.source == DEFAULT:
            known = f"; it may also be {others}" if others else ""
            return f"assumed: {self.source}{known}"
        if others:
            return f"likeliest by {self.source}; {others} may be as well"
        return f"{'' if self.is_certain else 'probably, '}detected from {self.source}"

    def as_dict(self) -> dict[str, object]:
        """Return it as JSON."""
        return {
            "described": self.describe(),
            "analysis": self.analysis.describe(),
            "flags": self.analysis.flags(),
            "source": self.source,
            "certain": self.is_certain,
            "others": [one.describe() for one in self.others],
            "evidence": self.evidence,
        }


_LETTERS = {
    "ar": "\u0600-\u06ff", "armenian": "\u0530-\u058f", "bengali": "\u0980-\u09ff",
    "cjk": "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af", "cyrillic": "\u0400-\u04ff",
    "deva": "\u0900-\u097f", "greek": "\u0370-\u03ff", "hangul": "\uac00-\ud7af",
    "japanese": "\u3040-\u30ff\u4e00-\u9fff", "latin": "a-zA-Z", "tamil": "\u0b80-\u0bff",
    "telugu": "\u0c00-\u0c7f", "thai": "\u0e00-\u0e7f", "han": "\u4e00-\u9fff",
}  # fmt: skip

# Of languages that are not written in Latin letters.
_OF_LANGUAGE = {
    "ar": "ar", "fa": "ar", "bn": "bengali", "hi": "deva", "ja": "japanese", "ko": "hangul",
    "ru": "cyrillic", "te": "telugu", "th": "thai", "uk": "cyrillic", "zh": "han",
}  # fmt: skip
_A_FEW = 0.02  # of a text's letters: fewer are of words it quotes


def candidates(texts: Iterable[str]) -> list[Analysis]:
    """Return Anserini's analyses and then Lucene's others, the default first, without those whose
    language has other letters than the texts, that this Java cannot do, or that are an earlier one
    by another name."""
    text = "\n".join(texts)
    letters = len(re.findall(r"[^\W\d_]", text)) or 1
    scripts = {
        name for name, some in _LETTERS.items()
        if len(re.findall(f"[{some}]", text)) >= _A_FEW * letters
    }  # fmt: skip
    of_scripts = [name for name, script in LUCENE_CLASSES.items() if script in ("", *scripts)]
    others = [Analysis(analyzer=name) for name in of_scripts]
    found: dict[tuple[Any, ...], Analysis] = {}
    for analysis in (*anserini_analyses(), *others):
        if _OF_LANGUAGE.get(analysis.language) in (None, *scripts):
            found.setdefault(identity_of(analysis), analysis)
    return [analysis for identity, analysis in found.items() if is_supported(identity[0])]


STORED_TEXT = "stored text"

_DOCUMENTS = (20, 400)  # to look at: at first, and where these do not tell two analyses apart
_FEWEST_TERMS = 20
# Where no analysis makes just the documents' terms, as of text with markup: how alike the terms of
# the best must be, and how much more than those of others.
_ALIKE, _AHEAD = 0.8, 0.05


def detect(index: str | os.PathLike[str], field: str) -> FieldAnalysis:
    """Find out how ``field`` was analysed, which was not pruned: then it is recorded.

    The stored text of a sample of documents is analysed in all ways known here, and held against
    the terms that the index has for these documents.
    """
    sample = StoredSample(index, field, _DOCUMENTS[0])
    found = sample.compare(candidates(sample.texts()))
    if not any(agreement.found for agreement in found.values()):
        return FieldAnalysis.unknown((), _NO_TEXT)
    alike = _alike(found)
    if len(alike) > 1:
        found = StoredSample(index, field, _DOCUMENTS[1]).compare(alike)
        alike = _alike(found) or alike
    if not alike:
        return _nearest(found)
    best, *others = alike
    agreement = found[best]
    is_certain = not others and agreement.found >= _FEWEST_TERMS
    evidence = (
        f"{agreement.documents} of {agreement.documents} sampled documents have exactly the "
        "terms that it makes of their text"
    )
    return FieldAnalysis(best, STORED_TEXT, is_certain, tuple(others), evidence)


def _alike(found: Mapping[Analysis, Agreement]) -> list[Analysis]:
    return [one for one, of in found.items() if of.exact == of.documents]


def _nearest(found: Mapping[Analysis, Agreement]) -> FieldAnalysis:
    """Return the one that agrees best; unknown where two do about as well."""
    best, *others = sorted(found, key=lambda one: -found[one].overlap)
    overlap = found[best].overlap
    near = tuple(one for one in others if found[one].overlap > overlap - _AHEAD)
    evidence = (
        f"of the terms that it makes of the stored text and those of the sampled documents "
        f"{overlap:.0%} are the same"
    )
    if overlap < _ALIKE or near:
        return FieldAnalysis.unknown((best, *near)[:3], evidence)
    return FieldAnalysis(best, STORED_TEXT, False, evidence=evidence)


_log = logging.getLogger(__name__)

RECORD = "analysis"  # in user data: how all fields were analysed or, with a dot and a name, one


def analysis_of(
    index: Described, field: str = "contents", asked: Analysis | None = None
) -> FieldAnalysis:
    """Return how queries are analysed for ``field``: as ``asked``, recorded or detected.

    Of shards, how each of them was.

    Raises :class:`TdvError` when the index records another analysis than was asked for, or shards
    differ.
    """
    if not isinstance(index, Index):
        known: FieldAnalysis = index.analysed
        return known
    if index.source.is_sharded:
        found = {}
        for folder in index.source.folders_here:
            with Index.open(folder) as shard:
                found[folder] = analysis_of(shard, field, asked)
        return refuse_different(found, "the shards")
    said = index.user_data
    text = said.get(f"{RECORD}.{field}", said.get(RECORD))
    recorded = None if text is None else FieldAnalysis.of_record(json.loads(text), RECORDED)
    if asked is None:
        return recorded or _detected(index, field)
    make_analyzer(asked)  # refuses what no analyzer can be made of
    is_other = recorded is not None and identity_of(recorded.analysis) != identity_of(asked)
    if recorded is not None and recorded.is_certain and is_other:
        raise TdvError(
            f"{index} records that its field '{field}' was analysed as "
            f"{recorded.analysis.describe()}, and {asked.flags()} was given: leave it out, or give "
            f"{recorded.analysis.flags()}"
        )
    return FieldAnalysis(asked, GIVEN)


def refuse_different(found: Mapping[str, FieldAnalysis], what: str) -> FieldAnalysis:
    """Return how several indexes were analysed, by the surest of them.

    Raises :class:`TdvError` when two of them were analysed otherwise.
    """
    certain = {name: one for name, one in found.items() if one.is_certain}
    first, *others = certain or found
    for other in others if certain else ():
        if identity_of(certain[first].analysis) != identity_of(certain[other].analysis):
            raise TdvError(
                f"{what} were analysed differently: {first} as {certain[first].describe()}, "
                f"{other} as {certain[other].describe()}; index them with the same options"
            )
    return found[first]


def as_user_data(analysis: Analysis, field: str | None = None) -> dict[str, str]:
    """Return what a commit's user data say of an analysis of one field, or of all."""
    name = RECORD if field is None else f"{RECORD}.{field}"
    return {name: json.dumps(as_record(analysis), ensure_ascii=False)}


def record_to_add(found: FieldAnalysis, field: str, *, is_new: bool = False) -> dict[str, str]:
    """Return what an index made from another should say beyond what that says itself: guesses too,
    for what is dropped may be what they were made from. A new field has no record yet."""
    if found.source == RECORDED and not is_new:
        return {}
    return {f"{RECORD}.{field}": json.dumps(found.as_record(), ensure_ascii=False)}


def _as_others(index: Index, field: str, unknown: FieldAnalysis) -> FieldAnalysis:
    """Return how another field of the index was analysed, for one whose text is not stored. Of
    Anserini's, its default is likelier."""
    if not index.searcher.why_not_anserinis:
        return unknown
    for name, described in index.fields.items():
        found = unknown
        with suppress(TdvError):  # of a field that holds no text
            if name != field and described.has_frequencies and not index.holds_weights(name):
                found = detect(index, name)
        if found.source == STORED_TEXT:
            told = f"the stored text of '{name}', as its own is not stored"
            unknown = replace(found, source=told, is_certain=False)
            break
    _log.warning(
        "how field '%s' of %s was analysed cannot be told, as its text is not stored; taken is %s. "
        "Give the analyzer that it was made with if it is another (--analyzer CLASS)",
        field, index, unknown.describe(),
    )  # fmt: skip
    return unknown


def _detected(index: Index, field: str) -> FieldAnalysis:
    if index.holds_weights(field):
        return FieldAnalysis(Analysis(pretokenized=True), "weights", evidence="its norms are all 1")
    if field not in index.detected:
        own = detect(index, field)
        index.detected[field] = own if own.evidence != _NO_TEXT else _as_others(index, field, own)
    found: FieldAnalysis = index.detected[field]
    _log.info("%s, field '%s': %s, %s", index, field, found.describe(), found.evidence)
    return found
