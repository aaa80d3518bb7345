"""What a cluster must have before it is given work: the same installation everywhere, Java, disks.

And whether the workers are there whom nobody can replace.
"""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

from ...errors import TdvError
from ...jvm import find_java, lucene_version, pyserini_jar
from ...version import __version__

WORKERS_SECONDS = 30
"""How long workers are waited for."""

PRESENCE_SECONDS = 5
"""How often they are counted."""


def check_cluster(client: Any, folder: Path | None, resources: Collection[str] = ()) -> None:
    """Refuse workers that lack Java, have other versions, or do not see ``folder``.

    ``folder`` is None where nothing lies in a folder that all must see. Of ``resources``, some
    worker must have each.

    Raises
    ------
    TdvError
        Naming the worker, or the resource.
    """
    _check_scheduler(client)
    here = describe_process()
    with tempfile.NamedTemporaryFile(prefix=".tdv-lucene-seen-", dir=folder) as mark:
        found = client.run(_look, None if folder is None else mark.name, on_error="return")
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
    if resources:
        _refuse_absent(set(resources) - _resources(client))


def _check_scheduler(client: Any) -> None:
    """What we send goes through its hands."""
    try:
        version = client.run_on_scheduler(_version)
    except Exception as error:  # whatever the want of a module raises there
        raise TdvError(
            f"the scheduler cannot run tdv-lucene ({error!r}): install tdv-lucene {__version__} "
            "with the extra 'dask' in its environment, and start it again"
        ) from error
    if version != __version__:
        raise TdvError(
            f"the scheduler has tdv-lucene {version}, here it is {__version__}: install the "
            "same everywhere"
        )


def _resources(client: Any) -> set[str]:
    """Of the workers that are there now."""
    found = client.run(_own_resources, on_error="return")
    return {name for own in found.values() if isinstance(own, list) for name in own}


class Presence:
    """Notices workers that stay away; one that died is back in a moment, where it has a nanny."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._looked = self._complete = time.monotonic()

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


def describe_process() -> dict[str, str]:
    """What must be the same wherever one index is worked on."""
    lucene = ".".join(map(str, lucene_version(pyserini_jar())))
    python = ".".join(platform.python_version_tuple()[:2])
    return {"tdv-lucene": __version__, "Lucene": lucene, "Python": python}


def _version() -> str:
    return __version__


def _own_resources(dask_worker: Any = None) -> list[str]:
    """A worker's; Dask hands it over."""
    return list(dask_worker.state.total_resources)


def _look(mark: str | None) -> dict[str, Any]:
    """A worker's own account."""
    try:
        find_java()
        sees = mark is None or os.path.exists(mark)
        return {"error": None, "versions": describe_process(), "sees": sees}
    except TdvError as error:
        return {"error": error.args[0]}
