"""Manifests in which one entry is not what it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def changes_of(content: Any) -> Iterator[Any]:
    """The content with one entry of its tables, at any depth, gone or of another type."""
    items = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in list(items)[:12]:
        for other in (None, "text", -1, [], {}, True):
            if other != value:
                yield _with(content, key, other)
        if isinstance(content, dict):
            yield {name: other for name, other in content.items() if name != key}
        if isinstance(value, (dict, list)):
            for changed in changes_of(value):
                yield _with(content, key, changed)


def _with(content: Any, key: Any, value: Any) -> Any:
    if isinstance(content, dict):
        return {**content, key: value}
    return [value if number == key else other for number, other in enumerate(content)]
