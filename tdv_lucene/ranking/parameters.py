"""The parameters of ranking functions, their legal values, and their options."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..arguments import MOST_HITS
from ..errors import TdvError
from ..options import INPUT, Config, Effect, option
from .functions import (
    ANSERINI_DEFAULTS,
    ANY_MODEL,
    DEFAULT_MODEL,
    MODELS,
    PARAMETERS,
    Parameter,
    ranking_function,
)


@dataclass(frozen=True)
class Baking:
    """BM25's parameters in a field's norms, for a searcher with other ones."""

    held: tuple[float, float]  # (k1, b): the parameters to rank with, for frequencies as stored
    searched: tuple[float, float]  # (k1, b): the searcher's
    # Tokens of a document of the whole, if the index is a shard or was written already; else it is
    # counted
    average_length: float | None = None

    def mean_off(self, lengths: np.ndarray, counts: np.ndarray | None = None) -> float:
        """Return how far off the length norms of documents are on average, as a share of them,
        because no norm is below that of one token.

        ``lengths`` in tokens are above 0; ``counts`` are the documents of each, None for one.
        """
        average = np.average(lengths, weights=counts)
        (k1, b), (searched_k1, searched_b) = self.held, self.searched
        wanted = k1 * (1 - b + b * lengths / average)
        least = searched_k1 * (1 - searched_b + searched_b / average)
        if not wanted.all():
            return math.inf
        return float(np.average(np.maximum(least / wanted - 1, 0), weights=counts))


TIERS = "both", "hot", "whole"
"""What may be searched of an index in two tiers."""


class Tiers(NamedTuple):
    """A field with few postings that finds documents; the whole one ranks the first of them."""

    whole: str  # The field that ranks
    hot: str  # The field that finds
    # How many documents the whole field scores at most; 0 for none, which is a search of ``hot``
    depth: int
    # Of those behind the hits wanted, it scores what the hot field scores at least this share of
    # the last hit; 0 for all
    margin: float = 0.0
    # The hot field is asked for the heaviest terms of a query that hold this share of its weight;
    # a term weighs what it adds to the score of a usual document that has it, times its idf. Where
    # more hits are wanted than the depth, for all
    query_terms: float = 1.0

    def of_hot(self) -> Tiers:
        """Return the search of the hot field alone."""
        return self._replace(depth=0, query_terms=1.0)

    def for_hits(self, hits: int) -> Tiers:
        """Return what a search for so many hits does: those that nothing ranks are not lost."""
        return self._replace(query_terms=1.0) if 0 < self.depth < hits else self

    def candidates(self, scores: np.ndarray, hits: int) -> int:
        """Return how many of the documents that the hot field found the whole one scores.

        ``scores`` are float32, the best first; see ``tdvlucene.search.Tiers``.
        """
        count = min(self.depth, len(scores))
        if count > hits:
            least = np.float32(self.margin * float(scores[hits - 1]))
            count = max(hits, int((scores[:count] >= least).sum()))
        return count


@dataclass(frozen=True, init=False)
class SearchParameters:
    """The parameters of one ``model`` as attributes, or without a model those of all."""

    model: str | None  # the name of a ranking function
    # (name, value): those that ``model`` takes; without a model all there are, Anserini's unless
    # given
    numbers: tuple[tuple[str, float], ...]
    # Whose defaults some of the numbers are, in words; empty where all were given or recorded
    defaults: str = field(default="", compare=False)
    # Which field finds what the searched one ranks; None for a search of one field
    tiers: Tiers | None = None

    def __init__(self, model: str | None = None, **given: float | None) -> None:
        names = (*PARAMETERS,) if model is None else ranking_function(model).parameters
        of_it = {name: value for name, value in given.items() if value is not None}
        if model is None:
            of_it = {**ANSERINI_DEFAULTS, **of_it}
        for name in (*PARAMETERS, *of_it):
            if (name in of_it) != (name in names):
                raise TdvError(_misfit(model, name, names, name in of_it))
        for name, value in of_it.items():
            if not (math.isfinite(value) and PARAMETERS[name].holds(value)):
                raise TdvError(
                    f"{name} must be a finite number {PARAMETERS[name].legal}, got {value:g}"
                )
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "numbers", tuple((name, of_it[name]) for name in names))

    def __getattr__(self, name: str) -> float:
        found: float | None = dict(self.__dict__.get("numbers", ())).get(name)
        if found is None:
            raise AttributeError(name)
        return found

    def with_values(self, values: Mapping[str, float]) -> SearchParameters:
        """Return the same with other ``values``, by name."""
        return SearchParameters(self.model, **{**self.values(), **values})

    def taken_from(self, defaults: str) -> SearchParameters:
        """Return the same, saying whose ``defaults`` they have."""
        made = copy.copy(self)
        object.__setattr__(made, "defaults", defaults)
        return made

    def in_tiers(self, tiers: Tiers | None) -> SearchParameters:
        """Return the same for a search in ``tiers``."""
        made = copy.copy(self)
        object.__setattr__(made, "tiers", tiers)
        return made

    def values(self) -> dict[str, float]:
        """Return the parameters by name."""
        return dict(self.numbers)

    def describe(self) -> dict[str, Any]:
        """Return model and parameters, as manifests and reports hold them."""
        in_tiers = {} if self.tiers is None else {"tiers": self.tiers._asdict()}
        return {"model": self.model, **self.values(), **in_tiers}


def _misfit(model: str | None, name: str, names: Collection[str], given: bool) -> str:
    """Return why the parameter ``name`` does not suit a ranking function that takes ``names``."""
    function = f"model {model or ANY_MODEL}"
    if not given:
        return f"{function} needs a value for '{name}'"
    own = " and ".join(names)
    others = f"its own are {own}" if len(names) > 1 else f"its own is {own or 'none'}"
    return f"{function} has no parameter '{name}': leave it out ({others})"


def _model_option(default: str) -> Any:
    titles = ", ".join(ranking_function(name).title for name in MODELS)
    return option(None, f"Rank by {titles}.  [default: {default}]", choices=tuple(MODELS))


@dataclass(frozen=True, kw_only=True)
class ForModel(Config):
    """The ranking function that a result is made for."""

    model: str | None = _model_option(f"{DEFAULT_MODEL}, or impact for an impact index")


@dataclass(frozen=True, kw_only=True)
class SearchedModel(Config):
    """The ranking function to search with; an index may record one."""

    model: str | None = _model_option(
        f"the one the index was pruned for, else {DEFAULT_MODEL}, or impact for an impact index"
    )


def options_of(told: Callable[[Parameter], str], **more: Any) -> dict[str, Any]:
    """Return the parameters of ranking functions as options, with help by ``told``."""

    def check(value: float, name: str) -> object:
        return SearchParameters(None, **{name: value})

    return {n: option(None, told(each), check=check, **more) for n, each in PARAMETERS.items()}


def _set(each: Parameter) -> str:
    told = each.help or f"Set {each.title}."
    return f"{told}  [default: as recorded in the index, else {each.anserini:g}]"


@dataclass(frozen=True, kw_only=True)
class OfTiers(Config):
    """How an index in two tiers is searched."""

    tier: str = option(
        "both",
        "In an index in two tiers, search with both, or with one alone.  both: the hot field "
        "finds, and the whole one ranks.  Other indexes have one tier.",
        choices=TIERS, group=INPUT,
    )  # fmt: skip
    depth: int | None = option(
        None,
        "Rank this many of the documents found by the whole field.  [default: as recorded in the "
        "index]",
        metavar="DOCUMENTS", least=1, most=MOST_HITS, group=INPUT,
    )  # fmt: skip

    EFFECTS = (Effect(("depth",), "tier", "one tier alone ranks all", only=("both",)),)


@dataclass(frozen=True, kw_only=True)
class Parameters(Config, numbers=options_of(_set, group="Parameters of the ranking function")):
    """Parameters of the ranking function."""

    @property
    def parameters(self) -> dict[str, float]:
        """The given ones, by name."""
        given = {name: getattr(self, name) for name in PARAMETERS}
        return {name: x for name, x in given.items() if x is not None}
