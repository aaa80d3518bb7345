"""A pruned index that follows its source, which changes."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..arguments import cores
from ..errors import TdvError, free_space
from ..index.analysis import RECORD as ANALYSIS
from ..index.index import Index
from ..index.record import (
    PREFIX,
    SEGMENTS,
    SOURCE_PATH,
    SOURCE_VERSION,
    UPDATES,
    FieldRecord,
    read_records,
)
from ..index.workers import open_workers
from ..interruption import deferred, waiting
from ..jvm.rewriter import FieldState, HeldIndex, field_state, follow
from ..plan import FieldPlan, Plan
from ..progress import Progress, silent
from ..source import ID_FIELD, Source
from ..store import write_manifest
from .config import UpdateConfig
from .drift import Drift
from .writing import KIND, MANIFEST

_log = logging.getLogger(__name__)

POLLED_SECONDS = 1.0
"""How often :func:`watch_index` looks for a new commit."""


def update_index(
    pruned: str | os.PathLike[str],
    config: UpdateConfig | None = None,
    *,
    index: str | os.PathLike[str] | None = None,
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Make a pruned index what pruning its source's last commit by the same plan gives.

    Segments that ``pruned`` has already stay as they are. New ones are pruned and added, those
    that the source has no more are dropped, and deletions are carried over. The result is one new
    commit of ``pruned``: whoever has it open goes on, and sees the new state after a refresh. Until
    then, and if anything fails, it is as it was.

    The plan stays: TDVs, thresholds, parameters, and the average length that norms are made for.
    Terms that learning has not seen are kept whole (see :func:`..plan.kinds_of`). What another
    writer added to ``pruned``, merged or deleted there is undone, with a warning: its documents
    come from the source alone.

    Parameters
    ----------
    pruned
        What :func:`.prune.prune_index` wrote: a folder, or shards. With a scheduler each shard is
        followed by a worker, and is locked only while one looks at it and while one writes it.
    index
        Where the source is now, if it was moved. A writer may have it open.
    config, options
        A :class:`.config.UpdateConfig`, or its options by name, as ``max_drift=0.1``.

    Returns
    -------
    dict
        ``updated``: whether there was anything new and it was written; ``exceeded``, whether
        ``max_drift`` forbade it; ``drift``, how far the source is from what was learned on, with
        ``is_due``, whether to learn again; how many ``segments`` there are, were
        ``segments_added`` and ``segments_dropped``, and, of the latter, ``segments_foreign``, which
        another writer had written or changed; the ``deletions`` carried over to segments that
        stayed (those that are pruned again leave deleted documents out, uncounted); the
        ``postings_before`` and ``postings`` of the segments added; ``reduction``, the share of all
        postings that is dropped now, beside the ``requested_reduction``; and ``bytes``.

    Raises :class:`TdvError` when the source or the plan is gone or another, the source has no
    documents, or went back to an older commit: nothing is written then.
    """
    config = UpdateConfig.of(config, options)
    shards = Source.of(pruned)
    moved = _moved(shards, index)
    if shards.scheduler is not None:
        return _update_shards(shards, moved, config, progress)
    with _hold(pruned) as held:
        return _update(held, moved, config, progress)


def watch_index(
    pruned: str | os.PathLike[str],
    config: UpdateConfig | None = None,
    *,
    index: str | os.PathLike[str] | None = None,
    on_update: Callable[[dict[str, Any]], None] = lambda report: None,
    progress: Progress = silent,
    **options: Any,
) -> None:
    """:func:`update_index` after each commit of the source, until Ctrl-C or SIGTERM.

    ``on_update`` is given the report of each. A commit that cannot be followed, or exceeds
    ``max_drift``, changes nothing, and the next one is waited for: for the former the report has
    ``updated``, ``exceeded`` and why it was ``refused``. The lock of ``pruned`` is held all the
    time, so that no second one meets this one.

    Raises :class:`TdvError` at the beginning, when ``pruned`` has no plan to follow, its source is
    gone, or another holds the lock.
    """
    config = UpdateConfig.of(config, options)
    moved = _moved(Source.of(pruned), index)
    if Source.of(pruned).scheduler is not None:
        raise TdvError(
            f"{pruned} is watched where its folders are seen, without scheduler: leave it out, or "
            "update again and again"
        )
    with _hold(pruned) as held, suppress(KeyboardInterrupt):
        seen: object = None
        sources = [_Recorded.read(folder, moved).source for folder in held]
        while True:
            commits = [_last_commit(source) for source in sources]
            if commits != seen:
                try:
                    report = _update(held, moved, config, progress)
                except TdvError as error:
                    report = {"updated": False, "exceeded": False, "refused": str(error)}
                on_update(report)
                seen = commits
            with waiting():
                time.sleep(POLLED_SECONDS)


