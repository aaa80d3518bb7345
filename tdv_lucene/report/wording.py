"""Make text of others fit to be shown, shorten it, and count things.

Ids, terms, names and queries come from collections and users. A terminal obeys escapes in them, a
line break begins a new row, and marks of direction reverse the order of what follows.
"""

from __future__ import annotations

import re

_DIRECTION = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_LINES = "\u2028\u2029"
_ACTING = re.compile(f"[\x00-\x1f\x7f-\x9f{_DIRECTION}{_LINES}\u200b\ufeff\ud800-\udfff]")


def visible(text: str, keep: str = "") -> str:
    r"""Return ``text`` with every character that acts instead of showing written as its escape.

    Those are control characters (``\x1b``), line breaks and tabs (``\n``, ``\t``), marks of
    direction (``\u202e``), spaces without width and lone surrogates; others stay as they are.
    ``keep`` holds those that may stay, as the line breaks of a message.
    """

    def shown(found: re.Match[str]) -> str:
        return found[0] if found[0] in keep else found[0].encode("unicode_escape").decode()

    return _ACTING.sub(shown, text)


def one_line(text: str) -> str:
    r"""Return ``text`` on one line, without characters that act instead of showing.

    For text that is read, where :func:`visible` would write ``\n`` and ``\u200f`` into it.
    """
    return " ".join(_ACTING.sub(lambda found: " " if found[0].isspace() else "", text).split())


def shortened(text: str, most: int = 100) -> str:
    """Return the first ``most`` characters of ``text``, with a mark where some are left out."""
    return text if len(text) <= most else f"{text[:most]} ..."


def counted(number: int, one: str, more: str = "") -> str:
    """Return ``1 query``, ``1,234 queries``; ``more`` is a plural other than with s."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"
