"""The TDVs of a pruned index: those a user gives for it, checked against what the index records."""

from __future__ import annotations

import os

import numpy as np

from ..errors import TdvError
from ..indexes.user_data import FieldRecord
from ..ranking import DEFAULT_MODEL, Baking
from ..values.operating_point import OperatingPoint
from ..values.term_values import TermValues
from .field_rule import checksum, point_at


def find_point(values: TermValues, record: FieldRecord) -> OperatingPoint | None:
    """Return the operating point that was recorded; None if its checksum is another."""
    point = point_at(
        values,
        record.requested_reduction,
        tf=record.tf,
        scale=record.scale,
        unit=record.unit,
        min_doc_freq=record.min_doc_freq,
    )
    return point if checksum(point) == record.values_sha256 else None


def recorded_baking(record: FieldRecord) -> Baking | None:
    """What a field's norms hold; None where they are lengths."""
    if record.baked is None:
        return None
    k1, b, average_length = record.baked
    searched = record.parameters(DEFAULT_MODEL)
    return Baking((k1, b), (searched["k1"], searched["b"]), average_length)


def values_of_index(
    index: str | os.PathLike[str], field: str, given: str | os.PathLike[str]
) -> tuple[TermValues, np.ndarray]:
    """Load the folder ``given``; return it and float32[V], the TDVs as applied to ``index``.

    A dropped term has 0.

    Raises :class:`TdvError` when the folder cannot be read, or ``field`` of the index was not
    pruned with these TDVs.
    """
    values = TermValues.load(given)
    if values.vocabulary.field != field:
        raise TdvError(
            f"{given} holds TDVs of the field '{values.vocabulary.field}', not of '{field}': "
            f"give those of '{field}', or leave them out"
        )
    record = FieldRecord.read(index, field)
    if record.values_sha256 is None:
        raise TdvError(
            f"{index} does not record that its field '{field}' was pruned, so nothing tells "
            f"whether {given} holds its TDVs: leave them out"
        )
    record.require_current(index)
    if record.vocabulary_sha256 is not None:
        values.check(record.vocabulary_sha256)
    point = find_point(values, record)
    if point is None:
        raise TdvError(
            f"{index} was not pruned with the TDVs in {given}: those it was pruned with have "
            f"another checksum ({record.values_sha256[:12]}); give the folder that 'prune' was "
            "given, or leave it out"
        )
    return values, point.tdv
