"""A pruned index that follows its source, which changes."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from ..arguments import cores
from ..errors import TdvError, free_space
from ..indexes.analysis import RECORD as ANALYSIS
from ..indexes.inspection import bytes_of
from ..indexes.shards.record import PREFIX, SOURCE_PATH, UPDATES, VALUES_FOLDER
from ..indexes.user_data import FieldRecord
from ..indexes.written_since import WrittenSince
from ..interruption import check, deferred
from ..jvm.following import HeldIndex, OpenCommit
from ..jvm.index import require_current
from ..progress import Progress, silent
from ..source import ID_FIELD, Source
from ..store import write_manifest
from ..values.operating_point import OperatingPoint
from ..values.term_values import TermValues
from .config import UpdateConfig
from .drift import Drift
from .field_rule import recorded_baking, rule_of
from .followed import (
    Followed,
    fields_of,
    is_pruned_anew,
    pruned_anew,
    records_of,
    sources_of,
)
from .rewriting import Rewriting
from .writing import KIND, MANIFEST, report_of

_log = logging.getLogger(__name__)

POLLED_SECONDS = 1.0
"""How often :func:`watch_index` looks for a new commit."""


def update_index(
    pruned: str | os.PathLike[str],
    config: UpdateConfig | None = None,
    *,
    index: str | os.PathLike[str] | None = None,
    values: Sequence[str | os.PathLike[str] | TermValues] = (),
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Make a pruned index what pruning its source's last commit with the same TDVs gives.

    Segments that ``pruned`` has already stay as they are. New ones are pruned and added, those
    that the source has no more are dropped, and deletions are carried over. The result is one new
    commit of ``pruned``: whoever has it open goes on, and sees the new state after a refresh. Until
    then, and if anything fails, it is as it was.

    Thresholds, parameters and the average length that norms are made for stay those of the pruning.
    Terms that learning has not seen are kept whole (see :mod:`..values.unseen_terms`). An index
    that was pruned without judgements, and whose TDVs were not kept (``save_values``), is pruned
    again as a whole instead, with the prior's TDVs of today.

    What another writer added to ``pruned``, merged or deleted there is undone, with a warning: its
    documents come from the source alone.

    Parameters
    ----------
    pruned
        What :func:`.prune.prune_index` wrote: a folder, or shards.
    index
        Where the source is now, if it was moved. A writer may have it open.
    values
        Where the TDVs are now, if they were moved: those of every field that was pruned.
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

    Raises
    ------
    TdvError
        When the source or the TDVs are gone or others, the source has no documents, or went back to
        an older commit: nothing is written then.
    """
    config = UpdateConfig.of(config, options)
    with _hold(pruned) as held:
        return _update(held, index, values, config, progress)


def watch_index(
    pruned: str | os.PathLike[str],
    config: UpdateConfig | None = None,
    *,
    index: str | os.PathLike[str] | None = None,
    values: Sequence[str | os.PathLike[str] | TermValues] = (),
    on_update: Callable[[dict[str, Any]], None] = lambda report: None,
    progress: Progress = silent,
    **options: Any,
) -> None:
    """:func:`update_index` after each commit of the source, until Ctrl-C or SIGTERM.

    ``on_update`` is given the report of each. A commit that cannot be followed, or exceeds
    ``max_drift``, changes nothing, and the next one is waited for: for the former the report has
    ``updated``, ``exceeded`` and why it was ``refused``. The lock of ``pruned`` is held all the
    time, so that no second one meets this one.

    Raises :class:`TdvError` at the beginning, when ``pruned`` records no pruning to follow, its
    source or its TDVs are gone, or another holds the lock.
    """
    config = UpdateConfig.of(config, options)
    with _hold(pruned) as held, suppress(KeyboardInterrupt):
        seen: object = None
        records, sources = records_of(held[0])[1], sources_of(held, index)
        if not is_pruned_anew(held, records, values):
            fields_of(held[0].index, records, values)
        while True:
            commits = [_last_commit(source) for source in sources]
            if commits != seen:
                try:
                    report = _update(held, index, values, config, progress)
                except TdvError as error:
                    report = {"updated": False, "exceeded": False, "refused": str(error)}
                on_update(report)
                seen = commits
            check()  # a signal that came during a call of Java was only noted
            time.sleep(POLLED_SECONDS)


def _last_commit(source: str) -> tuple[str, ...]:
    """What changes in a folder with each commit; empty where it is gone."""
    with suppress(OSError):
        return tuple(sorted(name for name in os.listdir(source) if name.startswith("segments_")))
    return ()


@contextmanager
def _hold(pruned: str | os.PathLike[str]) -> Iterator[list[HeldIndex]]:
    """The folder, or those of all shards, locked."""
    with ExitStack() as opened:
        folders = Source.of(pruned).folders_here
        yield [opened.enter_context(HeldIndex(folder)) for folder in folders]


