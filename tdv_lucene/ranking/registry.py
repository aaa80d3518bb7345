"""The ranking functions there are."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import TdvError, argument
from .bm25 import Bm25Function
from .function import RankingFunction
from .impact import ImpactFunction
from .query_likelihood import QueryLikelihood
from .tf_idf import TfIdfFunction

_FUNCTIONS: dict[str, RankingFunction] = {
    function.name: function
    for function in (Bm25Function(), QueryLikelihood(), TfIdfFunction(), ImpactFunction())
}

MODELS = {name: function.parameters for name, function in _FUNCTIONS.items()}
"""Ranking functions and the parameters each of them has."""

DEFAULT_MODEL = Bm25Function.name
"""Default for frequencies that count words."""

ANY_MODEL = "any"
"""The model of values that suit any."""

PARAMETERS = {each.name: each for function in _FUNCTIONS.values() for each in function.takes}
"""The parameters of ranking functions, by name."""

ANSERINI_DEFAULTS = {name: each.anserini for name, each in PARAMETERS.items()}

NAMED_DEFAULTS: dict[str, dict[str, float]] = {
    "anserini": ANSERINI_DEFAULTS,
    "lucene": {name: each.lucene for name, each in PARAMETERS.items()},
}
"""Defaults of searchers. Lucene's are also those of Solr, Elasticsearch and OpenSearch."""

GRIDS = {name: {each.name: each.grid for each in of.takes} for name, of in _FUNCTIONS.items()}
"""Values that tuning tries besides an index's own, by model."""


def at_scale(parameters: Mapping[str, float], scale: float) -> dict[str, float]:
    """Return the parameters that rank frequencies times ``scale`` as these rank them unscaled."""
    return {n: x * scale if PARAMETERS[n].scaled else x for n, x in parameters.items()}


def check_model(model: str) -> None:
    """Raise :class:`TdvError` when there is no such ranking function."""
    if model not in MODELS:
        raise TdvError(f"no such model: '{model}'; choose one of {', '.join(MODELS)}")


def ranking_function(model: str) -> RankingFunction:
    """Return the ranking function ``model``; raise :class:`TdvError` when there is none."""
    check_model(model)
    return _FUNCTIONS[model]


def model_for(weights: bool | None, asked: str | None, what: str) -> str:
    """Return the ranking function ``asked`` for, by default the one that suits a field.

    Raises :class:`TdvError` when there is no such function, or it would rank the field wrongly.

    Parameters
    ----------
    weights
        Whether the field's frequencies are weights; None if unknown.
    what
        The field, in words.
    """
    model = asked or next(m for m, f in _FUNCTIONS.items() if f.of_weights is (weights is True))
    if weights is None or ranking_function(model).of_weights == weights:
        return model
    if weights:
        raise TdvError(
            f"{what} is of an impact index (its norms are all 1): its frequencies are weights. "
            f"{argument('model', model)} would rank them wrongly: leave it out"
        )
    raise TdvError(
        f"{what} is of no impact index (its norms tell lengths): its frequencies count words, and "
        f"{argument('model', model)} ranks by weights; leave it out, or make an impact index"
    )
