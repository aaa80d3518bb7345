"""Processes that work on shards, by Dask: it starts them, hands out work, and tries again.

``distributed`` comes with the extra ``tdv-lucene[dask]`` and is imported when shards are worked on.
Each worker process has one JVM and does one thing at a time in it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import pickle
import platform
import tempfile
import threading
import time
import warnings
import zlib
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from ..errors import TdvError
from ..jvm import HEAP_VARIABLE, find_java, heap_size, lucene_version, pyserini_jar
from ..progress import Progress
from ..source import Part, Source
from ..version import __version__

WORKERS_SECONDS = 30  # how long workers are waited for
PRESENCE_SECONDS = 5  # how often they are counted


def check_cluster(client: Any, folder: Path | None, resources: Collection[str] = ()) -> None:
    """Refuse workers that lack Java, have other versions, or do not see ``folder`` (None where
    nothing lies in a folder that all must see). Some worker must have each of ``resources``.

    Raises :class:`TdvError` naming the scheduler, the worker, or the resource.
    """
    here, told = describe_process(), dict[str, Any]()
    try:  # what we send goes through its hands
        versions = {**here, "tdv-lucene": client.run_on_scheduler(_version)}
        told["the scheduler"] = {"error": None, "versions": versions, "sees": True}
    except Exception as error:  # whatever the want of a module raises there
        told["the scheduler"] = error
    with tempfile.NamedTemporaryFile(prefix=".tdv-lucene-seen-", dir=folder) as mark:
        found = client.run(_look, None if folder is None else mark.name, on_error="return")
    told |= {f"the worker {worker}": of_worker for worker, of_worker in found.items()}
    for who, of_it in told.items():
        if isinstance(of_it, BaseException):
            raise TdvError(
                f"{who} cannot run tdv-lucene ({of_it!r}): install tdv-lucene {__version__} with "
                "the extra 'dask' in its environment, and start it again"
            ) from of_it
        if of_it["error"]:
            raise TdvError(f"{who}: {of_it['error']}")
        for what, version in here.items():
            if of_it["versions"][what] != version:
                raise TdvError(
                    f"{who} has {what} {of_it['versions'][what]}, here it is {version}: install "
                    "the same everywhere"
                )
        if not of_it["sees"]:
            raise TdvError(
                f"{who} does not see {folder}: paths must mean the same on all "
                "machines; write to a disk that they share (temporary files go to TMPDIR)"
            )
    if resources:
        _refuse_absent(set(resources) - _resources(client))


def _version() -> str:
    return __version__


def describe_process() -> dict[str, str]:
    """Return what must be the same wherever one index is worked on."""
    lucene = ".".join(map(str, lucene_version(pyserini_jar())))
    python = ".".join(platform.python_version_tuple()[:2])
    return {"tdv-lucene": __version__, "Lucene": lucene, "Python": python}


def _look(mark: str | None) -> dict[str, Any]:
    """Report of itself, in a worker."""
    try:
        find_java()
        sees = mark is None or os.path.exists(mark)
        return {"error": None, "versions": describe_process(), "sees": sees}
    except TdvError as error:
        return {"error": error.args[0]}


def _resources(client: Any) -> set[str]:
    """Return those of the workers that are there now."""
    found = client.run(_own_resources, on_error="return")
    return {name for own in found.values() if isinstance(own, list) for name in own}


def _own_resources(dask_worker: Any = None) -> list[str]:
    """Return a worker's; Dask hands it over."""
    return list(dask_worker.state.total_resources)


