"""Which analyses may have made a text's terms: those of languages in its letters."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ..analysis import Analysis
from ..jvm.analysis import LUCENE_CLASSES, anserini_analyses, identity_of, is_supported

_LETTERS = {
    "ar": "\u0600-\u06ff", "armenian": "\u0530-\u058f", "bengali": "\u0980-\u09ff",
    "cjk": "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af", "cyrillic": "\u0400-\u04ff",
    "deva": "\u0900-\u097f", "greek": "\u0370-\u03ff", "hangul": "\uac00-\ud7af",
    "japanese": "\u3040-\u30ff\u4e00-\u9fff", "latin": "a-zA-Z", "tamil": "\u0b80-\u0bff",
    "telugu": "\u0c00-\u0c7f", "thai": "\u0e00-\u0e7f", "han": "\u4e00-\u9fff",
}  # fmt: skip

_OF_LANGUAGE = {
    "ar": "ar", "fa": "ar", "bn": "bengali", "hi": "deva", "ja": "japanese", "ko": "hangul",
    "ru": "cyrillic", "te": "telugu", "th": "thai", "uk": "cyrillic", "zh": "han",
}  # fmt: skip
"""Of languages that are not written in Latin letters."""

_A_FEW = 0.02
"""Of a text's letters: fewer are of words it quotes."""


def candidates(texts: Iterable[str]) -> list[Analysis]:
    """Return Anserini's analyses and then Lucene's others, the default first, without those whose
    language has other letters than the texts, that this Java cannot do, or that are an earlier one
    by another name."""
    scripts = _scripts("\n".join(texts))
    others = [
        Analysis(analyzer=name)
        for name, script in LUCENE_CLASSES.items()
        if script in ("", *scripts)
    ]
    found: dict[tuple[Any, ...], Analysis] = {}
    for analysis in (*anserini_analyses(), *others):
        if _OF_LANGUAGE.get(analysis.language) in (None, *scripts):
            found.setdefault(identity_of(analysis), analysis)
    return [analysis for identity, analysis in found.items() if is_supported(identity[0])]


def _scripts(text: str) -> set[str]:
    letters = len(re.findall(r"[^\W\d_]", text)) or 1
    return {
        name for name, some in _LETTERS.items()
        if len(re.findall(f"[{some}]", text)) >= _A_FEW * letters
    }  # fmt: skip
