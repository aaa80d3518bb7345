"""A pruned index in shards, verified: each shard by a worker, against its own source."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..arguments import Shards
from ..errors import TdvError, argument
from ..indexes.shards.record import shard_name, user_data_of_whole
from ..indexes.shards.workers import open_workers
from ..indexes.user_data import read_records
from ..jvm.index import read_user_data
from ..progress import Progress
from ..values.term_values import TermValues
from .field_rule import load_fields
from .unjudged import values_again
from .values_for_workers import refuse_without_values, values_for_workers
from .verify import verify_pruned


def verify_shards(
    shards: str | os.PathLike[str],
    pruned: str | os.PathLike[str],
    given: Sequence[str | os.PathLike[str] | TermValues],
    *,
    threads: int | None,
    progress: Progress,
) -> dict[str, Any]:
    """:func:`.verify.verify_pruned` of shards; a difference also says in which ``shard`` it is.

    Raises
    ------
    TdvError
        Also when the pruned shards are not all of those that were pruned together, or one's source
        is not among ``shards``.
    """
    if not (isinstance(shards, Shards) and isinstance(pruned, Shards)):
        raise TdvError(
            f"{argument('index')} and {argument('pruned')} are shards both, or neither: name the "
            "folders of both, as 'SHARDS/*' and 'OUT/*'"
        )
    if shards.resources or pruned.resources:
        refuse_without_values(shards, given)
    parts = _user_data(pruned, progress)
    records = read_records(pruned, user_data_of_whole(pruned, parts))
    sources = _sources(shards, pruned, parts)
    fields = load_fields(given)
    if not given:
        fields = [values_again(shards, record, progress) for record in records]
    shared = os.path.dirname(pruned.folders[0])  # what a cluster's workers see
    beside = Path(tempfile.gettempdir() if shards.scheduler is None else shared)
    with (
        open_workers(shards.scheduler, len(sources)) as workers,
        values_for_workers(workers, shards, fields, given or fields, beside) as values,
    ):
        workers.check(None if shards.resources else beside, shards.resources)
        tasks = {
            name: (source, place, values[name], threads or workers.threads)
            for name, (source, place) in sources.items()
        }
        where = dict(zip(shards.names, shards.resources))
        found = workers.each(_verify_shard, tasks, "verify shards", progress, where=where)
    for name, one in zip(sources, found):
        if not one["equal"]:
            return {**_compared(found), "equal": False,
                    "difference": {"shard": name, **one["difference"]}}  # fmt: skip
    return {"equal": True, **_compared(found)}


def _user_data(pruned: Shards, progress: Progress) -> list[dict[str, str]]:
    """What the shards' commits say, each read where it is seen."""
    if not pruned.resources:
        return [read_user_data(folder) for folder in pruned.folders]
    with open_workers(pruned.scheduler, len(pruned.folders)) as workers:
        workers.check(None, pruned.resources)
        given = {label: (folder,) for label, folder in zip(pruned.labels, pruned.folders)}
        return workers.each(
            read_user_data, given, "look at shards", progress, where=pruned.resources_by_label
        )


def _compared(found: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    return {name: sum(one[name] for one in found) for name in ("documents", "postings")}


def _sources(
    shards: Shards, pruned: Shards, parts: Sequence[Mapping[str, str]]
) -> dict[str, tuple[str, str]]:
    """Name -> the source and the pruned shard, of each that was pruned; ``parts`` say of what."""
    by_name = dict(zip(shards.names, shards.folders))
    at = dict(zip(shards.names, shards.resources)), dict(zip(pruned.labels, pruned.resources))
    found = {}
    for place, label, part in zip(pruned.folders, pruned.labels, parts):
        name = shard_name(part)
        if name not in by_name:
            raise TdvError(f"{label} was made of the shard '{name}', which is not among {shards}")
        if at[0].get(name) != at[1].get(label):
            raise TdvError(
                f"{label} and its source {by_name[name]} have not the same resource: name "
                "that of the disk that both are on"
            )
        found[name] = by_name[name], place
    if len(found) < len(by_name):
        left = next(name for name in by_name if name not in found)
        raise TdvError(f"no pruned shard was made of {by_name[left]}: leave it out")
    return found


def _verify_shard(
    source: str, pruned: str, values: Sequence[str | TermValues], threads: int | None
) -> dict[str, Any]:
    """In a worker."""
    first, *others = values
    return verify_pruned(source, pruned, first, others=others, threads=threads)
