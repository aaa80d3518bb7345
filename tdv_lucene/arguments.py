"""Arguments that several stages take, and their legal values."""

from __future__ import annotations

import os
import re

from .errors import TdvError

MOST_THREADS = 1024
MOST_SECONDS = 1_000_000
MOST_HITS = 1_000_000  # documents per query: Lucene allocates memory for as many
LARGEST_SEED = 2**32 - 1  # that all generators in use take

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12,
          "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}  # fmt: skip


def within(
    name: str, value: float, least: float, most: float | None = None, remedy: str = ""
) -> None:
    """Raise :class:`TdvError` naming ``name`` when ``value`` is out of its range."""
    if not least <= value <= (value if most is None else most):
        legal = f"at least {least:,}" if most is None else f"from {least:,} to {most:,}"
        raise TdvError(f"{name} must be {legal}, got {value:,}{remedy and f': {remedy}'}")


def cores(threads: int | None) -> int:
    """Return ``threads``, or the number of cores for None."""
    return threads or os.cpu_count() or 1


def parse_bytes(text: str | int, name: str = "max_bytes") -> int:
    """Return the number in ``25MB``, ``1.5 GiB``, ``25000000``; k, M, G are powers of 1000.

    Raises :class:`TdvError` naming ``name`` when it is no such number above 0.
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", str(text).lower())
    number = float(found[1]) * _UNITS.get(found[2], 0) if found else 0
    if number < 1:
        raise TdvError(f"{name} must be a size above 0, such as 25MB or 1.5GiB, got '{text}'")
    return int(number)


def checked_share(share: float, name: str = "reduction") -> None:
    """Raise :class:`TdvError` when ``share`` is not within [0, 1)."""
    if not 0 <= share < 1:
        remedy = f"for {share:g} % pass {share / 100:g}" if 1 < share < 100 else "0.1 is 10 %"
        raise TdvError(f"{name} must be a share of at least 0 and below 1, got {share:g}: {remedy}")
