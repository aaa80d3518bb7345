"""The numbers that ranking functions take, and what is legal for them."""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import TdvError, argument
from .registry import ANSERINI_DEFAULTS, ANY_MODEL, MODELS, PARAMETERS, check_model


@dataclass(frozen=True)
class Baking:
    """BM25's parameters that a field's norms hold, and those they are written for.

    Attributes
    ----------
    held : (k1, b)
        To rank as with, of the frequencies as stored.
    searched : (k1, b)
        The searcher's.
    average_length : float or None
        Tokens of a document of the whole, where the index is a shard or was written already; else
        it is counted.
    """

    held: tuple[float, float]
    searched: tuple[float, float]
    average_length: float | None = None

    def describe(self) -> dict[str, float]:
        """As an index records it; the average length is added when it has been counted."""
        return {"k1": self.held[0], "b": self.held[1]}

    def mean_off(self, lengths: np.ndarray) -> float:
        """Return how far off the length norms of documents are on average, as a share of them,
        because no norm is below that of one token.

        Parameters
        ----------
        lengths
            Of documents in tokens, all above 0.
        """
        average = lengths.mean()
        (k1, b), (searched_k1, searched_b) = self.held, self.searched
        wanted = k1 * (1 - b + b * lengths / average)
        least = searched_k1 * (1 - searched_b + searched_b / average)
        return float(np.maximum(least / wanted - 1, 0).mean()) if wanted.all() else math.inf


@dataclass(frozen=True, init=False)
class SearchParameters:
    """The numbers that ranking functions take, as attributes: of one ``model``, or without one of
    any.

    Attributes
    ----------
    model : str or None
        The name of a ranking function.
    numbers : tuple of (name, value)
        What ``model`` takes. Without a model all there are, Anserini's unless given.
    defaults : str
        Whose defaults some of the numbers are, in words; empty where all were given or recorded.
    """

    model: str | None
    numbers: tuple[tuple[str, float], ...]
    defaults: str = field(default="", compare=False)

    def __init__(self, model: str | None = None, **given: float | None) -> None:
        if model is not None:
            check_model(model)
        names = MODELS[model] if model is not None else (*PARAMETERS,)
        of_it = {name: value for name, value in given.items() if value is not None}
        if model is None:
            of_it = {**ANSERINI_DEFAULTS, **of_it}
        for name in (*PARAMETERS, *of_it):
            if (name in of_it) != (name in names):
                raise TdvError(_misfit(model, name, names, name in of_it))
        for name, value in of_it.items():
            if not (math.isfinite(value) and PARAMETERS[name].holds(value)):
                raise TdvError(
                    f"{argument(name)} must be a finite number {PARAMETERS[name].legal}, got "
                    f"{value:g}"
                )
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "numbers", tuple((name, of_it[name]) for name in names))

    def __getattr__(self, name: str) -> float:
        found: float | None = dict(self.__dict__.get("numbers", ())).get(name)
        if found is None:
            raise AttributeError(name)
        return found

    def with_values(self, values: Mapping[str, float]) -> SearchParameters:
        """The same but for ``values``, by name."""
        return SearchParameters(self.model, **{**self.values(), **values})

    def taken_from(self, defaults: str) -> SearchParameters:
        """The same, saying whose ``defaults`` they have."""
        made = copy.copy(self)
        object.__setattr__(made, "defaults", defaults)
        return made

    def values(self) -> dict[str, float]:
        """The parameters this model has, by name; all of them without a model."""
        return dict(self.numbers)

    def describe(self) -> dict[str, Any]:
        """Model and parameters, as manifests and reports hold them."""
        return {"model": self.model, **self.values()}


def _misfit(model: str | None, name: str, names: Collection[str], given: bool) -> str:
    """Why the parameter ``name`` does not suit a ranking function that takes ``names``."""
    function = f"model {model or ANY_MODEL}"
    if not given:
        return f"{function} needs a value for '{argument(name)}'"
    own = " and ".join(map(argument, names))
    others = f"its own are {own}" if len(names) > 1 else f"its own is {own or 'none'}"
    return f"{function} has no parameter '{argument(name)}': leave it out ({others})"
