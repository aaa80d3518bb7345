"""What decides on every posting of a field: an operating point of its values, as it is applied.

Pruning applies it, verification finds it again; both must come to the same one.
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


def load_fields(given: Sequence[str | os.PathLike | TermValues]) -> list[TermValues]:
    """Return values, or those in folders, each of another field.

    Raises
    ------
    TdvError
        When a folder cannot be read, or two are of one field.
    """
    fields = [v if isinstance(v, TermValues) else TermValues.load(v) for v in given]
    names = [values.vocabulary.field for values in fields]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise TdvError(f"two sets of values for the field '{twice[0]}': give one for each field")
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
        Of the latter two the scale is None, and the last has values as an index keeps them; it
        takes none that count a term's place.
    min_doc_freq
        Terms in fewer documents go, beside what goes at ``reduction``.
    """
    if tf == "similarity" and values.position_boost is not None:
        raise TdvError(
            "these values count a term's place in its document, which a search does not know: "
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
    cut, lead = point.cut, point.position_boost
    return FieldValues(
        values.vocabulary,
        point.tdv,
        point.scale,
        least_saturation=None if cut is None else cut.least,
        length_norm=None if cut is None else tuple(cut.length_norm),
        keep_values=keep_values,
        position_factors=None if lead is None else lead.factors,
    )


def checksum(point: OperatingPoint) -> str:
    """SHA-256 of what decides on every posting."""
    checksum = hashlib.sha256(np.ascontiguousarray(point.tdv).tobytes())
    if point.cut is not None:
        checksum.update(np.ascontiguousarray(point.cut.least).tobytes())
        checksum.update(np.array(point.cut.length_norm).tobytes())
    if point.position_boost is not None:
        checksum.update(point.position_boost.factors.tobytes())
    return checksum.hexdigest()


def _mean_value(values: TermValues, point: OperatingPoint) -> float:
    """Mean value of a token that stays."""
    tokens = np.where(point.tdv > 0, values.total_term_freq, 0).astype(np.float64)
    return float(tokens @ point.tdv / tokens.sum()) if tokens.any() else 1.0
