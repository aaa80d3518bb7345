"""Proof that a pruned index is what pruning its source must give; of shards, each by a worker."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import TdvError, argument
from ..indexes.shards.record import UPDATES, VALUES_FOLDER, shard_name, user_data_of_whole
from ..indexes.shards.workers import open_workers
from ..indexes.user_data import read_records
from ..jvm.index import identify, read_user_data
from ..progress import Progress, silent
from ..source import Part, Source
from ..values.term_values import TermValues
from .config import VerifyConfig
from .field_rule import load_fields
from .proof import NOTHING_COMPARED, another_source, prove_part
from .unjudged import values_again
from .values_for_workers import refuse_without_values, values_for_workers


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
        difference = another_source(record, identify(index))
        if difference:
            return {**NOTHING_COMPARED, "difference": difference}
        fields.append(values_again(index, record, progress))
    if source.is_sharded:
        return _verify_shards(source, made, parts, fields, given or fields, threads, progress)
    return prove_part(index, pruned, fields, threads, progress)


def _user_data(made: Source, progress: Progress) -> list[dict[str, str]]:
    """What the parts' commits say, each read where it is seen."""
    if not made.resources:
        return [read_user_data(folder) for folder in made.folders]
    with open_workers(made) as workers:
        workers.check(None, made.resources)
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
        open_workers(source) as workers,
        values_for_workers(workers, source, fields, given, beside) as values,
    ):
        workers.check(None if source.resources else beside, source.resources)
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
