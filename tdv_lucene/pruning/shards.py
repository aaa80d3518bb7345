"""An index in shards, pruned: each shard by a worker, with what is of the whole.

The values, and with them the thresholds, the scale and the average length, are those of the whole.
``OUT/NAME`` is written for each shard ``NAME``, in one rename when it is whole. So a pruning that
was interrupted goes on where it stopped: what is there and was made of the same is kept.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import TdvError, argument
from ..indexes.shards.record import ShardRecord
from ..indexes.shards.survey import survey_shards
from ..indexes.shards.workers import Workers, open_workers
from ..output import Output, note_finished, remove_abandoned
from ..progress import Progress
from ..source import Part, Source
from ..values.term_values import TermValues
from .config import PruneConfig
from .rewriting import refuse_emptied, refuse_without_norms
from .search_target import baking_of
from .values_for_workers import refuse_without_values, values_for_workers
from .writing import Task, count_part, finished_part, prune_part

_SUMMED = (
    "postings_before", "postings", "tokens", "documents_with_terms", "documents_without_terms",
    "segments", "deleted_left_out", "bytes_before", "bytes",
)  # fmt: skip


def check_shards(
    source: Source, out: Path, given: Sequence[Any], config: PruneConfig
) -> Output | Path:
    """Return the place of the whole, before any work.

    Raises :class:`TdvError` when it cannot be made, or holds what is none of these shards; for
    ``max_bytes``, which is for one folder.
    """
    if config.max_bytes is not None:
        raise TdvError(
            f"{argument('max_bytes')} is for one folder, and the shards are several: prune them by "
            f"{argument('reduction')} or {argument('max_loss')}"
        )
    names = [part.name for part in source.parts]
    for name in names:
        if names.count(name) > 1:
            raise TdvError(
                f"two shards are named '{name}', and each is pruned to a folder of its name: "
                "rename one of them"
            )
    if source.resources:  # workers look at their places
        refuse_without_values(source, given)
        return out
    return _check_place(out, source, given)


def _check_place(out: Path, source: Source, given: Sequence[Any]) -> Output | Path:
    """May ``out`` be made, or is it there with results of an earlier pruning, or nothing, in it?
    For all that is in it will be searched."""
    if not out.is_dir():
        return Output(out, None, inputs=[source, *given])
    names = [part.name for part in source.parts]
    hidden = (".tdv-lucene-", *(f".{name[:100]}." for name in names))
    for entry in sorted(out.iterdir()):
        if entry.name not in names and not entry.name.startswith(hidden):
            raise TdvError(
                f"{out} holds '{entry.name}', and that is none of these shards: choose another "
                f"{argument('output')}, a folder for these pruned shards alone"
            )
    return out


def prune_shards(
    source: Source,
    fields: Sequence[TermValues],
    given: Sequence[Any],
    whole: Task,
    progress: Progress,
) -> dict[str, Any]:
    """Do with every shard what :func:`.writing.prune_part` does; the report has ``shards``, a row
    of each.

    Raises :class:`TdvError` also when the shards are not one index.

    Parameters
    ----------
    given
        The TDVs as they were given: those that are folders already need not be written for workers.
    whole
        What is done with all of them; its output holds theirs.
    """
    out = Path(whole.output)
    with open_workers(source) as workers:
        shared = None if source.resources else out if out.is_dir() else out.parent
        workers.check(shared, source.resources)
        identity = survey_shards(workers, source, fields[0].vocabulary.field, progress)
        try:
            tasks = _tasks(source, whole, identity["commit"], workers.threads)
            done, rows = _prune(workers, source, fields, given, tasks, progress)
        finally:
            if not source.resources:  # their next pruning tidies up
                _tidy(out, source)
    report = _report(rows, done)
    if whole.chosen:
        report["chosen"] = whole.chosen
    return {"output": str(out), **report, "source_commit": identity["commit"], "source": identity}


def _tasks(source: Source, whole: Task, commit: str, threads: int | None) -> dict[Part, Task]:
    config = replace(whole.config, threads=whole.config.threads or threads)
    return {
        part: replace(
            whole, output=os.path.join(whole.output, part.name), config=config, chosen=None,
            shard=ShardRecord(part.name, number, len(source.parts), commit, config.optimize),
        )
        for number, part in enumerate(source.parts, 1)
    }  # fmt: skip


def _prune(
    workers: Workers,
    source: Source,
    fields: Sequence[TermValues],
    given: Sequence[Any],
    tasks: Mapping[Part, Task],
    progress: Progress,
) -> tuple[dict[Part, dict[str, Any]], dict[Part, dict[str, Any]]]:
    """The reports of the shards that were there already, and of all."""
    out = Path(next(iter(tasks.values())).output).parent
    if not source.resources:
        out.mkdir(exist_ok=True)  # for the values
    with values_for_workers(workers, source, fields, given, out) as values:
        tasks = _with_average_lengths(workers, source, fields, values, tasks, progress)
        looks = {part: (values[part], task, source) for part, task in tasks.items()}
        told = workers.each(_look_at_place, looks, "look at outputs", progress)
        done = {part: report for part, report in zip(tasks, told) if report is not None}
        left = {part: (values[part], task) for part, task in tasks.items() if part not in done}
        reports = workers.each(
            prune_part, left, "prune shards", progress, lambda part: note_finished(out / part.name)
        )
    made = {**done, **dict(zip(left, reports))}
    return done, {part: made[part] for part in tasks}


def _look_at_place(
    folder: str, values: Sequence[str | TermValues], task: Task, source: Source
) -> dict[str, Any] | None:
    """In a worker: the report of what an earlier pruning has finished from the same; else None,
    where the shard may be written."""
    out = Path(task.output).parent
    _check_place(out, source, values)
    report = finished_part(task.rewriting(folder, values), Path(task.output))
    if report is None and out.is_dir():
        task.place([source, *values])
    return report


def _with_average_lengths(
    workers: Workers,
    source: Source,
    fields: Sequence[TermValues],
    values: Mapping[Part, Any],
    tasks: Mapping[Part, Task],
    progress: Progress,
) -> dict[Part, Task]:
    """The tasks with what norms are made for: lengths of the whole, counted by all shards.

    A searcher computes BM25's length norm with the average of the whole. So before any shard is
    written all of them are counted, in a fifth of the time that writing takes.
    """
    plan = next(iter(tasks.values())).rewriting(source.parts[0].folder, fields)
    target = plan.target
    if not any(baking_of(one, at.scale, target) for one, at in zip(plan.fields, plan.points)):
        return dict(tasks)
    counted = {part: (values[part], task) for part, task in tasks.items()}
    counts = workers.each(count_part, counted, "count tokens", progress)
    averages = []
    for field in counts[0]:
        of_field = [count[field] for count in counts]
        if any(one["has_norms"] for one in of_field):
            tokens, documents = (sum(c[what] for c in of_field) for what in ("tokens", "documents"))
            averages.append((field, tokens / documents if documents else 1.0))
        else:
            refuse_without_norms(field, source, plan.config)
    made_for = {part: replace(task.shard, average_lengths=tuple(averages))
                for part, task in tasks.items() if task.shard is not None}  # fmt: skip
    return {part: replace(tasks[part], shard=shard) for part, shard in made_for.items()}


def _tidy(out: Path, source: Source) -> None:
    """Remove what workers left that died, and ``out`` if nothing was finished in it."""
    if out.is_dir():
        for part in source.parts:
            remove_abandoned(out / part.name)
        with contextlib.suppress(OSError):
            out.rmdir()


def _report(rows: Mapping[Part, dict[str, Any]], kept: Mapping[Part, Any]) -> dict[str, Any]:
    """Of the whole: what every shard says, the sums, and a row of each shard."""
    first = next(iter(rows.values()))
    own = ("kind", "format", "created", "versions", "files", "terms", "terms_before")
    report = {name: value for name, value in first.items() if name not in own}
    report |= _sums(list(rows.values()))
    for field in report.get("fields", {}):
        of_field = [row["fields"][field] for row in rows.values()]
        report["fields"][field] = {**of_field[0], **_sums(of_field)}
    refuse_emptied(report)
    shown = ("postings_before", "postings", "documents_without_terms", "bytes_before", "bytes")
    report["shards"] = [
        {"name": part.name, **{key: row[key] for key in shown}, "kept": part in kept}
        for part, row in rows.items()
    ]
    return report


def _sums(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    sums = {name: sum(row[name] for row in rows) for name in _SUMMED if name in rows[0]}
    before = sums["postings_before"]
    if "norms" in rows[0]:
        sums["norms"] = _norms([row["norms"] for row in rows])
    return {**sums, "reduction": 1 - sums["postings"] / before if before else 0.0}


def _norms(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Of the whole, what :func:`..jvm.rewriter.rewrite_index` says of each shard's norms."""
    beyond = sum(row["beyond"] for row in rows)
    off = sum(row["beyond"] * row["mean_off"] for row in rows)
    return {
        "beyond": beyond,
        "mean_off": off / beyond if beyond else 0.0,
        "largest_off": max(row["largest_off"] for row in rows),
    }
