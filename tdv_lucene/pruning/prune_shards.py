"""An index in shards, pruned: each shard by a worker, with what is of the whole.

The values, and with them the thresholds, the scale and the average length, are those of the whole.
``OUT/NAME`` is written for each shard ``NAME``, in one rename when it is whole. So a run that was
interrupted goes on where it stopped: what is there and was made of the same is kept.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..arguments import Shards
from ..errors import TdvError, argument
from ..indexes.shards.record import Part
from ..indexes.shards.survey import survey_shards
from ..indexes.shards.workers import Workers, open_workers
from ..output import Output, note_finished, remove_abandoned
from ..progress import Progress
from ..store import check_files
from ..values.operating_point import OperatingPoint
from ..values.term_values import KIND as VALUES
from ..values.term_values import TermValues
from .config import PruneConfig
from .field_rule import load_fields
from .prune import KIND, MANIFEST, bytes_of_both, chosen_by_loss, plan_rewriting
from .rewriting import Rewriting, refuse_emptied
from .shard_lengths import with_average_lengths
from .unjudged import values_without_judgements
from .values_for_workers import refuse_without_values, values_for_workers

_SUMMED = (
    "postings_before", "postings", "tokens", "documents_with_terms", "documents_without_terms",
    "segments", "deleted_left_out", "bytes_before", "bytes",
)  # fmt: skip
_MADE_BY = "tdv-lucene prune"


def prune_shards(
    shards: Shards,
    given: Sequence[str | os.PathLike[str] | TermValues],
    output: str | os.PathLike[str],
    config: PruneConfig,
    *,
    save_values: str | os.PathLike[str] | None,
    overwrite: bool,
    progress: Progress,
) -> dict[str, Any]:
    """:func:`.prune.prune_index` of shards; the report has ``shards``, a row of each.

    Raises
    ------
    TdvError
        Also when the shards are not one index; for ``max_bytes``, which is for one folder.
    """
    _refuse(shards, config)
    out = Path(os.path.abspath(output))
    if shards.resources:
        refuse_without_values(shards, given)
    else:
        _check(out, shards, given)
    kept = save_values and Output.folder(
        save_values,
        VALUES,
        inputs=[shards, out],
        overwrite=overwrite,
        option="save_values",
        made_by="prune",
    )
    if not given:
        made = values_without_judgements(
            shards, config.field, config.tf, (config.reduction,), progress
        )
        given = [made]
    fields = load_fields(given)
    plan = plan_rewriting(shards, fields, config)
    reduction, chosen = chosen_by_loss(plan)
    plan = replace(plan, config=replace(config, reduction=reduction, max_loss=None))
    with open_workers(shards.scheduler, len(shards.folders)) as workers:
        workers.check(
            None if shards.resources else out if out.is_dir() else out.parent, shards.resources
        )
        whole = survey_shards(workers, shards, fields[0].vocabulary.field, progress)
        plans = _plans(plan, shards, whole)
        try:
            done, rows = _prune(workers, shards, plans, out, given, overwrite, progress)
        finally:
            if not shards.resources:  # their next run tidies up
                _tidy(out, shards.names)
    report = _report(rows, out, done, whole)
    if kept:  # not of what was refused: the report refuses a whole without postings
        fields[0].save(kept)
    return {**report, "chosen": {**chosen, "reduction": reduction}} if chosen else report


def _check(out: Path, shards: Shards, given: Sequence[Any]) -> None:
    """May ``out`` be made, or is it there with results of an earlier run, or nothing, in it? For
    all that is in it will be searched."""
    names = shards.names
    if not out.is_dir():
        Output.folder(out, None, inputs=[shards, *given])
        return
    hidden = (".tdv-lucene-", *(f".{name[:100]}." for name in names))
    for entry in sorted(out.iterdir()):
        if entry.name not in names and not entry.name.startswith(hidden):
            raise TdvError(
                f"{out} holds '{entry.name}', which is none of these shards: choose another "
                f"{argument('output')}, for all that it holds is to be their pruned index"
            )


def _plans(plan: Rewriting, shards: Shards, whole: Mapping[str, Any]) -> dict[str, Rewriting]:
    """Shard's name -> what is done with it."""
    return {
        name: replace(
            plan, index=folder, part=Part(
                name, number, len(shards.folders), whole["commit"], plan.config.optimize
            ),
        )
        for number, (name, folder) in enumerate(zip(shards.names, shards.folders), 1)
    }  # fmt: skip


