"""An index in shards, pruned: each shard by a worker, with what is of the whole.

The values, and with them the thresholds, the scale and the average length, are those of the whole.
``OUT/NAME`` is written for each shard ``NAME``, in one rename when it is whole. So a pruning that
was interrupted goes on where it stopped: what is there and was made of the same is kept.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
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
from ..values.term_values import KEPT_IN, TermValues
from .config import PruneConfig
from .rewriting import refuse_emptied, refuse_without_norms
from .search_target import baking_of
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
    count = len(source.parts)
    with contextlib.ExitStack() as opened:
        folder = out if out.is_dir() else out.parent
        workers = opened.enter_context(open_workers(source, folder))
        identity, searcher = survey_shards(workers, source, fields[0].vocabulary.field, progress)
        if not source.resources:  # else their next pruning tidies up
            opened.callback(_tidy, out, source)
            out.mkdir(exist_ok=True)  # for the values
        values = opened.enter_context(values_for_workers(workers, source, fields, given, out))
        config = replace(whole.config, threads=whole.config.threads or workers.threads)
        shards = {
            part: ShardRecord(
                part.name,
                number,
                count,
                identity["commit"],
                config.optimize,
                searcher.why_not_anserinis,
            )
            for number, part in enumerate(source.parts, 1)
        }
        tasks = {
            part: replace(
                whole, output=str(out / part.name), config=config, chosen=None, shard=shard
            )
            for part, shard in shards.items()
        }
        lengths = _average_lengths(workers, source, fields, values, tasks, progress)
        for part, shard in shards.items():
            tasks[part] = replace(tasks[part], shard=replace(shard, average_lengths=lengths))
        looks = {part: (values[part], task, source) for part, task in tasks.items()}
        told = workers.each(_look_at_place, looks, "look at outputs", progress)
        done = {part: report for part, report in zip(tasks, told) if report is not None}
        left = {part: (values[part], task) for part, task in tasks.items() if part not in done}
        reports = workers.each(
            prune_part, left, "prune shards", progress, lambda part: note_finished(out / part.name)
        )
    made = {**done, **dict(zip(left, reports))}
    report = _report({part: made[part] for part in tasks}, done)
    if whole.chosen:
        report["chosen"] = whole.chosen
    return {"output": str(out), **report, "source_commit": identity["commit"], "source": identity}


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


def _average_lengths(
    workers: Workers,
    source: Source,
    fields: Sequence[TermValues],
    values: Mapping[Part, Any],
    tasks: Mapping[Part, Task],
    progress: Progress,
) -> tuple[tuple[str, float], ...]:
    """What norms are made for: average lengths of the whole by field, counted by all shards.

    A searcher computes BM25's length norm with the average of the whole. So before any shard is
    written all of them are counted, in a fifth of the time that writing takes.
    """
    plan = next(iter(tasks.values())).rewriting(source.parts[0].folder, fields)
    baked = [
        one.vocabulary.field
        for one, at in zip(plan.fields, plan.points)
        if baking_of(one, at.scale, plan.target) is not None
    ]
    if not baked:
        return ()
    counted = {part: (values[part], task) for part, task in tasks.items()}
    counts = workers.each(count_part, counted, "count tokens", progress)
    averages = []
    for field in baked:
        of_field = [count[field] for count in counts]
        if any(one["has_norms"] for one in of_field):
            tokens, documents = (sum(c[what] for c in of_field) for what in ("tokens", "documents"))
            averages.append((field, tokens / documents if documents else 1.0))
        else:
            refuse_without_norms(field, source, plan.config)
    return tuple(averages)


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
    norms = [row["norms"] for row in rows if "norms" in row]
    if norms:
        beyond = sum(one["beyond"] for one in norms)
        off = sum(one["beyond"] * one["mean_off"] for one in norms)
        sums["norms"] = {
            "beyond": beyond,
            "mean_off": off / beyond if beyond else 0.0,
            "largest_off": max(one["largest_off"] for one in norms),
        }
    return {**sums, "reduction": 1 - sums["postings"] / before if before else 0.0}


@contextlib.contextmanager
def values_for_workers(
    workers: Workers,
    source: Source,
    fields: Sequence[TermValues],
    given: Sequence[Any],
    beside: Path,
) -> Iterator[dict[Part, Any]]:
    """The values for each shard, as arguments of what is done with it: folders that exist already
    or, for the while, in the folder ``beside``, which workers see; where they see none of ours, the
    values themselves, which travel to each disk's workers once.
    """
    if source.resources:
        yield workers.send(fields, source)
        return
    with contextlib.ExitStack() as made:
        folders = []
        for values, one in zip(fields, given):
            if isinstance(one, TermValues):
                place = tempfile.TemporaryDirectory(prefix=".tdv-lucene-values-", dir=beside)
                one = Path(made.enter_context(place)) / "values"
                about = {**values.manifest, KEPT_IN: values.folder}
                replace(values, manifest=about).save(one)
            folders.append(os.path.abspath(one))
        yield dict.fromkeys(source.parts, folders)


def refuse_without_values(source: Source, given: Sequence[Any]) -> None:
    """Raise :class:`TdvError` where TDVs would be made of shards that are not seen here."""
    if not given:
        raise TdvError(
            f"{source} lie where only workers see them, and TDVs are made of all postings here: "
            f"pass {argument('values')}, or name folders that are seen here"
        )
