"""What a pruned shard records of the whole it was pruned with, and what all say together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...errors import TdvError
from ...source import Source

PREFIX = "tdv."
"""Of the names in user data that are ours."""
CHECKSUM = "plan_sha256"
"""Of a field's record."""
SOURCE_PATH = f"{PREFIX}source_path"
"""Of the index that was pruned, as :data:`SOURCE_VERSION`, which Java writes."""
SOURCE_VERSION = f"{PREFIX}source_version"
UPDATES = f"{PREFIX}updates"
"""How often an index has followed its source."""
SEGMENTS = f"{PREFIX}segments"
"""The segments that the record holds of, as Java writes and reads them."""

SEARCHER = f"{PREFIX}searcher"
"""Whose defaults the index that was pruned is searched with: Java reads it again."""

SHARDS = f"{PREFIX}shards."
"""Of what a shard records of the whole."""
_OF_ITS_OWN = (
    "source_commit", "source_path", "source_version", "updates", "reduction", "segments",
    "baked.norms",
)  # fmt: skip
"""What each shard has for itself."""


@dataclass(frozen=True)
class ShardRecord:
    """A shard among those it is pruned with.

    Attributes
    ----------
    name : str
        Of the source's folder, and of the result's.
    number, count : int
        The first is 1; of how many.
    source_commit : str
        Of the whole that is pruned, as :func:`..index.whole_identity` has it.
    one_segment : bool
        Whether it is to have a single segment: what nothing else records.
    """

    name: str
    number: int
    count: int
    source_commit: str
    one_segment: bool


def shard_as_user_data(shard: ShardRecord | None, source: Mapping[str, str]) -> dict[str, str]:
    """The entries that say ``shard``; of None, those that take back what the source says of one."""
    if shard is None:
        return {key: "" for key in source if key.startswith(SHARDS)}
    names = ("name", "number", "count", "source_commit", "one_segment")
    return {SHARDS + name: str(getattr(shard, name)) for name in names}


def shard_name(user_data: Mapping[str, str]) -> str | None:
    """The name that a pruned shard's source has; None of what is no such."""
    return user_data.get(f"{SHARDS}name") or None


def user_data_of_whole(source: Source, parts: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The user data that the whole would have in one commit; of shards that were not pruned, none.

    Raises :class:`TdvError` when some were pruned and some not, or not all of them together and
    alike.

    Parameters
    ----------
    parts
        The parts' own, in their order.
    """
    if not source.is_sharded:
        return dict(parts[0])
    pruned = [f"{PREFIX}{CHECKSUM}" in part for part in parts]
    if not any(pruned):
        return {}
    if not all(pruned):
        was, was_not = source.parts[pruned.index(True)], source.parts[pruned.index(False)]
        raise TdvError(f"{was} was pruned and {was_not} was not: prune all shards together")
    for folder, part in zip(source.parts, parts):
        if shard_name(part) is None:
            raise TdvError(
                f"{folder} was pruned by itself, with statistics of its own: prune all shards "
                "together"
            )
    _require_alike(source, list(map(_shared, parts)))
    _require_all(source, parts)
    own, commit = parts[0][f"{PREFIX}source_commit"], parts[0][f"{SHARDS}source_commit"]
    return {
        key: commit if key.endswith("source_commit") and value == own else value
        for key, value in parts[0].items()
        if not key.startswith(SHARDS)
    }


def _require_alike(source: Source, shared: Sequence[Mapping[str, str]]) -> None:
    for folder, one in zip(source.parts, shared):
        for key in sorted(shared[0].keys() | one.keys()):
            if shared[0].get(key) != one.get(key):
                raise TdvError(
                    f"{source.parts[0]} and {folder} were not pruned alike (their {key} is "
                    f"{shared[0].get(key)} and {one.get(key)}): prune all shards together"
                )


def _shared(part: Mapping[str, str]) -> dict[str, str]:
    own = (f"{SHARDS}name", f"{SHARDS}number")
    return {
        key: value
        for key, value in part.items()
        if key.startswith(PREFIX)
        and key not in own
        and (key.startswith(SHARDS) or not key.endswith(_OF_ITS_OWN))
    }


def _require_all(source: Source, parts: Sequence[Mapping[str, str]]) -> None:
    numbers = [int(part[f"{SHARDS}number"]) for part in parts]
    for folder, number in zip(source.parts, numbers):
        if numbers.count(number) > 1:
            raise TdvError(f"{folder} is there twice: it is shard {number} as another of them is")
    count = int(parts[0][f"{SHARDS}count"])
    missing = sorted({*range(1, count + 1)} - {*numbers})
    if missing:
        raise TdvError(
            f"of {count} shards that were pruned together, {len(numbers)} are here; missing is the "
            f"one numbered {missing[0]} when they were pruned: name all of them"
        )
