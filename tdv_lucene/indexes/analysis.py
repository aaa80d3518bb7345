"""How the text of a field was analysed: as it was asked for, as the index records it, or found."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping

from ..analysis import Analysis
from ..errors import TdvError
from ..jvm.analysis import as_record, identity_of
from .detection import detect
from .field_analysis import GIVEN, RECORDED, FieldAnalysis
from .index import Index

_log = logging.getLogger(__name__)

RECORD = "analysis"
"""Of the commit's user data: how all fields were analysed, or with a dot and a name, one."""


def analysis_of(
    index: Index, field: str = "contents", asked: Analysis | None = None
) -> FieldAnalysis:
    """Return how queries are analysed for ``field``: as ``asked``, recorded or detected.

    Of shards, how each of them was.

    Raises :class:`TdvError` when the index records another analysis than was asked for, or shards
    differ.
    """
    if index.source.is_sharded:
        found = {}
        for folder in index.source.folders_here:
            with Index.open(folder) as shard:
                found[folder] = analysis_of(shard, field, asked)
        return refuse_different(found, "the shards")
    said = index.user_data
    text = said.get(f"{RECORD}.{field}", said.get(RECORD))
    recorded = None if text is None else FieldAnalysis.of_record(json.loads(text), RECORDED)
    if asked is None:
        return recorded or _detected(index, field)
    is_other = recorded is not None and identity_of(recorded.analysis) != identity_of(asked)
    if recorded is not None and recorded.is_certain and is_other:
        raise TdvError(
            f"{index} records that its field '{field}' was analysed as "
            f"{recorded.analysis.describe()}, and {asked.flags()} was given: leave it out, or give "
            f"{recorded.analysis.flags()}"
        )
    return FieldAnalysis(asked, GIVEN)


def refuse_different(found: Mapping[str, FieldAnalysis], what: str) -> FieldAnalysis:
    """Return how several indexes were analysed, by the surest of them.

    Raises :class:`TdvError` when two of them were analysed otherwise.
    """
    certain = {name: one for name, one in found.items() if one.is_certain}
    first, *others = certain or found
    for other in others if certain else ():
        if identity_of(certain[first].analysis) != identity_of(certain[other].analysis):
            raise TdvError(
                f"{what} were analysed differently: {first} as {certain[first].describe()}, "
                f"{other} as {certain[other].describe()}; index them with the same options"
            )
    return found[first]


def as_user_data(analysis: Analysis, field: str | None = None) -> dict[str, str]:
    """What a commit's user data say of an analysis of one field, or of all."""
    name = RECORD if field is None else f"{RECORD}.{field}"
    return {name: json.dumps(as_record(analysis), ensure_ascii=False)}


def record_to_add(found: FieldAnalysis, field: str) -> dict[str, str]:
    """What an index should say that is made from another, beyond what that says itself: a guess,
    too, for what is dropped may be what it was made from."""
    if found.source == RECORDED:
        return {}
    return {f"{RECORD}.{field}": json.dumps(found.as_record(), ensure_ascii=False)}


def _detected(index: Index, field: str) -> FieldAnalysis:
    if index.holds_weights(field):
        return FieldAnalysis(Analysis(pretokenized=True), "weights", evidence="its norms are all 1")
    if field not in index.detected:
        index.detected[field] = detect(index, field)
    found = index.detected[field]
    _log.info("%s, field '%s': %s, %s", index, field, found.describe(), found.evidence)
    return found
