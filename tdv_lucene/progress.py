"""Progress of long work: a plain callable, so the library itself prints nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, TypeAlias

from .interruption import check

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called as ``progress(label, done, total)``; ``total`` 0 means unknown."""

_LONG = 5
"""The time to go is shown from so many seconds on."""


def silent(label: str, done: int, total: int) -> None:
    """Ignore all progress: the default of every stage function."""


class ProgressBar:
    """Progress on stderr of work that takes more than two seconds, as the command line shows it.

    On a terminal that is a tqdm bar, removed in the end; a log gets a line every ten percent. Use
    as a context manager and pass the object itself as ``progress``; a new label starts anew. Raises
    ``KeyboardInterrupt`` if the process was asked to end.
    """

    def __init__(self, delay_seconds: float = 2.0) -> None:
        self._delay_seconds = delay_seconds
        self._label: str | None = None
        self._bar: Any = None
        self._started, self._tenths = 0.0, 0

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._bar is not None:
            self._bar.close()
        self._label = self._bar = None

    def __call__(self, label: str, done: int, total: int) -> None:
        check()
        if label != self._label:
            self.__exit__()
            self._label, self._tenths, self._started = label, 0, time.monotonic()
            if sys.stderr.isatty():
                from tqdm import tqdm

                self._bar = tqdm(
                    desc=label, delay=self._delay_seconds, unit_scale=True, leave=False
                )
        if self._bar is not None:
            self._bar.total = total or None
            self._bar.update(done - self._bar.n)
            return
        tenths = 10 * done // total if total else 1
        seconds = time.monotonic() - self._started
        if tenths > self._tenths and seconds >= self._delay_seconds:
            self._tenths = tenths
            share = f": {10 * tenths} %" if total else ""
            left = round(seconds * (total - done) / done) if total else 0
            to_go = f", {left // 60}:{left % 60:02} to go" if left >= _LONG else ""
            print(label + share + to_go, file=sys.stderr)
