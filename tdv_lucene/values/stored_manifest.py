"""What the manifest of term values must hold: a damaged one is told, not stumbled over."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..matrix.first_positions import FirstPositionBoost
from ..store import NUMBER, check_content

_MANIFEST = {
    "field": str, "vocabulary_sha256": str, "model": str, "parameters": dict, "points": list,
    "recommended_reduction": (*NUMBER, type(None)),
}  # fmt: skip
_FURTHER = {
    "source": dict, "recipe": dict, "lead": (dict, type(None)), "posting_rule": dict, "unit": str,
    "folds": list, "self_supervised": dict, "queries": int,
}  # fmt: skip
_POINT = {"reduction": NUMBER, "scale": (*NUMBER, type(None))}
_OF_POINT = {
    "removed": NUMBER, "measures": dict, "full": dict, "scales": (list, dict),
    "posting_bytes": NUMBER, "full_posting_bytes": NUMBER,
}  # fmt: skip
_RULE = {
    "whole_terms": NUMBER, "fixed": NUMBER, "per_token": NUMBER, "factors_at": list,
    "reductions": list, "thresholds": list,
}  # fmt: skip


def check_manifest(
    folder: str | os.PathLike, manifest: Mapping[str, Any], made_by: str, *, by_posting: bool
) -> None:
    """Raise :class:`TdvError` when an entry that anybody relies on is missing or of another type.

    ``by_posting``: whether there is a ``posting_priority``, which needs its rule.
    """
    check_content(folder, manifest, made_by, required=_MANIFEST, optional=_FURTHER)
    check_content(
        folder, manifest["parameters"], made_by, required=dict.fromkeys(("k1", "b", "mu"), NUMBER)
    )
    for point in manifest["points"]:
        check_content(folder, point, made_by, required=_POINT, optional=_OF_POINT)
        for measures in (point.get("measures", {}), point.get("full", {})):
            check_content(folder, measures, made_by, required=dict.fromkeys(measures, NUMBER))
    if manifest.get("lead") is not None:
        lead = dict.fromkeys(FirstPositionBoost._fields, NUMBER)
        check_content(folder, manifest["lead"], made_by, required=lead)
    if by_posting:
        check_content(folder, manifest, made_by, required={"posting_rule": dict})
        check_content(folder, manifest["posting_rule"], made_by, required=_RULE)
