"""Stage 5: a new index with fewer postings and TDV-weighted frequencies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..arguments import parse_bytes
from ..errors import TdvError
from ..index.index import Index
from ..index.parameters import Searcher
from ..index.sharded import ShardedIndex
from ..learning.config import LearnConfig
from ..learning.prior import prior_values_of_index
from ..plan import FieldPlan, Plan
from ..progress import Progress, silent
from ..source import ID_FIELD, Source
from ..values.posting_rule import CORRECTED_AT
from ..values.term_values import TermValues
from .config import PruneConfig
from .planning import plan_field, reduction_of
from .shards import check_shards, prune_shards
from .sizes import foreseen_bytes
from .targets import SearchTarget, target_of
from .tiers import decide_tiers
from .writing import Task, write_index, write_within


def prune_index(
    index: str | os.PathLike[str],
    values: str | os.PathLike[str] | TermValues | None,
    output: str | os.PathLike[str],
    config: PruneConfig | None = None,
    *,
    others: Sequence[str | os.PathLike[str] | TermValues] = (),
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Prune a field of ``index`` and write the result as the new index ``output``.

    A posting's new frequency is max(1, rint(scale * tf * tdv)). Norms, statistics and term vectors
    are made to fit. Stored fields, doc values, points, other fields and the order of documents stay
    as they are. Deleted documents are left out, soft-deleted ones too. ``index`` is only
    read. What decided is written beside Lucene's files, see :mod:`..plan`.

    Parameters
    ----------
    index
        A folder, or a :class:`..source.Source` of shards: then each is pruned with the TDVs and
        statistics of the whole, to a folder of its name inside ``output`` (see :mod:`.shards`).
    values
        The TDVs of this index's vocabulary, or the folder that holds them. None takes those that
        other judged collections give this one, for BM25 (see :mod:`..learning.prior`). That needs
        no judgements, and a temporary folder of about ten bytes a posting, for shards on each
        worker's machine.
    config, options
        How to prune: a :class:`PruneConfig`, or its options by name, as ``reduction=0.45``.
    others
        TDVs of further fields, pruned in the same rewrite with the same options. Where an option
        is None or ``"auto"``, each field has its own. The field of ``values`` is the one that the
        index records as searched.

    Returns
    -------
    dict
        Counts and bytes before and after; the ``reduction`` reached; the ``scale``; the
        ``lucene_version`` of the new index's format; ``chosen``, how ``max_loss`` or ``max_bytes``
        was met; ``search``, the parameters to search it with;
        ``baked``, the k1 and b that its norms hold, and ``norms``, of how many documents no norm
        can hold them; ``validated``, what was measured at the nearest learned point, with the table
        of scales; with ``others``, theirs under ``fields`` by name. What does not apply is None.
        The same is in ``tdv-manifest.json``.

    Raises :class:`TdvError` when the index cannot be read or pruned, is locked, or has another
    vocabulary; when an option is out of its range, or has no effect beside others; when no posting
    would be left, or no reduction is given and none is recommended; when ``output`` exists or
    overlaps the index.
    """
    config = PruneConfig.of(config, options, values=values)
    if config.queries is not None and values is not None and not config.tiers:
        raise TdvError(
            "queries have no effect with TDVs, whose reductions 'learn' has measured already: "
            "leave them out, or pass tiers as well, for which queries choose the reduction"
        )
    if config.max_loss is not None and values is None and config.queries is None:
        raise TdvError(
            "max_loss has no effect without TDVs or "
            "queries: a loss is measured on queries; leave it out"
        )
    return write_pruned(index, values, output, config, others=others, progress=progress)


def write_pruned(
    index: str | os.PathLike[str],
    values: str | os.PathLike[str] | TermValues | None,
    output: str | os.PathLike[str],
    config: PruneConfig,
    *,
    others: Sequence[str | os.PathLike[str] | TermValues] = (),
    made_by: str = "prune",
    progress: Progress = silent,
) -> dict[str, Any]:
    """Do the work of :func:`prune_index`, for the command ``made_by``."""
    given = [v for v in (values, *others) if v is not None]
    source, task = Source.of(index), Task(os.path.abspath(output), config, made_by)
    if source.is_sharded:
        check_shards(source, Path(task.output), given, config)
        loaded = _fields(given, config)
        field = config.field if values is None else loaded[0].vocabulary.field

        def decided(shards: ShardedIndex) -> tuple[Plan, Task]:
            made = [_values_without_judgements(shards, config, progress)] if values is None else []
            return _decided(shards, _fields([*made, *loaded], config), task, progress)

        shards = index if isinstance(index, ShardedIndex) else source
        return prune_shards(shards, field, decided, task, progress)
    place = task.place([index, *given])
    with Index.open(index, config.id_field) as opened:
        if values is None:
            given.insert(0, _values_without_judgements(opened, config, progress))
        fields = _fields(given, config)
        pruned = {values.vocabulary.field for values in fields}
        others_left = [n for n, f in opened.fields.items() if f.has_frequencies and n not in pruned]
        if config.max_bytes is None:
            plan, task = _decided(opened, fields, task, progress)
            with place as folder:
                report = write_index(opened, plan, task, folder, progress)
                place.write_manifest(report)
        else:
            is_foreseen, limit = config.tf == "scaled", parse_bytes(config.max_bytes)
            foreseen = foreseen_bytes(fields[0].points) if is_foreseen else None
            task, at = _told_of(task, opened, fields), partial(decide, fields, config, opened)
            with place as folder:
                report = write_within(opened, at, task, limit, folder, foreseen, progress)
                place.write_manifest(report)
    return {**report, "output": task.output, "other_fields": others_left, "network": None}


