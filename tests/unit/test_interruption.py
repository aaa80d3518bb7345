"""Ctrl-C: noted when it comes, raised where that is safe, never lost."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from tdv_lucene.interruption import caught, check, deferred, waiting, was_asked


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


def test_what_swallows_all_exceptions_does_not_swallow_it() -> None:
    with pytest.raises(KeyboardInterrupt), deferred():
        for _ in range(3):
            _ask()
            try:
                check()
            except BaseException:
                continue


def test_an_error_of_the_work_itself_is_kept() -> None:
    with pytest.raises(ZeroDivisionError), deferred():
        _ask()
        1 / 0  # noqa: B018


def test_a_thread_has_none_to_defer() -> None:
    said = []

    def work() -> None:
        with deferred():
            said.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert said == [signal.default_int_handler]


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
