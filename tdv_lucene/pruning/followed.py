"""What an update reads: how an index was pruned, by which TDVs, and what its source is now."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import TdvError, argument
from ..indexes.shards.record import SOURCE_PATH, SOURCE_VERSION, VALUES_FOLDER
from ..indexes.user_data import FieldRecord, read_records
from ..jvm.following import FieldState, HeldIndex, OpenCommit
from ..jvm.index import read_user_data
from ..progress import Progress
from ..source import ID_FIELD, Source, named_by
from ..values.operating_point import OperatingPoint
from ..values.term_values import TermValues
from ..version import __version__
from .config import PruneConfig
from .field_description import NO_JUDGEMENTS, TUNED
from .field_rule import find_point, load_fields, recorded_baking
from .rewriting import Rewriting
from .search_target import RECORDED
from .unjudged import values_again, values_without_judgements


@dataclass(frozen=True, eq=False)
class Followed:
    """A pruned folder, what it records, and the state of its source to follow."""

    held: HeldIndex
    user_data: dict[str, str]
    records: list[FieldRecord]
    source: str
    commit: OpenCommit
    identity: dict[str, Any]
    states: list[FieldState]


def records_of(held: HeldIndex) -> tuple[dict[str, str], list[FieldRecord]]:
    """What a folder records; refuses what cannot be followed."""
    user_data = read_user_data(held.index)
    records = read_records(held.index, user_data)
    version = records[0].version
    if version != __version__ or SOURCE_VERSION not in user_data:
        raise TdvError(
            f"{held.index} was pruned by tdv-lucene {version}, and this is {__version__}: each "
            "updates only what it has pruned itself; prune the source again"
        )
    return user_data, records


def sources_of(held: Sequence[HeldIndex], index: str | os.PathLike[str] | None) -> list[str]:
    """The source of each pruned folder."""
    recorded = [records_of(one)[0][SOURCE_PATH] for one in held]
    if index is not None:
        folders = [os.path.abspath(folder) for folder in Source.of(index).folders_here]
        by_name = {os.path.basename(folder): folder for folder in folders}
        if len(held) == len(folders) == 1:
            recorded = folders
        else:
            recorded = [by_name.get(os.path.basename(path), path) for path in recorded]
    for one, source in zip(held, recorded):
        if not os.path.isdir(source):
            raise TdvError(
                f"the source of {one.index} is gone: there is no {source}; if it was moved, pass "
                f"{argument('index')}"
            )
    return recorded


def fields_of(
    pruned: str | os.PathLike[str],
    records: Sequence[FieldRecord],
    given: Sequence[str | os.PathLike[str] | TermValues],
) -> list[tuple[TermValues, OperatingPoint]]:
    """The TDVs that each field was pruned with, and the point that was taken."""
    by_field = {values.vocabulary.field: values for values in load_fields(given)}
    found = []
    for record in records:
        values = by_field.get(record.field) or _recorded_values(pruned, record)
        point = find_point(values, record)
        if point is None or values.vocabulary.sha256 != record.vocabulary_sha256:
            raise TdvError(
                f"{pruned} was not pruned in '{record.field}' with the TDVs in "
                f"{values.folder or 'memory'}: pass those it was pruned with ({argument('values')})"
            )
        found.append((values, point))
    return found


def _recorded_values(pruned: str | os.PathLike[str], record: FieldRecord) -> TermValues:
    folder = record.content.get(VALUES_FOLDER)
    if folder is None:
        raise TdvError(
            f"the TDVs that {pruned} was pruned with in '{record.field}' were not kept, and an "
            f"update needs them: pass them ({argument('values')}), or prune again with "
            f"{argument('save_values')}"
        )
    if not Path(folder).is_dir():
        raise TdvError(
            f"the TDVs that {pruned} was pruned with in '{record.field}' are gone: there is no "
            f"{folder}; if they were moved, pass {argument('values')}"
        )
    return TermValues.load(folder)


def pruned_anew(
    held: Sequence[HeldIndex],
    sources: Sequence[str],
    records: Sequence[FieldRecord],
    given: Sequence[Any],
    progress: Progress,
) -> Rewriting | None:
    """What becomes of an index that was pruned without judgements, and whose TDVs were not kept:
    those of its source of today are made, and all of it is pruned with them.

    None where the TDVs were kept or are given; and of shards or several fields, which need them.
    """
    record = records[0]
    if given or len(held) > 1 or len(records) > 1 or VALUES_FOLDER in record.content:
        return None
    source = named_by(sources[0], read_user_data(held[0].index).get(ID_FIELD))
    baking = recorded_baking(record)
    config = PruneConfig(
        reduction=record.requested_reduction,
        tf=record.tf,
        scale=record.scale if record.tf == "scaled" else "auto",
        field=record.field,
        min_doc_freq=record.min_doc_freq,
        search_as=RECORDED if baking is None else ",".join(map(repr, baking.searched)),
    )
    if record.learned_from.startswith(TUNED):
        values = values_again(source, record, progress)
    elif NO_JUDGEMENTS in record.learned_from:
        values = values_without_judgements(source, config, progress)
    else:
        return None
    return Rewriting(source, [values], config)
