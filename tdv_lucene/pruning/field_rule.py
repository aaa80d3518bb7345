"""What decides on every posting of a field: an operating point of its TDVs, as it is applied.

Pruning and verification both start here, so they come to the same decisions.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import TdvError, argument
from ..values.operating_point import OperatingPoint
from ..values.stored_values import round_values
from ..values.term_values import TermValues

if TYPE_CHECKING:
    from ..jvm.rewriter import FieldValues


def load_fields(given: Sequence[str | os.PathLike[str] | TermValues]) -> list[TermValues]:
    """Load what is given as folders; each must be of another field.

    Raises
    ------
    TdvError
        When a folder cannot be read, or two are of one field.
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
    tf : "scaled", "original" or "similarity"
        With the latter two the scale is None. The last rounds TDVs as an index stores them, and
        cannot apply a first-position boost.
    min_doc_freq
        Terms in fewer documents are dropped on top of ``reduction``.
    """
    if tf == "similarity" and values.position_boost is not None:
        raise TdvError(
            "these TDVs were learned with a first-position boost, which a search cannot apply: "
            f"prune with {argument('tf', 'scaled')}, or learn again with {argument('lead', False)}"
        )
    scaled = tf == "scaled"
    point = values.at_reduction(
        reduction, scale=scale if scaled else None, original_tf=not scaled, unit=unit
    )
    tdv = round_values(point.tdv) if tf == "similarity" else point.tdv
    if min_doc_freq > 1:
        tdv = np.where(np.asarray(values.doc_freq) < min_doc_freq, np.float32(0), tdv)
    return replace(point, tdv=tdv)


def rule_of(values: TermValues, point: OperatingPoint, tf: str) -> FieldValues:
    """Return what the rewriter is to make of the field."""
    from ..jvm.rewriter import FieldValues

    keep_values = _mean_value(values, point) if tf == "similarity" else None
    cut, boost = point.cut, point.position_boost
    of_cut = None if cut is None else cut.position_boost
    return FieldValues(
        values.vocabulary,
        point.tdv,
        point.scale,
        least_saturation=None if cut is None else cut.least,
        length_norm=None if cut is None else (cut.length_norm.fixed, cut.length_norm.per_token),
        saturation_factors=None if of_cut is None else of_cut.factors,
        keep_values=keep_values,
        position_factors=None if boost is None else boost.factors,
    )


def checksum(point: OperatingPoint) -> str:
    """SHA-256 of what decides on every posting."""
    checksum = hashlib.sha256(np.ascontiguousarray(point.tdv).tobytes())
    if point.cut is not None:
        checksum.update(np.ascontiguousarray(point.cut.least).tobytes())
        checksum.update(np.array(point.cut.length_norm).tobytes())
    if point.position_boost is not None:
        checksum.update(point.position_boost.factors.tobytes())
    if point.cut is not None and point.cut.position_boost != point.position_boost:
        boost = point.cut.position_boost  # where it is the same, indexes of before have no trace
        checksum.update(b"none" if boost is None else boost.factors.tobytes())
    return checksum.hexdigest()


def _mean_value(values: TermValues, point: OperatingPoint) -> float:
    """Return the mean TDV of a token that stays."""
    tokens = np.where(point.tdv > 0, values.total_term_freq, 0).astype(np.float64)
    return float(tokens @ point.tdv / tokens.sum()) if tokens.any() else 1.0
