"""Progress of long work, as a plain callable, so that the library prints nothing by itself."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeAlias

from .interruption import check

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called as ``progress(label, done, total)``; ``total`` 0 means unknown."""


def silent(label: str, done: int, total: int) -> None:
    """Ignore all progress: the default of every stage function."""


class ProgressBar:
    """A tqdm bar on stderr for work that takes more than two seconds (the command line's choice).

    Use as a context manager and pass the object itself as ``progress``; a new label starts a
    new bar.
    """

    _LOG_INTERVAL_SECONDS = 5.0

    def __init__(self, delay_seconds: float = 2.0) -> None:
        self._delay_seconds = delay_seconds
        self._label: str | None = None
        self._bar = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._close()

    def __call__(self, label: str, done: int, total: int) -> None:
        if label != self._label:
            self._close()
            self._open(label)
        self._bar.total = total or None
        self._bar.update(done - self._bar.n)
        check()

    def _open(self, label: str) -> None:
        from tqdm import tqdm

        self._label = label
        # A log keeps every state of the bar, a terminal only the last one.
        interval = 0.1 if sys.stderr.isatty() else self._LOG_INTERVAL_SECONDS
        self._bar = tqdm(
            desc=label,
            delay=self._delay_seconds,
            mininterval=interval,
            unit_scale=True,
            leave=False,
        )

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar = self._label = None
