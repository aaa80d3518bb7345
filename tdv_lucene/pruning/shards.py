"""An index in shards, pruned: each shard by a worker, with what is of the whole.

The plan, and with it thresholds, scale and average lengths, is that of the whole. ``OUT/NAME`` is
written for each shard ``NAME``, in one rename when it is whole. So a pruning that was interrupted
goes on where it stopped: what is there and was made of the same is kept.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import TdvError
from ..index.index import Index
from ..index.record import ShardRecord
from ..index.sharded import ShardedIndex, open_index
from ..output import Output, finished, remove_abandoned
from ..plan import Plan
from ..progress import Progress
from ..source import Part, Source
from .config import PruneConfig
from .writing import Task, count_tokens, finished_part, refuse_emptied, write_index

BESIDE = ".tdv-lucene-tiers-"
"""How the name of a folder begins in which an index of candidates is written."""


def check_shards(source: Source, out: Path, given: Sequence[Any], config: PruneConfig) -> None:
    """See whether shards can be pruned into ``out``, before any work.

    Raises :class:`TdvError` when it cannot be made, or holds what is none of these shards; for
    ``max_bytes``, which is for one folder.
    """
    if config.max_bytes is not None:
        raise TdvError(
            "max_bytes is for one folder, and the shards are several: prune them by "
            "reduction or max_loss"
        )
    names = [part.name for part in source.parts]
    for name in names:
        if names.count(name) > 1:
            raise TdvError(
                f"two shards are named '{name}', and each is pruned to a folder of its name: "
                "rename one of them"
            )
    if not source.resources:  # else workers look at their places
        _check_place(out, source, given)


def _check_place(out: Path, source: Source, given: Sequence[Any]) -> None:
    """See whether ``out`` may be made, or is there with results of an earlier pruning, or nothing,
    in it: all that is in it will be searched."""
    if not out.is_dir():
        Output(out, None, inputs=[source, *given])
        return
    names = [part.name for part in source.parts]
    hidden = (".tdv-lucene-", *(f".{name[:100]}." for name in names))
    for entry in sorted(out.iterdir()):
        if entry.name not in names and not entry.name.startswith(hidden):
            raise TdvError(
                f"{out} holds '{entry.name}', and that is none of these shards: choose another "
                "output, a folder for these pruned shards alone"
            )


def prune_shards(
    given: Source | ShardedIndex,
    field: str,
    decide: Callable[[ShardedIndex], tuple[Plan, Task]],
    whole: Task,
    progress: Progress,
) -> dict[str, Any]:
    """Do with every shard what :func:`.writing.write_index` does; the report has ``shards``, a row
    of each. ``field`` is the one that is searched.

    ``whole`` is the task of all shards, whose output holds theirs. ``decide`` returns the plan, and
    ``whole`` with what is told of it.

    Raises :class:`TdvError` also when the shards are not one index.
    """
    out = Path(whole.output)
    with (
        _tidied(out, given),
        open_index(
            given, field, analysis=whole.config.analysis, output=out, progress=progress
        ) as index,
    ):
        assert isinstance(index, ShardedIndex)
        source, workers = index.source, index.workers
        plan, whole = decide(index)
        plan, tasks = _of_each(index, plan, whole, progress)
        sent = workers.send(plan, source)
        looks = {part: (sent[part], task, source) for part, task in tasks.items()}
        told = workers.each(_look_at_place, looks, "look at outputs", progress)
        done = {part: report for part, report in zip(tasks, told) if report is not None}
        left = {part: (sent[part], task) for part, task in tasks.items() if part not in done}
        reports = workers.each(
            _prune_shard, left, "prune shards", progress,
            lambda part: finished.append(out / part.name),
        )  # fmt: skip
        network = index.network
    made = {**done, **dict(zip(left, reports))}
    report = _report([made[part] for part in tasks])
    shown = ("postings_before", "postings", "documents_without_terms", "bytes_before", "bytes")
    return {
        **report,
        "chosen": whole.told["chosen"],
        "source_commit": index.commit,
        "source": index.identity,
        "output": str(out),
        "other_fields": [],
        "network": network,
        "shards": [
            {"name": part.name, **{name: made[part][name] for name in shown}, "kept": part in done}
            for part in tasks
        ],
    }


@contextlib.contextmanager
def shards_beside(
    index: ShardedIndex, plan: Plan, task: Task, progress: Progress
) -> Iterator[Source]:
    """Yield the shards written by another plan, each where its own result will be: in a hidden
    folder beside the output of ``task``, which is removed in the end."""
    beside = Path(task.output).parent / f"{BESIDE}{secrets.token_hex(4)}"
    source, workers = index.source, index.workers
    try:
        plan, tasks = _of_each(index, plan, replace(task, output=str(beside)), progress)
        sent = workers.send(plan, source)
        given = {part: (sent[part], of_part) for part, of_part in tasks.items()}
        workers.each(_prune_shard, given, "write candidates", progress)
        parts = [replace(part, folder=str(beside / part.name)) for part in source.parts]
        yield replace(source, parts=tuple(parts))
    finally:
        shutil.rmtree(beside, ignore_errors=True)
        if source.resources:
            workers.everywhere(shutil.rmtree, str(beside), True)


def _of_each(
    index: ShardedIndex, plan: Plan, whole: Task, progress: Progress
) -> tuple[Plan, dict[Part, Task]]:
    """Return the plan with what is of the whole, and the task of each shard."""
    parts = index.source.parts
    config = replace(whole.config, threads=whole.config.threads or index.workers.threads)
    tasks = {
        part: replace(
            whole,
            output=os.path.join(whole.output, part.name),
            config=config,
            told={**whole.told, "chosen": None},
            shard=ShardRecord(part.name, number, len(parts), index.commit, config.optimize),
        )
        for number, part in enumerate(parts, 1)
    }
    return _with_lengths(index, plan, tasks, progress), tasks


def _prune_shard(folder: str, plan: Plan, task: Task) -> dict[str, Any]:
    """In a worker: write a shard. One that a worker finished before it died is not written
    again."""
    with Index.open(folder) as index:
        report = finished_part(index, plan, task)
        if report is None:
            with contextlib.suppress(FileExistsError):
                os.mkdir(os.path.dirname(task.output))
            place = task.place([index])
            with place as unfinished:
                report = write_index(index, plan, task, unfinished)
                place.write_manifest(report)
        return report


def _look_at_place(folder: str, plan: Plan, task: Task, source: Source) -> dict[str, Any] | None:
    """In a worker: return the report of what an earlier pruning has finished from the same; else
    None, where the shard may be written."""
    out = Path(task.output).parent
    _check_place(out, source, ())
    with Index.open(folder) as index:
        report = finished_part(index, plan, task)
    if report is None and out.is_dir():
        task.place([source])
    return report


def _with_lengths(
    index: ShardedIndex, plan: Plan, tasks: Mapping[Part, Task], progress: Progress
) -> Plan:
    """Return the plan with the average lengths of the whole that norms are made for.

    A searcher computes BM25's length norm with the average of the whole. So before any shard is
    written all of them are counted, in a fifth of the time that writing takes.
    """
    baked = [field for field in plan.fields if field.norms is not None]
    if not baked:
        return plan
    sent = index.workers.send(plan, index.source)
    counted = {part: (sent[part], task) for part, task in tasks.items()}
    counts = index.workers.each(_count_shard, counted, "count tokens", progress)
    lengths = {}
    for field in baked:
        of_field = [count[field.field] for count in counts]
        tokens, documents = (sum(one[what] for one in of_field) for what in of_field[0])
        lengths[field.field] = tokens / documents if documents else 1.0
    return Plan([field.for_length(lengths.get(field.field)) for field in plan.fields])


def _count_shard(folder: str, plan: Plan, task: Task) -> dict[str, dict[str, int]]:
    """In a worker."""
    with Index.open(folder) as index:
        return count_tokens(index, plan, task)


@contextlib.contextmanager
def _tidied(out: Path, given: Source | ShardedIndex) -> Iterator[None]:
    """Remove in the end what workers left that died, and ``out`` if nothing was finished in it.
    Where ``out`` is on disks that are not seen here, the next pruning tidies up."""
    try:
        yield
    finally:
        source = Source.of(given)
        if out.is_dir() and not source.resources:
            for part in source.parts:
                remove_abandoned(out / part.name)
            with contextlib.suppress(OSError):
                out.rmdir()


def _report(reports: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the report of the whole: what every shard says, and the sums."""
    first = reports[0]
    fields = {name: _sum([one["fields"][name] for one in reports]) for name in first["fields"]}
    sizes = ("segments", "deleted_left_out", "bytes_before", "bytes")
    sums = {name: sum(one[name] for one in reports) for name in sizes}
    report: dict[str, Any] = {**first, **_sum(reports), "fields": fields, **sums}
    refuse_emptied([report, *fields.values()])
    return report


def _sum(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the report of one field in all shards."""
    counts = ("postings_before", "postings", "tokens", "documents_with_terms",
              "documents_without_terms")  # fmt: skip
    sums = {name: sum(row[name] for row in rows) for name in counts}
    before, norms = sums["postings_before"], None
    if of_norms := [row["norms"] for row in rows if row["norms"] is not None]:
        beyond = sum(one["beyond"] for one in of_norms)
        off = sum(one["beyond"] * one["mean_off"] for one in of_norms)
        largest = max(one["largest_off"] for one in of_norms)
        mean = off / beyond if beyond else 0.0
        norms = {"beyond": beyond, "mean_off": mean, "largest_off": largest}
    return {
        **rows[0],
        "reduction": 1 - sums["postings"] / before if before else 0.0,
        **sums,
        "terms_before": None,
        "terms": None,
        "norms": norms,
    }
