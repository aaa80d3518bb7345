"""Processes that work on shards, by Dask: it starts them, hands out work, and tries again.

``distributed`` comes with the extra ``tdv-lucene[dask]`` and is imported when shards are worked on.
Each worker process has one JVM and does one thing at a time in it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ...errors import TdvError
from ...jvm import HEAP_VARIABLE, heap_size
from ...progress import Progress
from ...source import Part, Source
from .cluster import WORKERS_SECONDS, Presence, check_cluster

_TRIES = 3
_ANSWER_SECONDS = 10
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

    def __init__(self, client: Any, threads: int | None) -> None:
        self._client = client
        self.threads = threads

    def each(
        self,
        function: Callable[..., Any],
        tasks: Mapping[Part, Sequence[Any]],
        label: str,
        progress: Progress,
        finished: Callable[[Part], None] = lambda part: None,
    ) -> list[Any]:
        """Call ``function(part.folder, *arguments)`` for every part, and return what each gave.

        What fails is tried again, and so is what a worker was at that died; a user's error is not.
        The first that fails for good ends the rest.

        Parameters
        ----------
        function
            Of a module that the workers can import. It may be called again after it has finished,
            where its worker died before we had the result.
        tasks
            Part -> arguments; they and the result travel.
        finished
            Called with a part as soon as its result is there.

        Raises
        ------
        TdvError
            The first error of a worker, or when workers died over a part again and again, or
            those that see a part stay away.
        """
        futures = {
            self._client.submit(
                _call, function, part.folder, *given, retries=_TRIES - 1, pure=False,
                resources=None if part.resource is None else {part.resource: 1},
            ): part
            for part, given in tasks.items()
        }  # fmt: skip
        results: dict[Part, Any] = {}
        try:
            progress(label, 0, len(futures))
            for done in self._done({future: part.resource for future, part in futures.items()}):
                for future in done:
                    part = futures[future]
                    results[part] = self._result(future, part)
                    future.release()  # or it is worked out again if its worker dies
                    finished(part)
                progress(label, len(results), len(futures))
        except BaseException:
            with contextlib.suppress(Exception):
                self._client.cancel(list(futures), force=True)
            raise
        return [results[part] for part in tasks]

    def _done(self, needs: Mapping[Any, str | None]) -> Iterator[set[Any]]:
        """Every moment those futures that are done since, until all are; by what each needs."""
        waiting, presence = set(needs), Presence(self._client)
        while waiting:
            presence.require({r for future in waiting if (r := needs[future]) is not None})
            done: set[Any] = set()
            with self._client.as_current(), contextlib.suppress(TimeoutError):
                done, waiting = _distributed().wait(
                    waiting, _POLL_SECONDS, return_when="FIRST_COMPLETED"
                )
            yield done

    def _result(self, future: Any, part: Part) -> Any:
        from distributed.scheduler import KilledWorker

        error = future.exception()
        if isinstance(error, KilledWorker):
            raise TdvError(
                f"the workers at work on the shard '{part}' died, one after another: their "
                "machines may be short of memory; start fewer workers on each, with more memory"
            ) from error
        if isinstance(error, TdvError):
            raise TdvError(f"shard '{part}': {error.args[0]}") from error
        if error is not None:
            raise error
        is_well, found = future.result()
        if is_well:
            return found
        raise TdvError(found if found.startswith("shard ") else f"shard '{part}': {found}")

    def send(self, value: Any, source: Source) -> dict[Part, Any]:
        """Send a value once for each resource of the source, and return what stands for it among
        the arguments of :meth:`each`, for each part; keep that as long as it is needed."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # it is, and once
            sent = {
                resource: self._client.submit(_itself, value, resources={resource: 1}, pure=False)
                for resource in source.resources
            }
        # What needs a value must not come to the scheduler before it.
        for done in self._done({future: resource for resource, future in sent.items()}):
            for future in done:
                if future.exception() is not None:
                    raise future.exception()
        return {part: sent[part.resource or ""] for part in source.parts}


@contextlib.contextmanager
def open_workers(source: Source, folder: Path | None = None) -> Iterator[Workers]:
    """Start processes on this machine, one a core but no more than parts, or go to a cluster.

    Of a cluster all workers must see ``folder``, where no part needs a resource.

    Raises :class:`TdvError` when ``distributed`` is not installed, the scheduler does not answer,
    or has no worker, or one that cannot do it: see :func:`.cluster.check_cluster`.
    """
    distributed = _distributed()
    scheduler = source.scheduler
    if scheduler is None:
        cores = os.cpu_count() or 1
        number = max(1, min(len(source.parts), cores))
        with (
            tempfile.TemporaryDirectory(prefix="tdv-lucene-dask-") as scratch,
            distributed.LocalCluster(
                n_workers=number,
                threads_per_worker=1,
                processes=True,
                dashboard_address=":0",  # a free port: 8787 may be taken
                memory_limit=0,  # Java's memory is none of Dask's
                local_directory=scratch,
                silence_logs=logging.CRITICAL,
                env={HEAP_VARIABLE: heap_size()},
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield Workers(client, max(1, cores // number))
        return
    with _connect(distributed, scheduler) as client:
        _log.info("%s: see %s", scheduler, client.dashboard_link)
        try:
            client.wait_for_workers(1, timeout=WORKERS_SECONDS)
        except TimeoutError as error:
            raise TdvError(
                f"the scheduler {scheduler} has no worker: start some, as 'dask worker {scheduler}'"
            ) from error
        check_cluster(client, None if source.resources else folder, source.resources)
        yield Workers(client, None)


def _itself(value: Any) -> Any:
    return value


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
            "shards need Dask, and it is not installed: pip install 'tdv-lucene[dask]'"
        ) from error
    return distributed


def _connect(distributed: Any, scheduler: str) -> Any:
    try:
        with ThreadPoolExecutor(1) as apart:  # a notebook has an event loop of its own
            apart.submit(asyncio.run, _shake_hands(distributed, scheduler)).result()
        return distributed.Client(scheduler, timeout=_ANSWER_SECONDS, set_as_default=False)
    except Exception as error:  # whatever it is that answers there
        raise TdvError(
            f"scheduler {scheduler} does not answer: start 'dask scheduler' there, "
            "and give the address that it prints, such as tcp://HOST:8786"
        ) from error


async def _shake_hands(distributed: Any, scheduler: str) -> None:
    """Fail where no Dask answers: a client that could not connect prints errors of its own, later,
    when it is collected."""
    options = distributed.Security().get_connection_args("client")
    address = distributed.core.coerce_to_address(scheduler)
    meeting = distributed.core.connect(address, _ANSWER_SECONDS, **options)
    comm = await asyncio.wait_for(meeting, _ANSWER_SECONDS)
    await comm.close()
