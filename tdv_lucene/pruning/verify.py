"""Proof that a pruned index is what pruning its source must give; of shards, each by a worker."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..arguments import cores
from ..errors import TdvError, argument
from ..indexes.shards.record import SHARDS, UPDATES, VALUES_FOLDER, shard_name, user_data_of_whole
from ..indexes.shards.workers import open_workers
from ..indexes.user_data import FieldRecord, read_records
from ..indexes.written_since import WrittenSince
from ..jvm import rewriter
from ..jvm.index import identify, read_user_data, require_current
from ..progress import Progress, silent
from ..source import ID_FIELD, Part, Source, named_by
from ..values.operating_point import OperatingPoint
from ..values.term_values import TermValues
from .config import VerifyConfig
from .drift import changed_field
from .field_rule import find_point, load_fields, recorded_baking, rule_of
from .shards import refuse_without_values, values_for_workers
from .unjudged import values_again

_NOTHING_COMPARED = {"equal": False, "documents": 0, "postings": 0}
_log = logging.getLogger(__name__)


def verify_pruned(
    index: str | os.PathLike[str],
    pruned: str | os.PathLike[str],
    values: str | os.PathLike[str] | TermValues | None,
    config: VerifyConfig | None = None,
    *,
    others: Sequence[str | os.PathLike[str] | TermValues] = (),
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Compare the index ``pruned`` with what pruning ``index`` with ``values`` must give.

    The commit's user data says how it was pruned. For every pruned field this compares the
    postings with their frequencies (and positions, if they were kept), the statistics and the
    norms. It also compares the postings and norms of all other fields; ids, stored fields, doc
    values and term vectors of every document; and points. The two indexes may have different
    segments, as long as documents come in the same order. Of k-NN vectors only the fields'
    descriptions are compared.

    Parameters
    ----------
    index, pruned
        Folders, or each a :class:`..source.Source` of shards.
    values, others
        The TDVs of every field that was pruned, in any order. None if it was pruned without
        judgements: they are then made again from ``index``, or read where they were kept if it has
        changed since.
    config, options
        A :class:`VerifyConfig`, or its options by name, as ``threads=2``.

    Returns
    -------
    dict
        ``equal``; how many ``documents`` and ``postings`` of the pruned fields were compared; and
        the first ``difference``, if any: ``what`` differs, what was ``expected`` and ``found``,
        and where: ``shard``, ``segment`` (of the pruned index), ``field``, ``term``, ``document``,
        as far as they apply.

    Raises
    ------
    TdvError
        When one of the two cannot be read, ``pruned`` does not record how it was pruned, or the
        TDVs given are not those of the fields it records; when the pruned shards are not all of
        those that were pruned together, or one's source is not among the shards.
    """
    threads = VerifyConfig.of(config, options).threads
    source, made = Source.of(index), Source.of(pruned)
    if source.is_sharded != made.is_sharded:
        raise TdvError(
            f"{argument('index')} and {argument('pruned')} are shards both, or neither: name the "
            "folders of both, as 'SHARDS/*' and 'OUT/*'"
        )
    given = [] if values is None else [values, *others]
    if source.resources or made.resources:
        refuse_without_values(source, given)
    parts = _user_data(made, progress)
    whole = user_data_of_whole(made, parts)
    fields = load_fields(given)
    for record in read_records(made, whole) if values is None else ():
        if UPDATES in whole and VALUES_FOLDER in record.content:
            fields.append(TermValues.load(record.content[VALUES_FOLDER]))
            continue
        difference = _another_source(record, identify(index))
        if difference:
            return {**_NOTHING_COMPARED, "difference": difference}
        fields.append(values_again(index, record, progress))
    if source.is_sharded:
        return _verify_shards(source, made, parts, fields, given or fields, threads, progress)
    return prove_part(index, pruned, fields, threads, progress)


def _user_data(made: Source, progress: Progress) -> list[dict[str, str]]:
    """What the parts' commits say, each read where it is seen."""
    if not made.resources:
        return [read_user_data(folder) for folder in made.folders]
    with open_workers(made) as workers:
        tasks: dict[Part, Sequence[Any]] = dict.fromkeys(made.parts, ())
        return workers.each(read_user_data, tasks, "look at shards", progress)


