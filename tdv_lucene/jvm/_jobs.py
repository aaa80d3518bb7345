"""Run a Java ``Job``: progress, Ctrl-C and errors on the Python side."""

from __future__ import annotations

import errno
import json
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import TdvError, argument
from ..interruption import check, deferred
from ..progress import Progress, silent
from ..source import Source
from ._start import HEAP_VARIABLE, heap_size, start

_log = logging.getLogger(__name__)

_STEP_MILLIS = 50
_UNIT = "\x1f"
"""Around the name of a field behind a path: ASCII's unit separator."""
_USER_EXCEPTION = "tdvlucene.common.UserException"


def java_class(name: str) -> Any:
    """The Java class ``name``, starting the JVM when none runs yet."""
    start()
    from jnius import autoclass

    return autoclass(name)


def java_path(path: str | os.PathLike[str]) -> str:
    """``path`` as Java takes it: absolute, for Java stays in the folder it was started in.

    Of shards all their folders; behind them the field that names documents, if one was asked for.
    """
    source = Source.of(path)
    by = "" if source.id_field is None else f"{_UNIT}{source.id_field}{_UNIT}"
    return os.fspath(source) + by


@contextmanager
def translate_errors() -> Iterator[None]:
    """Turn the user's errors of a direct Java call into :class:`TdvError`, and those of a full disk
    into :class:`OSError`; others pass."""
    start()
    from jnius import JavaException

    try:
        yield
    except JavaException as error:
        if error.classname == _USER_EXCEPTION:
            raise TdvError(error.innermessage) from error
        if error.classname == "java.io.IOException" and _disk_errors(str(error)):
            raise _full_disk(str(error)) from error
        raise


def ask(method: Any, *given: Any) -> Any:
    """What a Java method says in JSON, with errors as :func:`translate_errors` has them."""
    with translate_errors():
        return json.loads(method(*given))


@contextmanager
def opened(name: str, *given: Any) -> Iterator[Any]:
    """Make an object of the Java class ``name``, and close it in the end."""
    with translate_errors():
        java = java_class(name)(*given)
    try:
        yield java
    finally:
        java.close()


def run_job(job: Any, progress: Progress = silent) -> str:
    """Start ``job`` (a ``tdvlucene.common.Job``), wait for it, and return its result text.

    Ctrl-C cancels the job and waits until it has cleaned up before it is raised.

    Raises
    ------
    TdvError
        The user's errors, in the job's words.
    OSError
        When a disk is full.
    RuntimeError
        A defect, with the Java stack.
    """
    name, began = type(job).__name__.rpartition("/")[2], time.monotonic()
    job.start()
    try:
        finished = False
        while not finished:
            # 'await' is a Python keyword, hence getattr.
            finished = getattr(job, "await")(_STEP_MILLIS)
            if job.label():
                progress(job.label(), job.done(), job.total())
            check()
    except BaseException:
        with deferred():
            job.cancel()
            while not getattr(job, "await")(_STEP_MILLIS):
                pass
        raise
    kind = job.failureKind()
    if kind == "user":
        raise TdvError(job.failure())
    if kind == "disk":
        raise _full_disk(job.failure())
    if kind and "OutOfMemoryError" in job.failure():
        raise TdvError(
            f"Java ran out of memory with a heap of {heap_size()}: give it more, as "
            f"{argument('heap', '8g')} or {HEAP_VARIABLE}=8g"
        )
    if kind:
        raise RuntimeError(f"the Java side failed:\n{job.failure()}")
    _log.info("%s took %.2f s", name, time.monotonic() - began)
    return job.result()


def _full_disk(message: str) -> OSError:
    """What Python raises where Java says this; who knows the place tells it."""
    numbers = _disk_errors(message)
    return OSError(numbers[0], os.strerror(numbers[0])) if numbers else OSError(message)


def _disk_errors(message: str) -> list[int]:
    """Numbers of the system's errors of a full disk that Java tells of."""
    known = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return [number for number in known if os.strerror(number) in message]
