"""Warnings of searches that a pruned index was not learned for."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence

from ..ranking import DEFAULT_MODEL, SearchParameters
from .user_data import FieldRecord

_log = logging.getLogger(__name__)


def warn_of_another_search(
    index: str | os.PathLike[str],
    parameters: SearchParameters,
    field: str | None = None,
    *,
    record: FieldRecord | None = None,
) -> None:
    """Log a warning where ``index`` is searched with another model, or other parameters, than it
    was learned for.

    ``record`` is the index's of ``field``, where that was read already.
    """
    record = record or FieldRecord.read(index, field)
    learned_for = record.learned_for_another(parameters.model)
    if record.baked is not None and parameters.model != DEFAULT_MODEL:
        _log.warning(
            "the norms of %s hold BM25's k1 and b in place of document lengths, and %s reads them "
            "as lengths: prune its source again with --search-as recorded",
            index, parameters.model,
        )  # fmt: skip
    if learned_for is not None:
        _log.warning(
            "%s was learned for %s and is searched with %s: leave the ranking function at its "
            "default (%s), or learn TDVs for %s",
            index, learned_for, parameters.model, learned_for, parameters.model,
        )  # fmt: skip
    elif record.content and parameters.model is not None:
        recorded, given = record.parameters(parameters.model), parameters.values()
        # People copy them with six digits.
        others = [name for name in given if f"{given[name]:g}" != f"{recorded[name]:g}"]
        if others:
            _log.warning(
                "%s was learned for %s and is searched with %s: leave out the parameters, so "
                "that the recorded ones are used",
                index, _named(others, recorded), _named(others, given),
            )  # fmt: skip


def _named(names: Sequence[str], values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {values[name]:g}" for name in names)
