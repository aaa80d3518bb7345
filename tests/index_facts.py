"""What an index says of itself, for tests that look once."""

from __future__ import annotations

from pathlib import Path

from tdv_lucene import Analysis, Index, Source
from tdv_lucene.index import analysis
from tdv_lucene.index.analysis import FieldAnalysis
from tdv_lucene.index.parameters import recorded_parameters as parameters_of
from tdv_lucene.ranking import SearchParameters


def analysis_of(
    index: Path, field: str = "contents", asked: Analysis | None = None
) -> FieldAnalysis:
    """How a field was analysed."""
    with Index.open(index) as opened:
        return analysis.analysis_of(opened, field, asked)


def recorded_parameters(
    index: Path | Source, model: str | None = None, **given: float
) -> SearchParameters:
    """What the index is searched with."""
    with Index.open(index) as opened:
        return parameters_of(opened, model, **given)