def _decided(
    index: Index | ShardedIndex, fields: Sequence[TermValues], task: Task, progress: Progress
) -> tuple[Plan, Task]:
    task = _told_of(task, index, fields)
    if task.config.tiers:
        plan, told = decide_tiers(index, fields, task, progress)
    else:
        plan, told = decide(fields, task.config, index)
    return plan, replace(task, told=told)


def _told_of(task: Task, index: Index | ShardedIndex, fields: Sequence[TermValues]) -> Task:
    """Return the task with what is known of the index and its TDVs; an ``id_field`` that names
    documents was asked for here, or when they were learned."""
    sources = [index.identity, *(values.manifest.get("source", {}) for values in fields)]
    manifests = {values.vocabulary.field: values.manifest for values in fields}
    return replace(
        task,
        named_by=next((source[ID_FIELD] for source in sources if ID_FIELD in source), None),
        learned_analyses={f: m["analysis"] for f, m in manifests.items() if "analysis" in m},
        searcher=index.searcher,
    )


def decide(
    fields: Sequence[TermValues],
    config: PruneConfig,
    index: Index | ShardedIndex,
    share: float | None = None,
) -> tuple[Plan, dict[str, Any]]:
    """Return the plan of an index, and what the report tells of the field that is searched (see
    :class:`.writing.Task`). ``share`` is the reduction to plan for; None for the one asked for,
    found or recommended."""
    plans, told = [], dict[str, Any]()
    for values in fields:
        reduction, chosen = reduction_of(values, config) if share is None else (share, None)
        plan, point = plan_field(values, reduction, config, index)
        plans.append(plan)
        told = told or {
            "validated": dict(point.nearest),
            "chosen": chosen,
            "defaults": _defaults(plan, index.searcher, config.target),
        }
    return Plan(plans), told


def _defaults(plan: FieldPlan, searcher: Searcher, asked: SearchTarget) -> str:
    """Say whose defaults a field is written for; empty where others were asked for, or where it has
    to be searched with recorded parameters."""
    target = target_of(searcher, asked)
    searched = {} if target.given else target.parameters(plan.facts["model"]) or {}
    recorded = plan.facts["search"]
    is_held = searched and all(recorded[name] == searched[name] for name in searched)
    return searcher.describe(searched) if is_held else ""


def _fields(
    given: Sequence[str | os.PathLike[str] | TermValues], config: PruneConfig
) -> list[TermValues]:
    """Load what is given as folders; each must be of another field.

    Raises :class:`TdvError` when a folder cannot be read, two are of one field, or there are
    several and an option is defined for one only.
    """
    fields = [v if isinstance(v, TermValues) else TermValues.load(v) for v in given]
    names = [values.vocabulary.field for values in fields]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise TdvError(f"two sets of TDVs for the field '{twice[0]}': give one for each field")
    for_one = ("max_loss", "max_bytes")
    named = [name for name in for_one if getattr(config, name) is not None]
    if len(fields) > 1 and named:
        raise TdvError(
            f"{' and '.join(named)} is for one field, got TDVs of {', '.join(names)}: "
            "prune by reduction, or one field after the other"
        )
    return fields


def _values_without_judgements(
    index: Index | ShardedIndex, config: PruneConfig, progress: Progress
) -> TermValues:
    """Return the prior's TDVs of a field, the same for the same index and options; those for a
    query log have operating points measured by it (see :mod:`..learning.log`).

    Only scaled frequencies can apply a first-position boost. The idf is corrected for the postings
    dropped at the reduction asked for, or at the prior's own; at many if a size is to be met.
    """
    lead = config.tf == "scaled"
    if index.holds_weights(config.field) and config.expect != PruneConfig.expect:
        raise TdvError(
            f"expect {config.expect} has no effect with an impact index, of which the prior knows "
            "nothing: leave it out"
        )
    if config.queries is None or config.tiers:
        is_one = config.max_bytes is None and not config.tiers
        return prior_values_of_index(
            index, field=config.field, lead=lead, expect=config.expect,
            reductions=(config.reduction,) if is_one else CORRECTED_AT, progress=progress,
        )  # fmt: skip
    from ..learning.from_index import values_from_index  # with all that learns

    learning = LearnConfig(field=config.field, lead=lead, **config.asked_analysis)
    return values_from_index(index, config.queries, None, learning, progress)
