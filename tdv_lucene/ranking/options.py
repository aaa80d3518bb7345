"""Options about the ranking function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import TdvError, argument
from ..options import INPUT, Config, option
from .function import Parameter
from .parameters import SearchParameters
from .registry import DEFAULT_MODEL, MODELS, PARAMETERS, ranking_function

_MODEL = f"Rank by {', '.join(ranking_function(name).title for name in MODELS)}."


@dataclass(frozen=True, kw_only=True)
class ForModel(Config):
    """The ranking function that a result is made for."""

    model: str | None = option(
        None, f"{_MODEL}  [default: {DEFAULT_MODEL}, or impact for an impact index]",
        choices=tuple(MODELS),
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SearchedModel(Config):
    """The ranking function to search with; an index may record one."""

    model: str | None = option(
        None, f"{_MODEL}  [default: the one the index was pruned for, else {DEFAULT_MODEL}, or "
        "impact for an impact index]",
        choices=tuple(MODELS),
    )  # fmt: skip


def _legal(value: float, name: str) -> None:
    SearchParameters(None, **{name: value})


def options_of(told: Callable[[Parameter], str], **more: Any) -> dict[str, Any]:
    """The parameters of ranking functions as options, with the help that each is ``told``."""
    return {
        name: option(None, told(each), check=_legal, **more) for name, each in PARAMETERS.items()
    }


def _set(each: Parameter) -> str:
    told = each.help or f"Set {each.title}."
    return f"{told}  [default: as recorded in the index, else {each.anserini:g}]"


def _check_share(share: float, name: str) -> None:
    if not 0 < share <= 1:
        raise TdvError(f"{argument(name)} must be a share above 0, at most 1, got {share}")


@dataclass(frozen=True, kw_only=True)
class QueryTerms(Config):
    """Share of each query to search with."""

    query_terms: float | None = option(
        None,
        "Search with the heaviest terms of each query only: the fewest that hold this share of "
        "its weight, such as 0.9. For impact indexes.  [default: all terms]",
        metavar="SHARE", check=_check_share, group=INPUT,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Parameters(
    Config,
    numbers=options_of(_set, group="Parameters of the ranking function"),
):
    """Parameters of the ranking function."""

    @property
    def parameters(self) -> dict[str, float]:
        """Those that are given."""
        given = {name: getattr(self, name) for name in PARAMETERS}
        return {name: x for name, x in given.items() if x is not None}
