"""The page of ``tdv-lucene serve``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup, escape

from .environment import template
from .query_tables import VALUE_COLUMN
from .wording import visible


def render(
    about: Mapping[str, Any], query: str, answer: Mapping[str, Any] | None, wrong: str
) -> str:
    """The page: the indexes, the query as typed, and the answer or what is wrong with it."""
    return template("serve.html").render(
        about=about,
        names=[*about["indexes"]],
        query=query,
        typed=Markup(escape(query)),
        lines=_lines,
        answer=answer,
        wrong=wrong,
        value_heads=[VALUE_COLUMN[index["tdv_kind"]] for index in [*about["indexes"].values()][1:]],
        moved=_moved,
        milliseconds=_milliseconds,
        megabytes=_megabytes,
    )


def _lines(text: str) -> Markup:
    """A piece of a text, in which line breaks and tabs stay what they are, and what writing from
    right to left and without blanks needs: its paragraph keeps marks of direction to itself."""
    return Markup(escape(visible(text, keep="\n\t\u061c\u200b\u200e\u200f")))


def _moved(rank: int, was: int | None, shown: int, depth: int) -> tuple[str, str]:
    """(kind, words) of where a hit of rank ``rank`` stands in the first index.

    Kinds: ``same``, ``up``, ``down``, and ``gained`` where the first does not show it.
    """
    if was is None:
        return "gained", f"new, from below {depth}"
    if was > shown:
        return "gained", f"new, from {was}"
    if was == rank:
        return "same", "same rank"
    return ("up", f"▲ from {was}") if was > rank else ("down", f"▼ from {was}")


def _milliseconds(ms: float) -> str:
    return f"{ms:.0f} ms" if ms >= 100 else f"{ms:.3g} ms"


def _megabytes(size: int) -> str:
    """Megabytes of a number of bytes, to three digits."""
    return f"{size / 1e6:,.0f} MB" if size >= 1e8 else f"{size / 1e6:.3g} MB"
