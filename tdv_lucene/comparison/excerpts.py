"""A stored text, cut to the part a reader wants to see, with the query's terms marked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..jvm.open_index import Place
from ..report.wording import whole_characters

EXCERPT_LENGTH = 280
WHOLE_LENGTH = 6000
_BEFORE = 60


@dataclass(frozen=True)
class Piece:
    """A piece of a text.

    Attributes
    ----------
    text : str
    term : str or None
        The term of the query that it is a word of.
    lost : bool
        Whether the document's posting of that term was dropped.
    """

    text: str
    term: str | None = None
    lost: bool = False


def excerpt(text: str, places: Sequence[Place], lost: Collection[str]) -> list[Piece]:
    """The part of ``text`` with the most different terms, marked; the first of equal ones."""
    start, end = _window(text, places)
    pieces = mark(text, places, lost, start, end)
    return [
        *([Piece("… ")] if start else []),
        *pieces,
        *([Piece(" …")] if end < len(text) else []),
    ]


def mark(
    text: str,
    places: Sequence[Place],
    lost: Collection[str],
    start: int = 0,
    end: int | None = None,
) -> list[Piece]:
    """``text`` from ``start`` to ``end`` in pieces; joined they are that text."""
    end = len(text) if end is None else whole_characters(text, min(end, len(text)))
    pieces = []
    at = start
    for from_, to, term in places:
        if to <= at or to > end or from_ < start:  # outside, or in a word that is marked already
            continue
        pieces += [Piece(text[at:from_])] if from_ > at else []
        # Bigrams of Chinese overlap: of the second, what the first has not.
        pieces.append(Piece(text[max(from_, at) : to], term, term in lost))
        at = to
    return pieces + ([Piece(text[at:end])] if end > at else [])


def _window(text: str, places: Sequence[Place]) -> tuple[int, int]:
    """From and to, at the edges of words where there are any nearby."""
    if len(text) <= EXCERPT_LENGTH:
        return 0, len(text)
    start = max(
        (max(0, from_ - _BEFORE) for from_, _, _ in places),
        key=lambda at: _worth(places, at),
        default=0,
    )
    start = max(0, min(start, len(text) - EXCERPT_LENGTH))
    end = min(len(text), start + EXCERPT_LENGTH)
    if start:
        space = text.find(" ", start, start + _BEFORE)
        start = space + 1 if space >= 0 else whole_characters(text, start)
    if end < len(text):
        space = text.rfind(" ", end - _BEFORE, end)
        end = space if space > start else whole_characters(text, end)
    return start, end


def _worth(places: Sequence[Place], start: int) -> tuple[int, int]:
    """Different terms, and then words, in the window that begins at ``start``."""
    inside = [t for from_, to, t in places if from_ >= start and to <= start + EXCERPT_LENGTH]
    return len(set(inside)), len(inside)
