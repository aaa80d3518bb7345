"""Queries of more terms than Lucene takes."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..analysis import Analysis
from ._jobs import java_class
from .analysis import make_analyzer

_JAVA = "tdvlucene.search.LongQueries"


def most_terms() -> int:
    """How many different terms a query can have."""
    return int(java_class(_JAVA).mostTerms())


def shorten(texts: Sequence[str], field: str, analysis: Analysis) -> list[tuple[int, str]]:
    """How many different terms each text has, and as much of its beginning as Lucene takes."""
    if not texts:
        return []
    analyzer = make_analyzer(analysis)
    found = json.loads(java_class(_JAVA).shorten(analyzer, field, json.dumps(list(texts))))
    return [(terms, text) for terms, text in found]
