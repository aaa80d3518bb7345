"""Proof that a pruned index is what pruning its source must give; of shards, each by a worker."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..arguments import cores
from ..errors import TdvError
from ..index.index import Index
from ..index.record import (
    SHARDS,
    UPDATES,
    FieldRecord,
    read_records,
    shard_name,
    user_data_of_whole,
)
from ..index.workers import open_workers
from ..jvm import rewriter
from ..jvm.rewriter import field_state
from ..plan import FieldPlan
from ..progress import Progress, silent
from ..source import ID_FIELD, Part, Source
from .config import VerifyConfig

_log = logging.getLogger(__name__)


def verify_pruned(
    index: str | os.PathLike[str],
    pruned: str | os.PathLike[str],
    config: VerifyConfig | None = None,
    *,
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Compare the index ``pruned`` with what pruning ``index`` by its plan must give.

    For every pruned field this compares the postings with their frequencies (and positions, if they
    were kept), the statistics and the norms. It also compares the postings and norms of all other
    fields; ids, stored fields, doc values and term vectors of every document; and points. The two
    indexes may have different segments, as long as documents come in the same order. Of k-NN
    vectors only the fields' descriptions are compared. A writer may have either open: what it
    commits meanwhile is not looked at.

    ``index`` and ``pruned`` are folders, or each a :class:`..source.Source` of shards. Options are
    those of :class:`VerifyConfig`, as a config or by name.

    Returns ``equal``; how many ``documents`` and ``postings`` of the pruned fields were compared;
    and the first ``difference``, if any: ``what`` differs, what was ``expected`` and ``found``, and
    where: ``shard``, ``segment`` (of the pruned index), ``field``, ``term``, ``document``, as far
    as they apply.

    Raises :class:`TdvError` when one of the two cannot be read, or ``pruned`` has no plan; when the
    pruned shards are not all of those that were pruned together, or one's source is not among the
    shards.
    """
    threads = VerifyConfig.of(config, options).threads
    source, made = Source.of(index), Source.of(pruned)
    if source.is_sharded != made.is_sharded:
        raise TdvError(
            "index and pruned are shards both, or neither: name the "
            "folders of both, as 'SHARDS/*' and 'OUT/*'"
        )
    if not source.is_sharded:
        return prove_part(index, pruned, threads, progress)
    with open_workers(made) as workers:
        tasks: dict[Part, Sequence[Any]] = dict.fromkeys(made.parts, ())
        parts = workers.each(_user_data, tasks, "look at shards", progress)
        read_records(made, user_data_of_whole(made, parts))
    pairs = _pairs(source, made, parts)
    with open_workers(source) as workers:
        tasks = {
            part: (of_part.folder, threads or workers.threads) for part, of_part in pairs.items()
        }
        found = workers.each(prove_part, tasks, "verify shards", progress)
    compared = {name: sum(one[name] for one in found) for name in ("documents", "postings")}
    for part, one in zip(pairs, found):
        if not one["equal"]:
            difference = {"shard": part.name, **one["difference"]}
            return {**compared, "equal": False, "difference": difference}
    return {"equal": True, **compared}


def _user_data(folder: str) -> dict[str, str]:
    """In a worker."""
    with Index.open(folder, mixed=True) as index:
        return index.user_data


def _pairs(
    source: Source, made: Source, user_data: Sequence[Mapping[str, str]]
) -> dict[Part, Part]:
    """Return part of the source -> what was made of it, in the order of the latter; ``user_data``
    is theirs."""
    by_name = {part.name: part for part in source.parts}
    found = {}
    for part, says in zip(made.parts, user_data):
        name = shard_name(says) or ""
        if name not in by_name:
            raise TdvError(f"{part} was made of the shard '{name}', but {source} has no such shard")
        if by_name[name].resource != part.resource:
            raise TdvError(
                f"{part} and its source {by_name[name].folder} do not have the same resource: "
                "name that of the disk that both are on"
            )
        found[by_name[name]] = part
    for part in source.parts:
        if part not in found:
            raise TdvError(f"no pruned shard was made of {part}: leave it out")
    return found


def prove_part(
    index: str | os.PathLike[str],
    pruned: str | os.PathLike[str],
    threads: int | None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Do the work of :func:`verify_pruned` with a folder and what was made of it."""
    with Index.open(pruned, mixed=True) as made:
        records, plan = read_records(made, made.user_data), made.plan
        assert plan is not None  # or there were no records
        is_shard, has_followed = shard_name(made.user_data) is not None, UPDATES in made.user_data
        # The ids are compared, too.
        with Index.open(index, made.user_data.get(ID_FIELD)) as source:
            if records[0].source_commit != source.commit:
                difference = {
                    "what": "pruned from another index, or another state of it",
                    "field": records[0].field,
                    "expected": f"commit {source.commit}, of {source.identity['path']}",
                    "found": f"commit {records[0].source_commit}",
                    "remedy": "if the source has changed, run 'tdv-lucene update'; if it was built "
                    "anew, prune it again; if this is another index, pass the source",
                }
                return {"equal": False, "documents": 0, "postings": 0, "difference": difference}
            commit = None if has_followed else made.user_data.get(f"{SHARDS}source_commit")
            fields = [
                _as_applied(field, record, source, commit or source.commit, has_followed)
                for field, record in zip(plan.fields, records)
            ]
            _log.info("%s says it was pruned in %s", pruned, ", ".join(r.field for r in records))
            found = rewriter.prove_pruned(
                source, made, fields,
                threads=cores(threads), is_shard=is_shard, has_followed=has_followed,
                progress=progress,
            )  # fmt: skip
        if "difference" in found and made.since:
            found["difference"]["remedy"] = f"{made.since[0]}; run 'tdv-lucene update'"
        return {"equal": "difference" not in found, "postings": 0, **found}


def _as_applied(
    plan: FieldPlan, record: FieldRecord, source: Index, commit: str, has_followed: bool
) -> FieldPlan:
    """Return the plan of a field as it was applied to a commit of its source."""
    plan = plan.for_length(record.average_length)
    if not has_followed and plan.learned["commit"] in (None, commit):
        return plan
    state = field_state(source, plan)
    return plan.with_unseen(state.places, state.unseen)
