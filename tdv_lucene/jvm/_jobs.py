"""Run Java jobs: progress, Ctrl-C and errors on the Python side."""

from __future__ import annotations

import errno
import json
import logging
import os
import tempfile
import time
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..errors import TdvError
from ..interruption import check, deferred
from ..progress import Progress, silent
from ..source import Source
from ..store import map_array, save_array
from ._start import HEAP_VARIABLE, heap_size, refuse_fork, start

_log = logging.getLogger(__name__)

_STEP_MILLIS = 50
_USER_EXCEPTION = "tdvlucene.common.UserException"


def java_class(name: str) -> Any:
    """Return the Java class ``name``; start the JVM if none runs."""
    refuse_fork()
    start()
    from jnius import autoclass

    return autoclass(name)


def java_path(path: str | os.PathLike[str]) -> str:
    """Return the absolute path: Java stays in the folder it was started in."""
    return os.path.abspath(path)


def java_index(index: str | os.PathLike[str]) -> Any:
    """Return the Java ``Index`` of an open index; of a path or a source, one that opens the last
    commit each time."""
    opened = getattr(index, "java", None)
    if opened is not None:
        return opened
    source = Source.of(index)
    folders = [os.path.abspath(folder) for folder in source.folders_here]
    return call(java_class("tdvlucene.common.Index"), folders, source.id_field)


def call(method: Any, *given: Any) -> Any:
    """Call a Java method or constructor. The user's errors become :class:`TdvError`, a full disk
    :class:`OSError`; others pass."""
    refuse_fork()
    from jnius import JavaException

    try:
        return method(*given)
    except JavaException as error:
        if error.classname == _USER_EXCEPTION:
            raise TdvError(error.innermessage) from error
        if error.classname == "java.io.IOException" and (full := _full_disk(str(error))):
            raise full from error
        raise


def ask(method: Any, *given: Any) -> Any:
    """Read what a Java method returns in JSON, with errors as :func:`call` has them."""
    return json.loads(call(method, *given))


class JavaObject:
    """A Java object, in the attribute ``java``, which a ``with`` block closes."""

    def __init__(self, name: str, *given: Any) -> None:
        self.java = call(java_class(name), *given)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.java.close()


class TemporaryArrays:
    """A temporary folder, in the attribute ``folder``, of arrays that go to Java or come from it.

    What is mapped from it stays readable where the folder is gone already.
    """

    def __enter__(self) -> Self:
        self._home = tempfile.TemporaryDirectory(prefix="tdv-lucene-")
        self.folder = self._home.name
        return self

    def __exit__(self, *_: object) -> None:
        self._home.cleanup()

    def write(self, name: str, array: np.ndarray, dtype: str) -> None:
        """Write ``name.npy``."""
        save_array(Path(self.folder) / f"{name}.npy", np.ascontiguousarray(array, dtype))

    def read(self, name: str, dtype: type | None = None) -> np.ndarray:
        """Map ``name.npy``; with a ``dtype``, return a copy of that type."""
        mapped = map_array(Path(self.folder) / f"{name}.npy")
        return mapped if dtype is None else mapped.astype(dtype)


def run_job(job: Any, progress: Progress = silent) -> str:
    """Start ``job`` (a ``tdvlucene.common.Job``), wait for it, and return its result text.

    Ctrl-C cancels the job and waits until it has cleaned up before it is raised.

    Raises
    ------
    TdvError
        For the user's errors, with the job's message.
    OSError
        When a disk is full.
    RuntimeError
        For a defect, with the Java stack.
    """
    name, began = type(job).__name__.rpartition("/")[2], time.monotonic()
    refuse_fork()
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
        raise _full_disk(job.failure()) or OSError(job.failure())
    if kind and "OutOfMemoryError" in job.failure():
        raise TdvError(
            f"Java ran out of memory with a heap of {heap_size()}: set a larger heap, as "
            f"{HEAP_VARIABLE}=8g or --heap 8g"
        )
    if kind:
        raise RuntimeError(f"the Java side failed:\n{job.failure()}")
    _log.info("%s took %.2f s", name, time.monotonic() - began)
    return job.result()


def _full_disk(message: str) -> OSError | None:
    """Convert Java's "disk full" into the OSError Python would raise; the caller adds the path."""
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        if os.strerror(number) in message:
            return OSError(number, os.strerror(number))
    return None
