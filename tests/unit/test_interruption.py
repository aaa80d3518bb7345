"""Ctrl-C, noted when it comes and raised where that is safe; and progress."""

from __future__ import annotations

import io
import os
import re
import signal

import pytest

from tdv_lucene.interruption import caught, check, deferred, waiting, was_asked
from tdv_lucene.progress import ProgressBar


def _ask(number: int = signal.SIGINT) -> None:
    os.kill(os.getpid(), number)


@pytest.fixture(autouse=True)
def _handler_is_left_as_it_was():
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    check()
    signal.signal(signal.SIGINT, before)


def test_it_is_raised_when_looked_for_and_at_the_end_at_the_latest() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), deferred():
        with deferred():
            _ask()
        done.append("a step")
        check()
        done.append("another")
    assert done == ["a step"]
    with pytest.raises(KeyboardInterrupt), deferred():
        _ask()
    with pytest.raises(ZeroDivisionError), deferred():  # an error of the work itself is kept
        _ask()
        1 / 0  # noqa: B018


def test_a_command_only_notes_it_but_where_it_waits() -> None:
    with caught():
        _ask()
        assert was_asked()
        with pytest.raises(KeyboardInterrupt), waiting():
            raise AssertionError("it should not have waited")
    with caught():
        with pytest.raises(KeyboardInterrupt), waiting():
            _ask()
            raise AssertionError("it should not have gone on")
        _ask(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            check()
    assert not was_asked()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def work(delay_seconds: float) -> None:
    with ProgressBar(delay_seconds) as progress:
        progress("reading", 0, 0)
        for done in range(1001):
            progress("first", done, 1000)
        progress("none", 0, 3)
        for done in (0, 2, 3):
            progress("second", done, 3)


def test_a_log_gets_whole_lines_every_ten_percent(monkeypatch):
    monkeypatch.setattr("sys.stderr", log := io.StringIO())
    work(0)
    told = log.getvalue()
    assert not re.search(r"[\r\x1b]", told) and told.endswith("\n")
    assert told.splitlines() == [
        "reading", *(f"first: {percent} %" for percent in range(10, 101, 10)),
        "second: 60 %", "second: 100 %",
    ]  # fmt: skip


def test_a_log_tells_how_long_is_to_go_where_that_is_long(monkeypatch):
    monkeypatch.setattr("sys.stderr", log := io.StringIO())
    now = iter([0.0, 60.0, 120.0, 180.0, 200.0])
    monkeypatch.setattr("tdv_lucene.progress.time.monotonic", lambda: next(now))
    with ProgressBar(0) as progress:
        for done in (1, 2, 3, 10):
            progress("first", done, 10)
    assert log.getvalue().splitlines() == [
        "first: 10 %, 9:00 to go", "first: 20 %, 8:00 to go", "first: 30 %, 7:00 to go",
        "first: 100 %",
    ]  # fmt: skip


def test_a_terminal_gets_a_bar_unless_the_work_is_short(monkeypatch):
    monkeypatch.setattr("sys.stderr", log := io.StringIO())
    work(60)
    assert log.getvalue() == ""
    monkeypatch.setattr("sys.stderr", screen := Terminal())
    work(0)
    assert "\r" in screen.getvalue() and "first" in screen.getvalue()
