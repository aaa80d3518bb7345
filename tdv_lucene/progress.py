"""Progress of long work: a plain callable, so the library itself prints nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TypeAlias

from .interruption import check

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called as ``progress(label, done, total)``; ``total`` 0 means unknown."""

_LONG = 5
"""The time to go is shown from so many seconds on."""


def silent(label: str, done: int, total: int) -> None:
    """Ignore all progress: the default of every stage function."""


class ProgressBar:
    """Progress on stderr of work that takes more than two seconds, as the command line shows it.

    On a terminal that is a tqdm bar; a log gets a line every ten percent. Use as a context manager
    and pass the object itself as ``progress``; a new label starts anew. Raises
    ``KeyboardInterrupt`` if the process was asked to end.
    """

    def __init__(self, delay_seconds: float = 2.0) -> None:
        self._delay_seconds = delay_seconds
        self._label: str | None = None
        self._shown: _Bar | _Lines | None = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._close()

    def __call__(self, label: str, done: int, total: int) -> None:
        check()
        if self._shown is None or label != self._label:
            self._close()
            self._label = label
            self._shown = (_Bar if sys.stderr.isatty() else _Lines)(label, self._delay_seconds)
        self._shown.update(done, total)

    def _close(self) -> None:
        if self._shown is not None:
            self._shown.close()
        self._shown = self._label = None


class _Bar:
    """A tqdm bar, removed in the end."""

    def __init__(self, label: str, delay_seconds: float) -> None:
        from tqdm import tqdm

        self._bar = tqdm(desc=label, delay=delay_seconds, unit_scale=True, leave=False)

    def update(self, done: int, total: int) -> None:
        self._bar.total = total or None
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        self._bar.close()


class _Lines:
    """Whole lines, with the time to go where that is long; one where the total is unknown."""

    def __init__(self, label: str, delay_seconds: float) -> None:
        self._label = label
        self._started = time.monotonic()
        self._begin = self._started + delay_seconds
        self._told = 0

    def update(self, done: int, total: int) -> None:
        tenths = 10 * done // total if total else 1
        if tenths > self._told and time.monotonic() >= self._begin:
            self._told = tenths
            share = f": {10 * tenths} %{self._to_go(done, total)}" if total else ""
            print(self._label + share, file=sys.stderr)

    def _to_go(self, done: int, total: int) -> str:
        seconds = round((time.monotonic() - self._started) * (total - done) / done)
        return f", {seconds // 60}:{seconds % 60:02} to go" if seconds >= _LONG else ""

    def close(self) -> None:
        pass
