"""Processes that work on shards, by Dask: it starts them, hands out work, and tries again.

``distributed`` comes with the extra ``tdv-lucene[dask]`` and is imported when shards are worked on.
Each worker process has one JVM and does one thing at a time in it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ... import __version__
from ...errors import TdvError, argument
from ...jvm import HEAP_VARIABLE, find_java, heap_size, lucene_version, pyserini_jar
from ...progress import Progress

_TRIES = 3
_ANSWER_SECONDS = 10
_WORKERS_SECONDS = 30
_POLL_SECONDS = 0.2
_one_at_a_time = threading.Lock()  # in a worker, where Dask may have several threads
_log = logging.getLogger(__name__)


class Workers:
    """Processes to work on shards with; made by :func:`open_workers`.

    Attributes
    ----------
    threads
        What each may use unless told otherwise; None for all the cores of its machine.
    """

    def __init__(self, client: Any, threads: int | None, is_local: bool) -> None:
        self._client = client
        self.threads = threads
        self._is_local = is_local

    def each(
        self,
        function: Callable[..., Any],
        shards: Mapping[str, Sequence[Any]],
        label: str,
        progress: Progress,
        finished: Callable[[str, Any], None] = lambda name, result: None,
    ) -> list[Any]:
        """Call ``function(*arguments)`` for every shard's arguments, and return what each gave.

        What fails is tried again, and so is what a worker was at that died; a user's error is not.
        The first that fails for good ends the rest.

        Parameters
        ----------
        function
            Of a module that the workers can import. It may be called again after it has finished,
            where its worker died before we had the result.
        shards
            Name -> arguments; they and the result travel.
        finished
            Called with a shard's name and result as soon as it is there.

        Raises
        ------
        TdvError
            The first error of a worker, or when workers died over a shard again and again.
        """
        distributed = _distributed()
        futures = {
            self._client.submit(_call, function, *given, retries=_TRIES - 1, pure=False): name
            for name, given in shards.items()
        }
        results: dict[str, Any] = {}
        waiting = set(futures)
        try:
            while waiting:
                progress(label, len(results), len(futures))
                done: set[Any] = set()
                with self._client.as_current(), contextlib.suppress(TimeoutError):
                    done, waiting = distributed.wait(
                        waiting, timeout=_POLL_SECONDS, return_when="FIRST_COMPLETED"
                    )
                for future in done:
                    name = futures[future]
                    results[name] = self._result(future, name)
                    future.release()  # or it is worked out again if its worker dies
                    finished(name, results[name])
            progress(label, len(results), len(futures))
        except BaseException:
            with contextlib.suppress(Exception):
                self._client.cancel(list(futures), force=True)
            raise
        return [results[name] for name in shards]

    def _result(self, future: Any, name: str) -> Any:
        from distributed.scheduler import KilledWorker

        error = future.exception()
        if isinstance(error, KilledWorker):
            raise TdvError(
                f"the workers at work on the shard '{name}' died, one after another: their "
                "machines may be short of memory; start fewer on each, with more for each"
            ) from error
        if isinstance(error, TdvError):
            raise TdvError(f"shard '{name}': {error.args[0]}") from error
        if error is not None:
            raise error
        is_well, found = future.result()
        if is_well:
            return found
        raise TdvError(found if found.startswith("shard ") else f"shard '{name}': {found}")

    def check(self, folder: Path | None) -> None:
        """Refuse workers that lack Java, have other versions, or do not see ``folder``.

        None where nothing lies in a folder that all must see.

        Raises
        ------
        TdvError
            Naming the worker.
        """
        if self._is_local:
            return  # they are this very installation
        here = describe_process()
        with contextlib.ExitStack() as marked:
            mark = None
            if folder is not None:
                made = tempfile.NamedTemporaryFile(prefix=".tdv-lucene-seen-", dir=folder)
                mark = marked.enter_context(made).name
            found = self._client.run(_look, mark, on_error="return")
        for worker, told in found.items():
            if isinstance(told, BaseException):
                raise TdvError(
                    f"the worker {worker} cannot run tdv-lucene ({told!r}): install tdv-lucene "
                    f"{__version__} with the extra 'dask' in its environment"
                ) from told
            if told["error"]:
                raise TdvError(f"the worker {worker}: {told['error']}")
            for what, version in here.items():
                if told["versions"][what] != version:
                    raise TdvError(
                        f"the worker {worker} has {what} {told['versions'][what]}, here it is "
                        f"{version}: install the same everywhere"
                    )
            if not told["sees"]:
                raise TdvError(
                    f"the worker {worker} does not see {folder}: paths must mean the same on all "
                    "machines; write to a disk that they share (temporary files go to TMPDIR)"
                )


@contextlib.contextmanager
def open_workers(scheduler: str | None, tasks: int) -> Iterator[Workers]:
    """Start processes on this machine, one a core but no more than ``tasks``, or go to a cluster.

    Raises
    ------
    TdvError
        When ``distributed`` is not installed, the scheduler does not answer, or has no worker.
    """
    distributed = _distributed()
    with contextlib.ExitStack() as opened:
        if scheduler is None:
            cores = os.cpu_count() or 1
            number = max(1, min(tasks, cores))
            scratch = opened.enter_context(tempfile.TemporaryDirectory(prefix="tdv-lucene-dask-"))
            cluster = distributed.LocalCluster(
                n_workers=number,
                threads_per_worker=1,
                processes=True,
                dashboard_address=":0",  # a free port: 8787 may be taken
                memory_limit=0,  # Java's memory is none of Dask's
                local_directory=scratch,
                silence_logs=logging.CRITICAL,
                env={HEAP_VARIABLE: heap_size()},
            )
            client = distributed.Client(opened.enter_context(cluster), set_as_default=False)
            opened.enter_context(client)
            yield Workers(client, max(1, cores // number), is_local=True)
            return
        client = _connect(distributed, scheduler)
        opened.enter_context(client)
        _log.info("%s: see %s", scheduler, client.dashboard_link)
        try:
            client.wait_for_workers(1, timeout=_WORKERS_SECONDS)
        except TimeoutError as error:
            raise TdvError(
                f"the scheduler {scheduler} has no worker: start some, as 'dask worker {scheduler}'"
            ) from error
        yield Workers(client, None, is_local=False)


def describe_process() -> dict[str, str]:
    """What must be the same wherever one index is worked on."""
    lucene = ".".join(map(str, lucene_version(pyserini_jar())))
    python = ".".join(platform.python_version_tuple()[:2])
    return {"tdv-lucene": __version__, "Lucene": lucene, "Python": python}


def _look(mark: str | None) -> dict[str, Any]:
    """A worker's own account."""
    try:
        find_java()
        sees = mark is None or os.path.exists(mark)
        return {"error": None, "versions": describe_process(), "sees": sees}
    except TdvError as error:
        return {"error": error.args[0]}


def _call(function: Callable[..., Any], *arguments: Any) -> tuple[bool, Any]:
    """In a worker: whether it went well, and the result or the user's error in words."""
    with _one_at_a_time:
        try:
            return True, function(*arguments)
        except TdvError as error:
            if isinstance(error.__cause__, OSError):
                raise  # a disk or a network may be well again
            return False, error.args[0]


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise TdvError(
            "shards are worked on by Dask, which is not installed: pip install 'tdv-lucene[dask]'"
        ) from error
    return distributed


def _connect(distributed: Any, scheduler: str) -> Any:
    try:
        return distributed.Client(scheduler, timeout=_ANSWER_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise TdvError(
            f"{argument('scheduler', scheduler)} does not answer: start 'dask scheduler' there, "
            "and give the address that it prints, such as tcp://HOST:8786"
        ) from error