def _last_commit(source: str) -> tuple[str, ...]:
    """Return what changes in a folder with each commit; empty where it is gone."""
    with suppress(OSError):
        return tuple(sorted(name for name in os.listdir(source) if name.startswith("segments_")))
    return ()


@contextmanager
def _hold(pruned: str | os.PathLike[str]) -> Iterator[list[HeldIndex]]:
    """Return the folder, or those of all shards, locked."""
    with ExitStack() as opened:
        folders = Source.of(pruned).folders_here
        yield [opened.enter_context(HeldIndex(folder)) for folder in folders]


def _moved(pruned: Source, index: str | os.PathLike[str] | None) -> dict[str, str]:
    """Return where sources are now, by the names of their folders; by "" the only one."""
    if index is None:
        return {}
    folders = [os.path.abspath(part.folder) for part in Source.of(index).parts]
    if len(pruned.parts) == len(folders) == 1:
        return {"": folders[0]}
    return {os.path.basename(folder): folder for folder in folders}


@dataclass(frozen=True, eq=False)
class _Recorded:
    """A locked folder that was pruned, and what it says of itself."""

    held: HeldIndex
    user_data: dict[str, str]
    records: list[FieldRecord]
    plan: Plan
    foreign: str  # what another writer did to it; empty for nothing
    source: str  # where its source is

    @classmethod
    def read(cls, held: HeldIndex, moved: Mapping[str, str]) -> _Recorded:
        """Read what a folder records; refuse what cannot be followed."""
        with Index.open(held.index, mixed=True) as pruned:
            said, records, plan = (
                pruned.user_data, read_records(pruned, pruned.user_data), pruned.plan,
            )  # fmt: skip
            foreign = "; ".join(f"{since}" for since in pruned.since)
        if missing := sorted({SOURCE_VERSION, SEGMENTS} - said.keys()):
            raise TdvError(
                f"{held.index} does not record {', '.join(missing)}, by which it would be updated: "
                "prune the source again"
            )
        assert plan is not None  # or there were no records
        path = said[SOURCE_PATH]
        source = moved.get("") or moved.get(os.path.basename(path), path)
        if not os.path.isdir(source):
            raise TdvError(
                f"the source of {held.index} is gone: there is no {source}; if it was moved, pass "
                "index"
            )
        return cls(held, said, records, plan, foreign, source)

    @contextmanager
    def with_source(self, progress: Progress) -> Iterator[_Followed]:
        """Open its source."""
        with Index.open(self.source, self.user_data.get(ID_FIELD)) as opened:
            states = [field_state(opened, plan, progress) for plan in self.plan.fields]
            yield _Followed(self, opened, states)


class _Followed(NamedTuple):
    """A pruned folder, and the commit of its source to follow."""

    recorded: _Recorded
    source: Index
    states: list[FieldState]


def _update(
    held: Sequence[HeldIndex],
    moved: Mapping[str, str],
    config: UpdateConfig,
    progress: Progress,
) -> dict[str, Any]:
    with ExitStack() as opened:
        recorded = [_Recorded.read(one, moved) for one in held]
        parts = [opened.enter_context(one.with_source(progress)) for one in recorded]
        states, source = [part.states for part in parts], parts[0].source
        report = _drift_of(
            recorded[0].plan.fields, states, source.commit, f"{source}", config.max_drift
        )
        if not report["exceeded"]:
            made = [_write_part(part, cores(config.threads), progress) for part in parts]
            report |= _sums(made)
        return report


def _update_shards(
    pruned: Source, moved: Mapping[str, str], config: UpdateConfig, progress: Progress
) -> dict[str, Any]:
    """Update shards by workers, in two rounds. If a source changes between these, those that were
    written stay, and the next update writes the others."""
    with open_workers(pruned) as workers:
        looked = {part: (moved, part == pruned.parts[0]) for part in pruned.parts}
        looks = workers.each(_look, looked, "look at shards", progress)
        commits, states, fields = zip(*looks)
        report = _drift_of(fields[0], states, commits[0], f"{pruned}", config.max_drift)
        if not report["exceeded"]:
            threads = config.threads or workers.threads
            tasks = {part: (moved, commit, threads) for part, commit in zip(pruned.parts, commits)}
            report |= _sums(workers.each(_write_shard, tasks, "update shards", progress))
        return report


def _look(
    folder: str, moved: Mapping[str, str], is_first: bool
) -> tuple[str, list[FieldState], Sequence[FieldPlan]]:
    """In a worker: return the commit of a shard's source, the state of its fields, and of the first
    shard their plans."""
    with HeldIndex(folder) as held:
        recorded = _Recorded.read(held, moved)
        with recorded.with_source(silent) as part:
            fields = recorded.plan.fields if is_first else ()
            return part.source.commit, part.states, fields


