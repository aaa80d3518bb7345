"""What Python makes of a job that failed, without a JVM."""

from __future__ import annotations

import errno

import pytest

from tdv_lucene.errors import TdvError
from tdv_lucene.jvm import run_job


class _Failed:
    """Stands for a Java ``Job`` that has ended."""

    def __init__(self, kind: str, failure: str) -> None:
        self._kind, self._failure = kind, failure

    def start(self) -> None:
        pass

    def label(self) -> str:
        return ""

    def failureKind(self) -> str:  # noqa: N802
        return self._kind

    def failure(self) -> str:
        return self._failure


setattr(_Failed, "await", lambda self, milliseconds: True)


def test_a_heap_that_is_too_small_is_the_users_to_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TDV_LUCENE_HEAP", "5m")
    stack = "java.lang.OutOfMemoryError: Java heap space\n\tat tdvlucene.index.PruneJob.run"
    with pytest.raises(TdvError, match="out of memory with a heap of 5m: .*TDV_LUCENE_HEAP=8g"):
        run_job(_Failed("defect", stack))


def test_a_full_disk_is_an_error_of_the_system() -> None:
    """So that who knows what was written there tells it, as of Python's own."""
    with pytest.raises(OSError, match="No space left on device") as told:
        run_job(_Failed("disk", "java.io.IOException: No space left on device"))
    assert told.value.errno == errno.ENOSPC
