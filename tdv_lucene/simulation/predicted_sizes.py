"""The bytes of a whole index at each operating point, predicted from the files of its source."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..indexes.inspection import inspect_index
from ..values.term_values import TermValues


def with_index_bytes(values: TermValues, index: str | os.PathLike[str]) -> TermValues:
    """Return the TDVs with ``index_bytes`` at every point and scale tried, and under ``full``.

    The prediction is for what ``prune --tf scaled`` writes without further flags, in the format of
    the source. Posting lists and dictionary are estimated, and corrected by how the estimate misses
    the source's own; positions are left out; term vectors shrink with the postings; everything else
    stays.
    """
    found = inspect_index(index)
    full = values.manifest["full"]
    fields = {entry["name"]: entry for entry in found["fields"]}
    about = fields.pop(values.vocabulary.field)
    source = full["with_positions"] if "POSITIONS" in about["index_options"] else full
    # No other field has lists to speak of: an id's terms are in one document each.
    alone = all(entry.get("postings", 0) <= entry.get("terms", 0) for entry in fields.values())
    written = found["bytes_by_kind"]["postings"]
    correction = written / max(1, source["posting_bytes"]) if alone else 1.0

    def predict(point: Mapping[str, Any]) -> int:
        return round(_predict(point, source, found["bytes_by_kind"], correction))

    points = []
    for point in values.points:
        scales = [{**e, "index_bytes": predict({**point, **e})} for e in point["scales"]]
        points.append({**point, "index_bytes": predict(point), "scales": scales})
    about_full = {**full, "index_bytes": found["bytes"]}
    return replace(values, manifest={**values.manifest, "points": points, "full": about_full})


def _predict(
    point: Mapping[str, Any],
    source: Mapping[str, Any],
    sizes: Mapping[str, int],
    correction: float,
) -> float:
    """Return the bytes of an index at ``point``, from estimates of its source's lists and terms."""
    changed = {
        "postings": sizes["postings"]
        + correction * (point["posting_bytes"] - source["posting_bytes"]),
        "dictionary": sizes["dictionary"] + point["dictionary_bytes"] - source["dictionary_bytes"],
        "positions": 0,
        "vectors": sizes["vectors"] * (1 - point["removed"]),
    }
    return float(sum(changed.get(kind, size) for kind, size in sizes.items()))