def _tidy(out: Path, names: Sequence[str]) -> None:
    """Remove what workers left that died, and ``out`` if nothing was finished in it."""
    if out.is_dir():
        for name in names:
            remove_abandoned(out / name)
        with contextlib.suppress(OSError):
            out.rmdir()


def _refuse(shards: Shards, config: PruneConfig) -> None:
    if config.max_bytes is not None:
        raise TdvError(
            f"{argument('max_bytes')} is for one folder, and the shards are several: prune them by "
            f"{argument('reduction')} or {argument('max_loss')}"
        )
    for name in shards.names:
        if shards.names.count(name) > 1:
            raise TdvError(
                f"two shards are named '{name}', and each is pruned to a folder of its name: "
                "rename one of them"
            )


def _found(plan: Rewriting, place: Path, points: Sequence[OperatingPoint]) -> dict[str, Any] | None:
    """The report of the whole index in ``place``; None where it is not what ``plan`` makes."""
    from ..jvm.index import read_user_data

    with contextlib.suppress(TdvError, OSError, ValueError):
        report: dict[str, Any] = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
        check_files(place, report, _MADE_BY, digests_up_to=0)
        expected = plan.user_data(points, plan.config.reduction)
        if expected.items() <= read_user_data(place).items():
            return report
    return None


def _place(path: Path, inputs: Sequence[Any], overwrite: bool) -> Output:
    return Output.folder(path, KIND, inputs=inputs, overwrite=overwrite, manifest=MANIFEST)


def _prune(
    workers: Workers,
    shards: Shards,
    plans: Mapping[str, Rewriting],
    out: Path,
    given: Sequence[Any],
    overwrite: bool,
    progress: Progress,
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Name -> report of the shards that were there already, and of all."""
    first, where = next(iter(plans.values())), dict(zip(shards.names, shards.resources))
    if not shards.resources:
        out.mkdir(exist_ok=True)  # for the values
    config = replace(first.config, threads=first.config.threads or workers.threads)
    with values_for_workers(workers, shards, first.fields, given, out) as values:
        plans = with_average_lengths(workers, shards, plans, values, config, progress)
        tasks = {
            name: (plan.index, str(out / name), values[name], config, plan.part, overwrite)
            for name, plan in plans.items()
        }
        looks = {name: (*task, shards) for name, task in tasks.items()}
        told = workers.each(_look_at_place, looks, "look at outputs", progress, where=where)
        done = {name: report for name, report in zip(tasks, told) if report is not None}
        left = {name: task for name, task in tasks.items() if name not in done}
        reports = workers.each(
            _prune_shard, left, "prune shards", progress,
            lambda name, _: note_finished(out / name),
            where={name: where[name] for name in left if name in where},
        )  # fmt: skip
    made = dict(zip(left, reports))
    return done, {name: done.get(name) or made[name] for name in plans}


def _look_at_place(
    source: str, output: str, values: Sequence[str | TermValues], config: PruneConfig, part: Part,
    overwrite: bool, shards: Shards,
) -> dict[str, Any] | None:  # fmt: skip
    """In a worker: the report of what an earlier run has finished from the same; else None, where
    the shard may be written."""
    place = Path(output)
    _check(place.parent, shards, values)
    if (place / MANIFEST).is_file():
        plan = plan_rewriting(source, load_fields(values), config, part=part)
        report = _found(plan, place, plan.points(config.reduction))
        if report is not None:
            return report
    if place.parent.is_dir():
        _place(place, [shards, *values], overwrite)
    return None


def _prune_shard(
    source: str, output: str, values: Sequence[str | TermValues], config: PruneConfig, part: Part,
    overwrite: bool,
) -> dict[str, Any]:  # fmt: skip
    """In a worker: one shard, and the report of it."""
    plan = plan_rewriting(source, load_fields(values), config, part=part)
    if os.path.exists(output):  # by a worker that died before it could tell
        report = _found(plan, Path(output), plan.points(config.reduction))
        if report is not None:
            return report
    with contextlib.suppress(FileExistsError):
        os.mkdir(os.path.dirname(output))  # on the worker's own disk
    place = _place(Path(output), [source, *values], overwrite)
    with place as folder:
        report = plan.write(folder, config.reduction)
        report |= bytes_of_both(source, folder)
        place.write_manifest(report)
    return report


def _report(
    rows: Mapping[str, dict[str, Any]],
    out: Path,
    kept: Mapping[str, Any],
    whole: dict[str, Any],
) -> dict[str, Any]:
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
        {"name": name, **{key: row[key] for key in shown}, "kept": name in kept}
        for name, row in rows.items()
    ]
    return {"output": str(out), **report, "source_commit": whole["commit"], "source": whole}


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
