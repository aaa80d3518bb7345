"""The numbers that ranking functions take, and what is legal for them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import TdvError, argument
from .registry import ANSERINI_DEFAULTS, MODELS, check_model


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


@dataclass(frozen=True)
class SearchParameters:
    """The numbers that ranking functions take: of one ``model``, or without one of any.

    Attributes
    ----------
    model : ``bm25``, ``qld`` (Dirichlet), ``tfidf`` (the paper's), ``impact`` or None
    k1 : float >= 0
    b : float in [0, 1]
    mu : float > 0
    min_idf : float >= -1
        Those that ``model`` does not have are None. Without a model all have a value, Anserini's
        unless given.
    """

    model: str | None = None
    k1: float | None = None
    b: float | None = None
    mu: float | None = None
    min_idf: float | None = None

    def __post_init__(self) -> None:
        if self.model is not None:
            check_model(self.model)
        for name, default in ANSERINI_DEFAULTS.items():
            value = getattr(self, name)
            if self.model is None:
                object.__setattr__(self, name, default if value is None else value)
            elif (value is not None) != (name in MODELS[self.model]):
                state = "has no parameter" if value is not None else "needs a value for"
                raise TdvError(f"model {self.model} {state} '{argument(name)}'")
        self._require("k1", "at least 0", lambda k1: k1 >= 0)
        self._require("b", "from 0 to 1", lambda b: 0 <= b <= 1)
        self._require("mu", "above 0", lambda mu: mu > 0)
        self._require("min_idf", "at least -1", lambda least: least >= -1)

    def _require(self, name: str, legal: str, holds: Any) -> None:
        value = getattr(self, name)
        if value is not None and not (math.isfinite(value) and holds(value)):
            raise TdvError(
                f"{argument(name, value)} is out of range: a finite number {legal} is needed"
            )

    def with_values(self, values: Mapping[str, Any]) -> SearchParameters:
        """The same but for ``values``, by name."""
        return replace(self, **values)

    def values(self) -> dict[str, float]:
        """The parameters this model has, by name; all of them without a model."""
        names = ANSERINI_DEFAULTS if self.model is None else MODELS[self.model]
        return {name: getattr(self, name) for name in names}

    def describe(self) -> dict[str, Any]:
        """Model and parameters, as manifests and reports hold them."""
        return {"model": self.model, **self.values()}
