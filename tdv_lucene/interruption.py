"""Ctrl-C and other requests to end set a flag, which progress callbacks and waits for Java read.

Python would raise ``KeyboardInterrupt`` between any two instructions, also while modules are
imported and in callbacks of JAX and pyjnius, which do not survive that, or swallow it.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE = 3  # signals until a command ends without cleaning up

_asked: list[int] = []  # the signals that came
_in_command = False
_waiting = False


def check() -> None:
    """Raise ``KeyboardInterrupt`` if the process was asked to end."""
    if _asked:
        raise KeyboardInterrupt


def was_asked() -> bool:
    """Return whether the process was asked to end."""
    return bool(_asked)


def obey() -> None:
    """Forget the request: the command did what it asked for."""
    _asked.clear()


def exit_status() -> int:
    """Return the exit status of a process that was asked to end, as shells have it."""
    return 128 + (_asked[0] if _asked else signal.SIGINT)


@contextmanager
def caught() -> Iterator[None]:
    """Note requests to end for the whole of a command; the third ends the process at once."""
    global _in_command
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:  # of nohup, and of shells for what runs in the background
            signal.signal(number, _note)
    _in_command = True
    try:
        yield
    finally:
        _in_command = False
        for number, handler in before.items():
            signal.signal(number, handler)
        obey()


@contextmanager
def deferred() -> Iterator[None]:
    """Note Ctrl-C and raise it at :func:`check`, at the latest at the end.

    A command does so anyway; then, in other threads than the main one and in programs with a
    handler of their own, this does nothing.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _note)
    try:
        yield
        check()
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        obey()


@contextmanager
def waiting() -> Iterator[None]:
    """Raise ``KeyboardInterrupt`` at once inside: while only another process or a user is waited
    for."""
    global _waiting
    check()
    _waiting = True
    try:
        yield
    finally:
        _waiting = False


def _note(number: int, frame: FrameType | None) -> None:
    global _waiting
    _asked.append(number)
    if _in_command and len(_asked) >= _PATIENCE:
        os._exit(exit_status())
    if _waiting:
        _waiting = False  # what cleans up is not disturbed
        raise KeyboardInterrupt