class Presence:
    """Notices workers that stay away; one that died is back in a moment, where it has a nanny."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._looked = self._complete = time.monotonic()

    def paused(self, seconds: float) -> None:
        """Leave out the seconds in which nobody waited for workers."""
        self._looked += seconds
        self._complete += seconds

    def require(self, resources: Collection[str]) -> None:
        """Refuse resources that no worker had for long; looks now and then."""
        now = time.monotonic()
        if not resources or now - self._looked < PRESENCE_SECONDS:
            return
        self._looked = now
        absent = set(resources) - _resources(self._client)
        if not absent:
            self._complete = now
        elif now - self._complete > WORKERS_SECONDS:
            _refuse_absent(absent)


def _refuse_absent(resources: Collection[str]) -> None:
    for name in sorted(resources):
        raise TdvError(
            f"no worker has the resource '{name}': start one where the folder lies, as 'dask "
            f"worker SCHEDULER --resources {name}=1'"
        )


_TRIES = 3
_ANSWER_SECONDS = 10
_POLL_SECONDS = 0.2
_one_at_a_time = threading.Lock()  # in a worker, where Dask may have several threads
_log = logging.getLogger(__name__)


class Workers:
    """Processes to work on shards with; made by :func:`open_workers`.

    ``threads`` is what each may use unless told otherwise, None for all the cores of its machine;
    ``sent`` and ``received`` are bytes of arguments and of results, packed as they travel: between
    machines compressed.
    """

    def __init__(self, client: Any, threads: int | None, level: int = 1) -> None:
        self._client, self._level = client, level
        self.threads = threads
        self.sent = self.received = 0

    def each(self, *given: Any, **more: Any) -> list[Any]:
        """Return the results of all parts, as :meth:`results` yields them."""
        return list(self.results(*given, **more))

    def results(
        self, function: Callable[..., Any], tasks: Mapping[Part, Sequence[Any]], label: str,
        progress: Progress, finished: Callable[[Part], None] = lambda part: None,
    ) -> Iterator[Any]:  # fmt: skip
        """Call ``function(part.folder, *arguments)`` for every part; yield what each gave, in their
        order, while others are at work.

        Results are held packed until they are asked for. What fails is tried again, and so is what
        a worker was at that died; a user's error is not. The first that fails for good ends the
        rest.

        Workers must be able to import ``function``. It may be called again after it has finished,
        where its worker died before we had the result. ``tasks`` are part -> arguments, those first
        that :meth:`send` returned; they and the result travel. ``finished`` is called with a part
        as soon as its result is there.

        Raises :class:`TdvError` with the first error of a worker, or when workers died over a part
        again and again, or those that see a part stay away.
        """
        futures = {}
        for part, given in tasks.items():
            there = [each for each in given if isinstance(each, _distributed().Future)]
            packed = _pack(given[len(there) :], self._level)
            self.sent += len(packed)
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sending large graph")
                future = self._client.submit(
                    _call, function, part.folder, packed, self._level, *there,
                    retries=_TRIES - 1, pure=False, resources=_needed(part.resource),
                )  # fmt: skip
            futures[future] = part
        results: dict[Part, bytes] = {}
        waiting, left = deque(tasks), set(futures)
        try:
            progress(label, 0, len(futures))
            for done in self._done({future: part.resource for future, part in futures.items()}):
                for future in done:
                    part = futures[future]
                    results[part] = self._result(future, part)
                    self.received += len(results[part])
                    future.release()  # or it is worked out again if its worker dies
                    finished(part)
                left -= done
                progress(label, len(futures) - len(left), len(futures))
                while waiting and waiting[0] in results:
                    yield _unpacked(results.pop(waiting.popleft()))
        except BaseException:
            if left:
                with contextlib.suppress(Exception):
                    self._client.cancel([*left], force=True)
            raise

    def everywhere(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call a function on all workers, as far as they are there."""
        with contextlib.suppress(Exception):
            self._client.run(function, *arguments, on_error="ignore")

    def _done(self, needs: Mapping[Any, str | None]) -> Iterator[set[Any]]:
        """Yield, every moment, the futures that are done since, until all are. ``needs`` has the
        resource of each."""
        waiting, presence = set(needs), Presence(self._client)
        while waiting:
            presence.require({r for future in waiting if (r := needs[future]) is not None})
            done: set[Any] = set()
            with self._client.as_current(), contextlib.suppress(TimeoutError):
                done, waiting = _distributed().wait(
                    waiting, _POLL_SECONDS, return_when="FIRST_COMPLETED"
                )
            handed_over = time.monotonic()
            yield done  # and what is there may be worked with
            presence.paused(time.monotonic() - handed_over)

    def _answered(self, ask: Callable[..., Any], part: Part) -> Any:
        """Return what a finished future has; if its worker died since, it is worked out again."""
        presence, seconds = Presence(self._client), float(_ANSWER_SECONDS)
        while True:
            try:
                return ask(timeout=seconds)
            except TimeoutError:  # or a large result takes longer to travel
                presence.require([] if part.resource is None else [part.resource])
                seconds *= 2

    def _result(self, future: Any, part: Part) -> bytes:
        from distributed.scheduler import KilledWorker

        error = self._answered(future.exception, part)
        if isinstance(error, KilledWorker):
            raise TdvError(
                f"the workers at work on the shard '{part}' died, one after another: their "
                "machines may be short of memory; start fewer workers on each, with more memory"
            ) from error
        if isinstance(error, TdvError):
            raise TdvError(f"shard '{part}': {error.args[0]}") from error
        if error is not None:
            raise error
        is_well, found = self._answered(future.result, part)
        if is_well:
            return bytes(found)
        raise TdvError(found if found.startswith("shard ") else f"shard '{part}': {found}")

    def send(self, value: Any, source: Source) -> dict[Part, Any]:
        """Send a value once, or once for each resource of the source, and return what stands for it
        among the arguments of :meth:`each`, for each part; keep that as long as it is needed."""
        packed, needs = _pack(value, self._level), {part.resource for part in source.parts}
        self.sent += len(packed) * len(needs)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # it is, and once
            sent = {
                resource: self._client.submit(
                    _unpacked, packed, resources=_needed(resource), pure=False
                )
                for resource in needs
            }
        # What needs a value must not come to the scheduler before it.
        for done in self._done({future: resource for resource, future in sent.items()}):
            for future in done:
                if future.exception() is not None:
                    raise future.exception()
        return {part: sent[part.resource] for part in source.parts}


