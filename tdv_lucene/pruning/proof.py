"""Proof, posting by posting, of one pruned index or shard: in this process, or in a worker."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..arguments import cores
from ..errors import TdvError, argument
from ..indexes.shards.record import SHARDS, UPDATES, shard_name
from ..indexes.user_data import FieldRecord, read_records
from ..jvm import rewriter
from ..jvm.index import identify, read_user_data, require_current
from ..progress import Progress, silent
from ..source import ID_FIELD, named_by
from ..values.operating_point import OperatingPoint
from ..values.term_values import TermValues
from .drift import changed_field
from .field_rule import load_fields, rule_of
from .recorded_values import find_point, recorded_baking

_log = logging.getLogger(__name__)


def prove_part(
    index: str | os.PathLike[str],
    pruned: str | os.PathLike[str],
    values: Sequence[str | TermValues],
    threads: int | None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Do the work of :func:`.verify.verify_pruned` with a folder and what was made of it.

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
        difference = another_source(record, source) or _other_values(record, of_field, point)
        if point is None or difference:
            return {**NOTHING_COMPARED, "difference": difference}
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
    return {"equal": "difference" not in found, "postings": 0, **found}


NOTHING_COMPARED = {"equal": False, "documents": 0, "postings": 0}


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


def another_source(record: FieldRecord, source: Mapping[str, Any]) -> dict[str, str]:
    """The difference if the field was pruned from another index, or another state of it."""
    if record.source_commit == source["commit"]:
        return {}
    return {"what": "pruned from another index, or another state of it", "field": record.field,
            "expected": f"commit {source['commit']}, of {source['path']}",
            "found": f"commit {record.source_commit}",
            "remedy": "if the source has changed, run 'tdv-lucene update'; else name the source",
            }  # fmt: skip


def _other_values(
    record: FieldRecord, values: TermValues, point: OperatingPoint | None
) -> dict[str, str]:
    """The difference if the field was pruned by other TDVs than these, ``point`` of which fits."""
    name, given = "checksum", "of no point of the TDVs given"
    if values.vocabulary.sha256 != record.vocabulary_sha256:
        name, given = "vocabulary", values.vocabulary.sha256
    elif point is not None:
        return {}
    recorded = {"checksum": record.values_sha256, "vocabulary": record.vocabulary_sha256}[name]
    return {"what": "pruned by other TDVs", "field": record.field,
            "expected": f"{name} {given}", "found": f"{name} {recorded}"}  # fmt: skip
