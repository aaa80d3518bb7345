"""Numbers that several stages take, and what is legal for them."""

from __future__ import annotations

import os

from .errors import TdvError, argument

MOST_THREADS = 1024
MOST_HITS = 1_000_000
"""Documents a query: Lucene sets memory aside for as many."""

LARGEST_SEED = 2**32 - 1
"""The most that every generator in use takes."""


def checked_threads(threads: int | None, name: str = "threads") -> int:
    """Return ``threads``; None means one a core.

    Raises
    ------
    TdvError
        When it is not from 1 to :data:`MOST_THREADS`; ``name`` is what the caller calls it.
    """
    if threads is None:
        return os.cpu_count() or 1
    return _within(name, threads, 1, MOST_THREADS)


def checked_hits(hits: int) -> int:
    """Return ``hits``, or raise :class:`TdvError` when it is not from 1 to :data:`MOST_HITS`."""
    return _within("hits", hits, 1, MOST_HITS)


def checked_seed(seed: int) -> int:
    """Return ``seed``, or raise :class:`TdvError` when it is not from 0 to :data:`LARGEST_SEED`."""
    return _within("seed", seed, 0, LARGEST_SEED)


def _within(name: str, value: int, least: int, most: int) -> int:
    if not least <= value <= most:
        raise TdvError(
            f"{argument(name)} must be at least {least}, got {value}, and at most {most}"
        )
    return value
