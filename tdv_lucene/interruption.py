"""Ctrl-C and other requests to end: noted when they come, acted on where that is safe.

Python raises ``KeyboardInterrupt`` between any two instructions, also in the callbacks of a library
written in C++. JAX and pyjnius do not survive that, or swallow it, and neither does importing them.
So what may not be broken off runs :func:`deferred`, and looks between its steps (:func:`check`)
whether it was asked to end; a command besides raises nothing within the modules in ``_FRAGILE``.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_FRAGILE = ("importlib._bootstrap", "jnius", "jax", f"{__package__}.jvm")
_SAFE = f"{__package__}.jvm.indexer"  # waits for a process, and calls no Java itself
_PATIENCE = 3  # signals until the process ends without cleaning up

_asked: list[int] = []  # the signals that came
_depth = 0  # of nested ``deferred``
_raised = False
_in_command = False


def check() -> None:
    """Raise ``KeyboardInterrupt`` if the process was asked to end."""
    if _asked:
        raise KeyboardInterrupt


@contextmanager
def caught() -> Iterator[None]:
    """Handle requests to end for the whole of a command, which mostly lasts as long as the process.

    The first raises ``KeyboardInterrupt``, now or, where that is deferred, soon; the second changes
    nothing, for the first is being acted on; the third ends the process at once.
    """
    global _in_command
    _in_command = True
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    sys.unraisablehook = _pass_over_ours
    for number, handler in before.items():
        if handler != signal.SIG_IGN:  # of nohup, and of shells for what runs in the background
            signal.signal(number, _note)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.unraisablehook = sys.__unraisablehook__
        atexit.register(_ignore)
        # A process that goes on, as a test does, is no command any more.
        _in_command = False
        obey()


def _ignore() -> None:
    """What comes while the interpreter is torn down changes nothing: the command has ended."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _pass_over_ours(unraisable: Any) -> None:
    """A callback swallowed the ``KeyboardInterrupt``; :func:`check` raises it again."""
    if not (_asked and unraisable.exc_type is KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


def was_asked() -> bool:
    """Whether the process was asked to end."""
    return bool(_asked)


def obey() -> None:
    """The process has done what it was asked: for commands that are ended so, and end well."""
    global _raised
    _asked.clear()
    _raised = False


def exit_status() -> int:
    """What a process that was asked to end should end with, as a shell has it."""
    return 128 + (_asked[0] if _asked else signal.SIGINT)


@contextmanager
def deferred() -> Iterator[None]:
    """Let no ``KeyboardInterrupt`` be raised inside but by :func:`check`, and raise it at the end.

    In a thread other than the main one, where none would be raised, this does nothing.
    """
    global _depth
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:  # as a library, in a program of others
        signal.signal(signal.SIGINT, _note)
    _depth += 1
    try:
        yield
        if _depth == 1:
            check()
    finally:
        _depth -= 1
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            _asked.clear()


def _note(number: int, frame: FrameType | None) -> None:
    global _raised
    _asked.append(number)
    if _in_command and len(_asked) >= _PATIENCE:
        os._exit(exit_status())
    if not (_depth or _raised or _is_fragile(frame)):
        _raised = True
        raise KeyboardInterrupt


def _is_fragile(frame: FrameType | None) -> bool:
    """Whether the main thread is at work for one of ``_FRAGILE``."""
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name == _SAFE:
            return False
        if name.startswith(_FRAGILE):
            return True
        frame = frame.f_back
    return False
