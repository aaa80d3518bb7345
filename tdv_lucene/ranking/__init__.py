"""Ranking functions: an object each, and the only place that knows their names.

Everything that depends on the ranking function asks its object: the formula (NumPy, JAX), the Java
class, parameters with defaults and grids, what a scale does to them, how an order and an idf are
made for it. Manifests and records hold its name.
"""

from __future__ import annotations

from .function import Array, Parameter, RankingFunction, Similarity, Statistics
from .parameters import Baking, SearchParameters
from .registry import (
    ANSERINI_DEFAULTS,
    ANY_MODEL,
    DEFAULT_MODEL,
    GRIDS,
    MODELS,
    NAMED_DEFAULTS,
    PARAMETERS,
    at_scale,
    check_model,
    model_for,
    ranking_function,
)

__all__ = [
    "ANSERINI_DEFAULTS", "ANY_MODEL", "DEFAULT_MODEL", "GRIDS", "MODELS", "NAMED_DEFAULTS",
    "PARAMETERS", "Array", "Baking", "Parameter", "RankingFunction", "SearchParameters",
    "Similarity", "Statistics",
    "at_scale", "check_model", "model_for", "ranking_function",
]  # fmt: skip