@contextlib.contextmanager
def open_workers(source: Source, folder: Path | None = None) -> Iterator[Workers]:
    """Start processes on this machine, one a core but no more than parts, or go to a cluster.

    Of a cluster all workers must see ``folder``, where no part needs a resource.

    Raises :class:`TdvError` when ``distributed`` is not installed, the scheduler does not answer,
    or has no worker, or one that cannot do it: see :func:`.workers.check_cluster`.
    """
    distributed = _distributed()
    scheduler = source.scheduler
    if scheduler is None:
        cores = os.cpu_count() or 1
        number = max(1, min(len(source.parts), cores))
        with (
            dead_workers_return(),
            tempfile.TemporaryDirectory(prefix="tdv-lucene-dask-") as scratch,
            distributed.LocalCluster(
                n_workers=number, threads_per_worker=1, processes=True,
                dashboard_address=":0",  # a free port: 8787 may be taken
                memory_limit=0,  # Java's memory is none of Dask's
                local_directory=scratch, silence_logs=logging.CRITICAL,
                env={HEAP_VARIABLE: heap_size()},
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):  # fmt: skip
            yield Workers(client, max(1, cores // number), level=0)
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


def dead_workers_return() -> AbstractContextManager[Any]:
    """Make Dask restart a worker however often it dies: a cluster of this machine gives up one that
    it misses twice, a "lost-worker-timeout" apart, and what only that one can do waits for good."""
    from dask import config

    return config.set({"distributed.deploy.lost-worker-timeout": "1000 days"})


def _needed(resource: str | None) -> dict[str, int] | None:
    """Return how Dask is told the resource that a worker must have."""
    return None if resource is None else {resource: 1}


def _pack(value: Any, level: int) -> bytes:
    """Return a value as it travels, compressed at a level of zlib's."""
    pickled: bytes = _distributed().protocol.pickle.dumps(value)  # a notebook's functions, too
    return zlib.compress(pickled, level)


def _unpacked(packed: bytes) -> Any:
    return pickle.loads(zlib.decompress(packed))


def _call(
    function: Callable[..., Any], folder: str, packed: bytes, level: int, *there: Any
) -> tuple[bool, Any]:
    """Work, in a worker. Return whether it went well, and the packed result or the user's error."""
    with _one_at_a_time:
        try:
            return True, _pack(function(folder, *there, *_unpacked(packed)), level)
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
