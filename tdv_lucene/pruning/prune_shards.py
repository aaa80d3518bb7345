"""An index in shards, pruned: each shard by a worker, with what is of the whole.

The values, and with them the thresholds, the scale and the average length, are those of the whole.
``OUT/NAME`` is written for each shard ``NAME``, in one rename when it is whole. So a run that was
interrupted goes on where it stopped: what is there and was made of the same is kept.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import TdvError, argument
from ..indexes.inspection import index_bytes
from ..indexes.shards.record import Part
from ..indexes.shards.survey import survey_shards
from ..indexes.shards.workers import Workers, open_workers
from ..output import Output, note_finished
from ..progress import Progress
from ..records import Shards
from ..store import check_files
from ..values.term_values import KIND as VALUES
from ..values.term_values import TermValues
from .config import PruneConfig
from .field_rule import load_fields
from .prune import KIND, MANIFEST, chosen_by_loss, plan_rewriting
from .rewriting import Rewriting, refuse_emptied
from .unjudged import values_without_judgements

_SUMMED = (
    "postings_before", "postings", "tokens", "documents_without_terms", "segments",
    "bytes_before", "bytes",
)  # fmt: skip
_MADE_BY = "tdv-lucene prune"


def prune_shards(
    shards: Shards,
    given: Sequence[str | os.PathLike | TermValues],
    output: str | os.PathLike,
    config: PruneConfig,
    *,
    save_values: str | os.PathLike | None,
    overwrite: bool,
    progress: Progress,
) -> dict[str, Any]:
    """:func:`.prune.prune_index` of shards; the report has ``shards``, a row of each.

    Raises
    ------
    TdvError
        Also when the shards are not one index; for ``max_bytes`` and ``tf="similarity"``, which
        are for one folder.
    """
    _refuse(shards, config)
    out = Path(os.path.abspath(output))
    if not out.is_dir():
        Output.folder(out, None, inputs=[shards, *given])  # may it be there?
    kept = save_values and Output.folder(
        save_values, VALUES, inputs=[shards, out], overwrite=overwrite, option="save_values"
    )
    if not given:
        made = values_without_judgements(
            shards, config.field, config.tf, (config.reduction,), progress
        )
        given = [made]
    fields = load_fields(given)
    plan = plan_rewriting(shards, fields, config)
    reduction, chosen = chosen_by_loss(plan)
    with open_workers(shards.scheduler, len(shards.folders)) as workers:
        workers.check(out if out.is_dir() else out.parent)
        whole = survey_shards(workers, shards, fields[0].vocabulary.field, progress)
        parts = [
            Part(name, number, len(shards.folders), whole["commit"], config.optimize)
            for number, name in enumerate(shards.names, 1)
        ]
        plans = {
            part.name: replace(plan, index=folder, part=part)
            for part, folder in zip(parts, shards.folders)
        }
        is_new = not out.is_dir()
        if is_new:
            out.mkdir()
        try:
            done = _finished(plans, out, reduction)
            _check_places(plans, out, done, overwrite, [shards, *given])
            with values_in_folders(fields, given, out) as folders:
                reports = _prune(
                    workers, {n: p for n, p in plans.items() if n not in done}, out, folders,
                    replace(config, reduction=reduction, max_loss=None), overwrite, progress,
                )  # fmt: skip
        except BaseException:
            if is_new:
                with contextlib.suppress(OSError):
                    out.rmdir()  # goes only if nothing was finished in it
            raise
    if kept:
        fields[0].save(kept)
    rows = {name: done.get(name) or reports[name] for name in plans}
    return _report(rows, out, done, chosen, whole)


def _refuse(shards: Shards, config: PruneConfig) -> None:
    if config.max_bytes is not None:
        raise TdvError(
            f"{argument('max_bytes')} is for one folder, and the shards are several: prune them by "
            f"{argument('reduction')} or {argument('max_loss')}"
        )
    if config.tf == "similarity":
        raise TdvError(
            f"{argument('tf', 'similarity')} keeps the values in one folder, and the shards are "
            f"several: prune them with {argument('tf', 'scaled')} or {argument('tf', 'original')}"
        )
    for name in shards.names:
        if shards.names.count(name) > 1:
            raise TdvError(
                f"two shards are named '{name}', and each is pruned to a folder of its name: "
                "rename one of them"
            )


def _finished(
    plans: Mapping[str, Rewriting], out: Path, reduction: float | None
) -> dict[str, dict[str, Any]]:
    """Name -> report of the shards that an earlier run has finished, from the same."""
    from ..jvm.index import read_user_data

    there = {name: plan for name, plan in plans.items() if (out / name / MANIFEST).is_file()}
    found = {}
    points = next(iter(plans.values())).points(reduction) if there else []
    for name, plan in there.items():
        with contextlib.suppress(TdvError, OSError, ValueError):
            report = json.loads((out / name / MANIFEST).read_text(encoding="utf-8"))
            check_files(out / name, report, _MADE_BY, digests_up_to=0)
            expected = plan.user_data(points, reduction)
            if expected.items() <= read_user_data(out / name).items():
                found[name] = report
    return found


def _check_places(
    plans: Mapping[str, Rewriting],
    out: Path,
    done: Mapping[str, Any],
    overwrite: bool,
    inputs: Sequence[Any],
) -> None:
    """Refuse a place that may not be written to before any is."""
    for name in plans:
        if name not in done:
            _place(out / name, inputs, overwrite)


def _place(path: Path, inputs: Sequence[Any], overwrite: bool) -> Output:
    return Output.folder(path, KIND, inputs=inputs, overwrite=overwrite, manifest=MANIFEST)


@contextlib.contextmanager
def values_in_folders(
    fields: Sequence[TermValues], given: Sequence[Any], beside: Path
) -> Iterator[list[str]]:
    """The folders of the values, for workers; of those in memory, made for the while."""
    with contextlib.ExitStack() as made:
        folders = []
        for values, one in zip(fields, given):
            if isinstance(one, TermValues):
                place = tempfile.TemporaryDirectory(prefix=".tdv-lucene-values-", dir=beside)
                one = Path(made.enter_context(place)) / "values"
                values.save(one)
            folders.append(os.path.abspath(one))
        yield folders


def _prune(
    workers: Workers,
    plans: Mapping[str, Rewriting],
    out: Path,
    values: Sequence[str],
    config: PruneConfig,
    overwrite: bool,
    progress: Progress,
) -> dict[str, dict[str, Any]]:
    config = replace(config, threads=config.threads or workers.threads)
    given = {
        name: (plan.index, str(out / name), values, config, plan.part, overwrite)
        for name, plan in plans.items()
    }
    try:
        reports = workers.each(
            _prune_shard, given, "prune shards", progress,
            lambda name, _: note_finished(out / name),
        )  # fmt: skip
    finally:
        for name in plans:  # of workers that died
            _place(out / name, (), overwrite=True).remove_abandoned()
    return dict(zip(plans, reports))


def _prune_shard(
    source: str, output: str, values: Sequence[str], config: PruneConfig, part: Part,
    overwrite: bool,
) -> dict[str, Any]:  # fmt: skip
    """In a worker: one shard, and the report of it."""
    place = _place(Path(output), [source, *values], overwrite)
    plan = plan_rewriting(source, load_fields(values), config, part=part)
    with place as folder:
        report = plan.write(folder, config.reduction)
        report["bytes_before"] = sum(index_bytes(source).values())
        report["bytes"] = sum(index_bytes(folder).values())
        place.write_manifest(report)
    return report


def _report(
    rows: Mapping[str, dict[str, Any]],
    out: Path,
    kept: Mapping[str, Any],
    chosen: dict[str, Any],
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
    if chosen:
        report["chosen"] = {**chosen, "reduction": report["requested_reduction"]}
    shown = ("postings_before", "postings", "documents_without_terms", "bytes_before", "bytes")
    report["shards"] = [
        {"name": name, **{of: row[of] for of in shown}, "kept": name in kept}
        for name, row in rows.items()
    ]
    return {"output": str(out), **report, "source_commit": whole["commit"], "source": whole}


def _sums(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    sums = {name: sum(row[name] for row in rows) for name in _SUMMED if name in rows[0]}
    before = sums["postings_before"]
    return {**sums, "reduction": 1 - sums["postings"] / before if before else 0.0}
