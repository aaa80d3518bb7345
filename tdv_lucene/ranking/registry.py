"""The ranking functions there are."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import TdvError
from .bm25 import Bm25Function
from .function import RankingFunction
from .query_likelihood import QueryLikelihood
from .tf_idf import TfIdfFunction

_FUNCTIONS: dict[str, RankingFunction] = {
    function.name: function for function in (Bm25Function(), QueryLikelihood(), TfIdfFunction())
}

MODELS = {name: function.parameters for name, function in _FUNCTIONS.items()}
"""Ranking functions and the parameters each of them has."""

DEFAULT_MODEL = Bm25Function.name
"""Where nothing else is recorded or asked for."""

ANY_MODEL = "any"
"""In place of a model: values that were made without one."""

ANSERINI_DEFAULTS = {
    name: value for function in _FUNCTIONS.values() for name, value in function.anserini.items()
}

NAMED_DEFAULTS: dict[str, dict[str, float]] = {
    "anserini": ANSERINI_DEFAULTS,
    "lucene": {
        name: value for function in _FUNCTIONS.values() for name, value in function.lucene.items()
    },
}
"""Defaults of searchers. Lucene's are also those of Solr, Elasticsearch and OpenSearch."""

GRIDS = {name: function.grid for name, function in _FUNCTIONS.items()}
"""Values tried when parameters are tuned, by model; an index's own are tried as well."""


def at_scale(parameters: Mapping[str, float], scale: float) -> dict[str, float]:
    """Return the parameters that rank frequencies times ``scale`` as these rank them unscaled."""
    grow = {name for function in _FUNCTIONS.values() for name in function.scaled}
    return {
        name: parameters[name] * scale if name in grow else parameters[name]
        for name in ANSERINI_DEFAULTS
    }


def check_model(model: str) -> None:
    """Raise :class:`TdvError` when there is no such ranking function."""
    if model not in MODELS:
        raise TdvError(f"no such model: '{model}'; choose one of {', '.join(MODELS)}")


def ranking_function(model: str) -> RankingFunction:
    """Return the one of this name.

    Raises
    ------
    TdvError
        When there is none.
    """
    check_model(model)
    return _FUNCTIONS[model]
