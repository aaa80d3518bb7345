"""How a field was analysed, found from the stored text: Anserini records nothing of it."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..analysis import Analysis
from ..jvm.dictionary import Agreement, StoredSample
from .candidates import candidates
from .field_analysis import FieldAnalysis

STORED_TEXT = "stored text"

_DOCUMENTS = (20, 400)
"""Looked at: at first, and where these do not tell two analyses apart."""
_FEWEST_TERMS = 20
_ALIKE, _AHEAD = 0.8, 0.05
"""Where no analysis makes just the documents' terms, as of text with markup: how alike the terms
of the best must be, and how much more than those of others."""


def detect(index: str | os.PathLike[str], field: str) -> FieldAnalysis:
    """Find out how ``field`` was analysed, which was not pruned: then it is recorded.

    The stored text of a sample of documents is analysed in all ways known here, and held against
    the terms that the index has for these documents.
    """
    sample = StoredSample(index, field, _DOCUMENTS[0])
    found = sample.compare(candidates(sample.texts()))
    if not any(agreement.found for agreement in found.values()):
        return FieldAnalysis.unknown((), "it stores no text of the field")
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
    """Those that agree in all documents."""
    return [one for one, of in found.items() if of.exact == of.documents]


def _nearest(found: Mapping[Analysis, Agreement]) -> FieldAnalysis:
    """The one that agrees best; nothing that two do about as well."""
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