def _write_shard(
    folder: str, moved: Mapping[str, str], commit: str, threads: int | None
) -> dict[str, Any]:
    """In a worker: write a shard, unless one that died has done so."""
    with HeldIndex(folder) as held, _Recorded.read(held, moved).with_source(silent) as part:
        if part.source.commit != commit:
            raise TdvError(f"{part.source} was changed while it was followed: update again")
        return _write_part(part, cores(threads), silent)


def _drift_of(
    fields: Sequence[FieldPlan],
    states: Sequence[Sequence[FieldState]],
    commit: str,
    index: str,
    max_drift: float | None,
) -> dict[str, Any]:
    """Return the report of what is still to be written.

    ``states`` are, of each folder, those of all fields; ``commit`` is the first folder's.

    Raises :class:`TdvError` where too little is left of what was learned on.
    """
    drifts = [Drift.of(plan, of_field, commit) for plan, of_field in zip(fields, zip(*states))]
    exceeded = max_drift is not None and max(drift.moved for drift in drifts) > max_drift
    if not exceeded:
        for plan, drift in zip(fields, drifts):
            drift.refuse_another_index(index, plan.field)
    told = {**asdict(drifts[0]), "is_due": drifts[0].is_due}
    return {"updated": False, "exceeded": exceeded, "drift": told}


def _write_part(part: _Followed, threads: int, progress: Progress) -> dict[str, Any]:
    """Bring a folder up to date, and return what :func:`_sums` needs to know of it."""
    recorded, first = part.recorded, part.recorded.records[0]
    is_behind = first.source_commit != part.source.commit or recorded.foreign
    with deferred():  # what is committed is described as well
        written = _write(part, threads, progress) if is_behind else None
        with Index.open(recorded.held.index) as made:
            size = made.bytes
        _describe(part, size, written is not None)
    about = {"field": first.field, "requested_reduction": first.requested_reduction}
    return {"written": written, **about, "bytes": size}


def _write(part: _Followed, threads: int, progress: Progress) -> dict[str, Any]:
    recorded = part.recorded
    fields = [
        plan.with_unseen(state.places, state.unseen).for_length(record.average_length)
        for plan, state, record in zip(recorded.plan.fields, part.states, recorded.records)
    ]
    ours = PREFIX, ANALYSIS, ID_FIELD  # all else is the source's
    told = {key: value for key, value in recorded.user_data.items() if key.startswith(ours)}
    for record in recorded.records:
        told[f"{record.prefix}source_commit"] = part.source.commit
    told[UPDATES] = str(int(told.get(UPDATES, 0)) + 1)
    before, told[SOURCE_PATH] = told[SOURCE_PATH], os.path.abspath(part.source)
    if recorded.foreign:
        _log.warning("%s: undone, as its source has it otherwise", recorded.foreign)
    try:
        return follow(
            part.source, recorded.held, fields, threads=threads, user_data=told,
            is_at_home=os.path.realpath(part.source) == os.path.realpath(before),
            progress=progress,
        )  # fmt: skip
    except OSError as error:
        reason = f"{error.strerror or error}; it is as it was{free_space(error)}"
        raise TdvError(f"cannot update {recorded.held.index}: {reason}") from error


def _describe(part: _Followed, size: int, is_new: bool) -> None:
    """Bring the manifest up to date, if it is not; an update that was killed may not have."""
    folder = Path(part.recorded.held.index)
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        listed = manifest.pop("files")
    except (OSError, ValueError, KeyError):
        return  # there was none: a copy of Lucene's files alone
    there = {path.name for path in folder.glob("segments*")}
    # One that was killed after its commit may not have removed the one before.
    if is_new or there != {name for name in listed if name.startswith("segments")}:
        content = {k: v for k, v in manifest.items() if k not in ("kind", "format", "created")}
        content |= {
            "source": part.source.identity, "bytes_before": part.source.bytes, "bytes": size
        }  # fmt: skip
        write_manifest(folder, KIND, content, MANIFEST, listed)


def _sums(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the report of what was written, of all folders together."""
    made = [part["written"] for part in parts if part["written"] is not None]
    if not made:
        return {}
    field = parts[0]["field"]
    names = ("segments", "segments_added", "segments_dropped", "segments_foreign", "deletions",
             "postings_before", "postings")  # fmt: skip
    left = sum(one["postings_in_all"][field] for one in made)
    before = sum(one["postings_before"] + one["postings_before_of_stayed"][field] for one in made)
    return {
        "updated": True,
        **{name: sum(one[name] for one in made) for name in names},
        "reduction": 1 - left / before if before else 0.0,
        "requested_reduction": parts[0]["requested_reduction"],
        "bytes": sum(part["bytes"] for part in parts),
    }
