"""What decides on every posting of a field: an operating point of its TDVs, as it is applied.

Pruning and verification both start here, so they come to the same decisions. What an index records
of them is found again among the TDVs that a user gives for it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..errors import TdvError
from ..indexes.user_data import FieldRecord
from ..jvm.following import FieldState
from ..jvm.rewriter import FieldValues
from ..matrix.first_positions import FirstPositionBoost
from ..matrix.weight_powers import WeightPower
from ..ranking import DEFAULT_MODEL, Baking
from ..values.operating_point import OperatingPoint
from ..values.term_values import TermValues
from ..values.unseen_terms import tdvs_of_unseen


def load_fields(given: Sequence[str | os.PathLike[str] | TermValues]) -> list[TermValues]:
    """Load what is given as folders; each must be of another field.

    Raises :class:`TdvError` when a folder cannot be read, or two are of one field.
    """
    fields = [v if isinstance(v, TermValues) else TermValues.load(v) for v in given]
    names = [values.vocabulary.field for values in fields]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise TdvError(f"two sets of TDVs for the field '{twice[0]}': give one for each field")
    return fields


def point_at(
    values: TermValues,
    reduction: float | None,
    *,
    tf: str,
    scale: float | None,
    unit: str | None,
    min_doc_freq: int = 1,
) -> OperatingPoint:
    """Return :meth:`.TermValues.at_reduction` as ``tf`` applies it.

    Parameters
    ----------
    tf : "scaled" or "original"
        With the latter the scale is None.
    min_doc_freq
        Terms in fewer documents are dropped on top of ``reduction``.
    """
    point = values.at_reduction(reduction, scale=scale, original_tf=tf != "scaled", unit=unit)
    if min_doc_freq <= 1:
        return point
    kept = np.asarray(values.doc_freq) >= min_doc_freq
    return replace(point, tdv=np.where(kept, point.tdv, np.float32(0)))


def rule_of(
    values: TermValues,
    point: OperatingPoint,
    baking: Baking | None,
    state: FieldState | None = None,
) -> FieldValues:
    """Return what the rewriter is to make of the field.

    Parameters
    ----------
    state
        The field's now, where it has changed since the TDVs were made: terms that they lack are
        kept whole, with the TDVs of :mod:`..values.unseen_terms`.
    """
    cut, boost = point.cut, point.position_boost
    of_cut = None if cut is None else cut.position_boost
    vocabulary, tdv, least = values.vocabulary, point.tdv, None if cut is None else cut.least
    if state is not None and len(state.unseen):
        vocabulary = replace(
            vocabulary, terms=vocabulary.terms.with_inserted(state.places, state.unseen)
        )
        tdv = np.insert(tdv, state.places, tdvs_of_unseen(values, state.unseen))
        least = None if least is None else np.insert(least, state.places, np.float32(0))
    return FieldValues(
        vocabulary,
        tdv,
        point.scale,
        least_saturation=least,
        length_norm=None if cut is None else (cut.length_norm.fixed, cut.length_norm.per_token),
        saturation_factors=None if of_cut is None else of_cut.factors,
        position_factors=boost.factors if isinstance(boost, FirstPositionBoost) else None,
        weight_factors=boost.factors if isinstance(boost, WeightPower) else None,
        baking=baking,
    )


def checksum(point: OperatingPoint) -> str:
    """SHA-256 of what decides on every posting."""
    checksum = hashlib.sha256(np.ascontiguousarray(point.tdv).tobytes())
    boosts = [point.position_boost]
    if point.cut is not None:
        checksum.update(np.ascontiguousarray(point.cut.least).tobytes())
        checksum.update(np.array(point.cut.length_norm).tobytes())
        boosts.append(point.cut.position_boost)
    for boost in boosts:
        checksum.update(b"none" if boost is None else boost.factors.tobytes())
    return checksum.hexdigest()


def find_point(values: TermValues, record: FieldRecord) -> OperatingPoint | None:
    """Return the operating point that was recorded; None if these TDVs have another, or none."""
    if record.unit == "posting" and values.posting_priority is None:
        return None
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
