"""Options about the ranking function."""

from __future__ import annotations

from typing import Any

from ..options import Config, option
from .parameters import SearchParameters
from .registry import ANSERINI_DEFAULTS, DEFAULT_MODEL, MODELS

_MODEL = "Ranking function: BM25, query likelihood (qld), TF-IDF or impact scoring."


class ForModel(Config):
    """Of what is made for a ranking function."""

    model: str | None = option(
        None, f"{_MODEL}  [default: impact of an impact index, else {DEFAULT_MODEL}]",
        choices=tuple(MODELS),
    )  # fmt: skip


class SearchedModel(Config):
    """Of what searches an index, which may record its ranking function."""

    model: str | None = option(
        None, f"{_MODEL}  [default: the one the index was pruned for, else impact of an impact "
        f"index, else {DEFAULT_MODEL}]",
        choices=tuple(MODELS),
    )  # fmt: skip


def _legal(value: float, name: str) -> None:
    SearchParameters(None, **{name: value})


def parameter_option(help: str, **told: Any) -> Any:  # noqa: A002
    """A parameter of the ranking function, as an option."""
    return option(None, help, check=_legal, **told)


def _parameter(name: str, default: float) -> Any:
    return parameter_option(
        f"Set {name}.  [default: as recorded in the index, else {default}]",
        group="Parameters of the ranking function",
    )


class Parameters(Config):
    """Of what takes the ranking function's parameters."""

    k1: float | None = _parameter("BM25's k1", 0.9)
    b: float | None = _parameter("BM25's b", 0.4)
    mu: float | None = _parameter("QLD's mu", 1000)
    min_idf: float | None = parameter_option(
        "Ask for terms with an ln(N / df) above this only, as Pyserini's impact searcher does; -1 "
        "asks for all.  [default: as recorded in the index, else 0]",
        group="Parameters of the ranking function",
    )

    @property
    def parameters(self) -> dict[str, float]:
        """Those that are given."""
        given = {name: getattr(self, name) for name in ANSERINI_DEFAULTS}
        return {name: x for name, x in given.items() if x is not None}