def _update(
    held: Sequence[HeldIndex],
    index: str | os.PathLike[str] | None,
    values: Sequence[str | os.PathLike[str] | TermValues],
    config: UpdateConfig,
    progress: Progress,
) -> dict[str, Any]:
    with ExitStack() as opened:
        records, sources = records_of(held[0])[1], sources_of(held, index)
        anew = pruned_anew(held, sources, records, values, progress)
        fields = (
            fields_of(held[0].index, records, values)
            if anew is None
            else list(zip(anew.fields, anew.points))
        )
        parts = []
        for one, source in zip(held, sources):
            commit = opened.enter_context(OpenCommit(source))
            states = [commit.state(value.vocabulary, progress) for value, _ in fields]
            since, identity = WrittenSince.of(one.index), commit.identity()
            parts.append(Followed(one, *records_of(one), source, commit, identity, states, since))
        if anew is not None:  # the TDVs are of what is open now
            require_current(parts[0].source, fields[0][0].manifest["source"]["commit"])
        drifts = [
            Drift.of(value, [part.states[number] for part in parts], parts[0].identity["commit"])
            for number, (value, _) in enumerate(fields)
        ]
        moved = max(drift.moved for drift in drifts)
        exceeded = config.max_drift is not None and moved > config.max_drift
        report = {"updated": False, "exceeded": exceeded, "drift": drifts[0].describe()}
        if exceeded:
            return report
        for (value, _), drift in zip(fields, drifts):
            drift.refuse_another_index(parts[0].source, value.vocabulary.field)
        made = []
        for part in parts:
            written: dict[str, Any] = {}
            with deferred():  # what is committed is described as well
                if part.is_behind:
                    written = _write(part, fields, anew, cores(config.threads), progress)
                    made.append(written)
                _describe(part, written, anew)
    return {**report, **_sums(made, parts, records[0])}


def _write(
    part: Followed,
    fields: Sequence[tuple[TermValues, OperatingPoint]],
    anew: Rewriting | None,
    threads: int,
    progress: Progress,
) -> dict[str, Any]:
    bakings = map(recorded_baking, part.records) if anew is None else anew.bakings
    rules = [
        rule_of(values, point, baking, state)
        for (values, point), baking, state in zip(fields, bakings, part.states)
    ]
    told = _kept(part, fields) if anew is None else anew.user_data
    for record in part.records:
        told[f"{record.prefix}source_commit"] = part.identity["commit"]
        told[f"{record.prefix}learned_from"] = record.learned_from
    told[SOURCE_PATH] = part.source
    if part.since.did:
        _log.warning("%s: undone, as its source has it otherwise", part.since)
    is_at_home = os.path.realpath(part.source) == os.path.realpath(part.user_data[SOURCE_PATH])
    try:
        return part.commit.update(
            part.held, rules, threads=threads, user_data=told, is_at_home=is_at_home,
            is_anew=anew is not None, progress=progress,
        )  # fmt: skip
    except OSError as error:
        raise TdvError(
            f"cannot update {part.held.index}: {error.strerror or error}; it is as it was"
            f"{free_space(error, Path(part.held.index))}"
        ) from error


def _kept(part: Followed, fields: Sequence[tuple[TermValues, OperatingPoint]]) -> dict[str, str]:
    """What the last commit says of how it was pruned; all else is the source's."""
    ours = PREFIX, ANALYSIS, ID_FIELD
    told = {key: value for key, value in part.user_data.items() if key.startswith(ours)}
    for record, (values, _) in zip(part.records, fields):
        if values.folder is not None:
            told[record.prefix + VALUES_FOLDER] = values.folder
    return {**told, UPDATES: str(int(part.user_data.get(UPDATES, 0)) + 1)}


def _describe(part: Followed, made: dict[str, Any], anew: Rewriting | None) -> None:
    """Bring the manifest up to date, if it is not; an update that was killed may not have."""
    folder = Path(part.held.index)
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        listed = manifest.pop("files")
    except (OSError, ValueError, KeyError):
        return  # there was none: a copy of Lucene's files alone
    there = {path.name for path in folder.iterdir() if path.is_file()}
    if not {name for name in listed if name.startswith("segments")} <= there or made:
        content = {k: v for k, v in manifest.items() if k not in ("kind", "format", "created")}
        if anew is not None and made:
            content |= report_of(anew, made, folder)
        sizes = {"bytes_before": bytes_of(part.source), "bytes": bytes_of(folder)}
        content |= {"source": part.identity, **sizes}
        write_manifest(folder, KIND, content, MANIFEST, listed)


def _sums(
    made: Sequence[dict[str, Any]], parts: Sequence[Followed], record: FieldRecord
) -> dict[str, Any]:
    """The report of what was written, of all shards together."""
    if not made:
        return {}
    names = ("segments", "segments_added", "segments_dropped", "segments_foreign", "deletions",
             "postings_before", "postings")  # fmt: skip
    left = sum(one["postings_in_all"][record.field] for one in made)
    before = sum(
        one["postings_before"] + one["postings_before_of_stayed"][record.field] for one in made
    )
    return {
        "updated": True,
        **{name: sum(one[name] for one in made) for name in names},
        "reduction": 1 - left / before if before else 0.0,
        "requested_reduction": record.requested_reduction,
        "bytes": sum(bytes_of(part.held.index) for part in parts),
    }
