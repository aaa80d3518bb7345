"""What pruning writes into a commit's user data; :mod:`.user_data` reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .shards.record import PREFIX
from .user_data import OTHERS, FieldRecord, prefix_of


def as_user_data(described: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return these descriptions as the commit's user data.

    Entries of the first field, the one searched, are called ``tdv.*``, those of the others
    ``tdv.fields.NAME.*``; nested names are joined by dots.
    """
    first, *others = described
    content = [(PREFIX, first)]
    content += [(prefix_of(about["field"]), about) for about in others]
    return {prefix + name: str(value) for prefix, about in content for name, value in _flat(about)}


def carried_over(user_data: Mapping[str, str], fields: Sequence[str]) -> dict[str, str]:
    """Return what the source recorded of its searched field, if that is not pruned again now.

    The field stays as it is, so its record moves from ``tdv.*`` to ``tdv.fields.NAME.*``.
    """
    record = FieldRecord.of(user_data)
    if record.values_sha256 is None or record.field in fields:
        return {}
    own = {k: v for k, v in record.content.items() if not (PREFIX + k).startswith(OTHERS)}
    return {prefix_of(record.field) + name: value for name, value in own.items()}


def _flat(content: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    pairs = []
    for key, value in content.items():
        if isinstance(value, Mapping):
            pairs += _flat(value, f"{prefix}{key}.")
        else:
            pairs.append((prefix + key, value))
    return pairs
