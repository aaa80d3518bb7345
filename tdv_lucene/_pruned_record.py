"""What an index records, in its commit's user data, of how it was pruned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import __version__
from ._field_rule import checksum
from .values import OperatingPoint, TermValues

PREFIX = "tdv."

_ANSERINI_DEFAULTS = {"k1": 0.9, "b": 0.4, "mu": 1000.0}


def describe_field(
    values: TermValues, point: OperatingPoint, tf: str, source: Mapping[str, Any]
) -> dict[str, Any]:
    """How a field was made, and how it is to be searched."""
    trained = {**_ANSERINI_DEFAULTS, **values.parameters}
    scale = 1.0 if point.scale is None else float(point.scale)
    return {
        "version": __version__,
        "field": values.vocabulary.field,
        "model": values.manifest["model"],
        "learned_from": _learned_from(values),
        "tf": tf,
        "unit": "term" if point.cut is None else "posting",
        "scale": scale,
        **{name: trained[name] for name in _ANSERINI_DEFAULTS},
        "search": {"k1": trained["k1"] * scale, "b": trained["b"], "mu": trained["mu"] * scale},
        "values_sha256": checksum(point),
        "vocabulary_sha256": values.vocabulary.sha256,
        "source_commit": source["commit"],
    }


def user_data(described: Mapping[str, Any]) -> dict[str, str]:
    """The user data that says this: nested names are joined by dots."""
    return {PREFIX + name: str(value) for name, value in _flat(described)}


def _learned_from(values: TermValues) -> str:
    """What supervised the values."""
    made = values.manifest.get("self_supervised")
    if made:
        return f"self-supervised: {made['topics']} {made['method']} of the index, no judgements"
    queries = values.manifest.get("queries")
    return f"{queries} judged queries" if queries else "nothing"


def _flat(content: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    pairs = []
    for key, value in content.items():
        if isinstance(value, Mapping):
            pairs += _flat(value, f"{prefix}{key}.")
        else:
            pairs.append((prefix + key, value))
    return pairs