def _verify_shards(
    source: Source,
    made: Source,
    user_data: Sequence[Mapping[str, str]],
    fields: Sequence[TermValues],
    given: Sequence[Any],
    threads: int | None,
    progress: Progress,
) -> dict[str, Any]:
    """Prove each shard against its own source."""
    pairs = _pairs(source, made, user_data)
    shared = os.path.dirname(made.folders[0])  # what a cluster's workers see
    beside = Path(tempfile.gettempdir() if source.scheduler is None else shared)
    with (
        open_workers(source, beside) as workers,
        values_for_workers(workers, source, fields, given, beside) as values,
    ):
        tasks = {
            part: (of_part.folder, values[part], threads or workers.threads)
            for part, of_part in pairs.items()
        }
        found = workers.each(prove_part, tasks, "verify shards", progress)
    compared = {name: sum(one[name] for one in found) for name in ("documents", "postings")}
    for part, one in zip(pairs, found):
        if not one["equal"]:
            return {**compared, "equal": False,
                    "difference": {"shard": part.name, **one["difference"]}}  # fmt: skip
    return {"equal": True, **compared}


def _pairs(
    source: Source, made: Source, user_data: Sequence[Mapping[str, str]]
) -> dict[Part, Part]:
    """Part of the source -> what was made of it, in the order of the latter; ``user_data`` is
    theirs."""
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
    values: Sequence[str | TermValues],
    threads: int | None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Do the work of :func:`verify_pruned` with a folder and what was made of it.

    Both may have a writer: what it commits meanwhile is not looked at.
    """
    commit = identify(pruned)["commit"]
    user_data = read_user_data(pruned)
    index = named_by(index, user_data.get(ID_FIELD))  # the ids are compared, too
    records = read_records(pruned, user_data)
    given = {values.vocabulary.field: values for values in load_fields(values)}
    _refuse_other_fields(pruned, [record.field for record in records], list(given))
    source, rules = identify(index), []
    is_shard, has_followed = shard_name(user_data) is not None, UPDATES in user_data
    for record in records:
        of_field = given[record.field]
        point = find_point(of_field, record)
        difference = _another_source(record, source) or _other_values(record, of_field, point)
        if point is None or difference:
            return {**_NOTHING_COMPARED, "difference": difference}
        whole = user_data.get(f"{SHARDS}source_commit") or source["commit"]
        state = changed_field(
            index, of_field, None if has_followed else whole, is_part=is_shard or has_followed
        )
        rules.append(rule_of(of_field, point, recorded_baking(record), state))
    _log.info("%s says it was pruned in %s", pruned, ", ".join(r.field for r in records))
    found = rewriter.prove_pruned(
        index, pruned, rules,
        threads=cores(threads), is_shard=is_shard, has_followed=has_followed,
        progress=progress,
    )  # fmt: skip
    if "difference" in found:  # unless it is between one commit and the next
        require_current(pruned, commit)
        require_current(index, source["commit"])
        if (since := WrittenSince.of(pruned)).did:
            found["difference"]["remedy"] = f"{since}; run 'tdv-lucene update'"
    return {"equal": "difference" not in found, "postings": 0, **found}


def _refuse_other_fields(
    pruned: str | os.PathLike[str], recorded: Sequence[str], given: Sequence[str]
) -> None:
    """Refuse TDVs of a field that was not pruned, and a pruned field without TDVs."""
    was = f"{pruned} was pruned in {', '.join(repr(field) for field in recorded)}"
    for field in recorded:
        if field not in given:
            raise TdvError(
                f"{was}, and no TDVs are given for '{field}': pass those it was pruned with, too "
                f"(a further {argument('values')})"
            )
    for field in given:
        if field not in recorded:
            raise TdvError(f"{was}, not in '{field}': leave out the TDVs of this field")


def _another_source(record: FieldRecord, source: Mapping[str, Any]) -> dict[str, str]:
    """The difference if the field was pruned from another index, or another state of it."""
    if record.source_commit == source["commit"]:
        return {}
    return {"what": "pruned from another index, or another state of it", "field": record.field,
            "expected": f"commit {source['commit']}, of {source['path']}",
            "found": f"commit {record.source_commit}",
            "remedy": "if the source has changed, run 'tdv-lucene update'; if not, name the source",
            }  # fmt: skip


def _other_values(
    record: FieldRecord, values: TermValues, point: OperatingPoint | None
) -> dict[str, str]:
    """The difference if the field was pruned by other TDVs than these, ``point`` of which fits."""
    name, given = "checksum", "of any reduction of the TDVs given"
    if values.vocabulary.sha256 != record.vocabulary_sha256:
        name, given = "vocabulary", values.vocabulary.sha256
    elif point is not None:
        return {}
    recorded = {"checksum": record.values_sha256, "vocabulary": record.vocabulary_sha256}[name]
    return {"what": "pruned by other TDVs", "field": record.field,
            "expected": f"{name} {given}", "found": f"{name} {recorded}",
            "remedy": "name the TDVs that 'prune' was given, or none if it used the prior",
            }  # fmt: skip
