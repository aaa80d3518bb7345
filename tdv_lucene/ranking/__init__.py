"""Ranking functions: an object each, and the only place that knows their names.

Whatever depends on the ranking function asks its object. Manifests and records hold its name.
"""

from __future__ import annotations

from .functions import (
    ANSERINI_DEFAULTS,
    ANY_MODEL,
    DEFAULT_MODEL,
    GRIDS,
    MODELS,
    NAMED_DEFAULTS,
    PARAMETERS,
    Array,
    Parameter,
    RankingFunction,
    Statistics,
    at_scale,
    model_for,
    ranking_function,
)
from .parameters import Baking, SearchParameters

__all__ = [
    "ANSERINI_DEFAULTS", "ANY_MODEL", "DEFAULT_MODEL", "GRIDS", "MODELS", "NAMED_DEFAULTS",
    "PARAMETERS", "Array", "Baking", "Parameter", "RankingFunction", "SearchParameters",
    "Statistics",
    "at_scale", "model_for", "ranking_function",
]  # fmt: skip
