"""How many threads a stage uses."""

from __future__ import annotations

import os

from .errors import TdvError, argument


def checked_threads(threads: int | None) -> int:
    """None means one a core.

    Raises
    ------
    TdvError
        When fewer than one is asked for.
    """
    if threads is None:
        return os.cpu_count() or 1
    if threads < 1:
        raise TdvError(f"{argument('threads')} must be at least 1, got {threads}")
    return threads
