"""What the commit of a pruned index, or of a shard, records of its pruning and its search.

Entries are called as in :meth:`..plan.FieldPlan.record`, which makes them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import TdvError
from ..ranking import ANSERINI_DEFAULTS, ANY_MODEL, MODELS
from ..ranking.parameters import Tiers
from ..source import Source

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
        Of the whole that is pruned, as :func:`.index.whole_identity` has it.
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


OTHERS = f"{PREFIX}fields."


@dataclass(frozen=True)
class FieldRecord:
    """What an index says of one of its fields: all reading of its user data goes through here.

    Attributes
    ----------
    field : str
    prefix : str
        Of the names of its entries in the user data.
    content : mapping
        Its entries, by the names that :meth:`..plan.FieldPlan.record` gives them; empty for a field
        of which nothing is said, which then counts as it was indexed.
    """

    field: str
    prefix: str
    content: Mapping[str, str]

    @classmethod
    def of(cls, user_data: Mapping[str, str], field: str | None = None) -> FieldRecord:
        """What the user data says of ``field``; None for the field that is searched."""
        first = user_data.get(f"{PREFIX}field", field or "")
        field = first if field is None else field
        prefix = PREFIX if field == first else prefix_of(field)
        content = {
            key.removeprefix(prefix): value
            for key, value in user_data.items()
            if key.startswith(prefix)
        }
        return cls(field, prefix, content)

    @property
    def plan_sha256(self) -> str | None:
        """Digest of the field's :class:`..plan.FieldPlan`; None if it was not pruned."""
        return self.content.get(CHECKSUM)

    @property
    def is_pruned(self) -> bool:
        """Whether the field was pruned."""
        return self.plan_sha256 is not None

    @property
    def source_commit(self) -> str | None:
        """Of the index that was pruned."""
        return self.content.get("source_commit")

    @property
    def model(self) -> str | None:
        """What the TDVs were learned for; ``ANY_MODEL`` if they suit any."""
        return self.content.get("model")

    @property
    def known_model(self) -> str | None:
        """The ranking function that the TDVs were learned for; None if any, or an unknown one."""
        return self.model if self.model in MODELS else None

    @property
    def version(self) -> str | None:
        """Of this package, that pruned it."""
        return self.content.get("version")

    @property
    def learned_from(self) -> str:
        """What the TDVs were learned from, in words."""
        return self.content.get("learned_from", "")

    @property
    def tf(self) -> str:
        """``"scaled"`` or ``"original"``."""
        return self.content.get("tf", "scaled")

    @property
    def scale(self) -> float:
        """What frequencies were multiplied by; 1 where they were kept."""
        return float(self.content.get("scale") or 1) if self.tf == "scaled" else 1.0

    @property
    def requested_reduction(self) -> float | None:
        """What was asked for."""
        asked = self.content.get("requested_reduction")
        return None if asked is None else float(asked)

    @property
    def tiers(self) -> Tiers | None:
        """The field that finds what this one ranks; None where it is searched alone."""
        hot = self.content.get("tiers.hot")
        if hot is None:
            return None
        depth, margin = int(self.content["tiers.depth"]), float(self.content["tiers.margin"])
        return Tiers(self.field, hot, depth, margin)

    @property
    def baked(self) -> tuple[float, float] | None:
        """BM25's (k1, b) that the norms hold; None where norms are lengths."""
        names = ("baked.k1", "baked.b")
        if not all(name in self.content for name in names):
            return None
        k1, b = (float(self.content[name]) for name in names)
        return k1, b

    @property
    def average_length(self) -> float:
        """What norms that hold k1 and b were made for: tokens of a document that has any."""
        return float(self.content["baked.average_length"])

    def parameters(
        self, model: str, usual: Mapping[str, float] = ANSERINI_DEFAULTS
    ) -> dict[str, float]:
        """The recorded ones of a ranking function, the ``usual`` where there are none."""
        return {
            name: float(self.content.get(f"search.{name}", usual[name]))
            for name in MODELS.get(model, ())
        }

    def learned_for_another(self, model: str | None) -> str | None:
        """The model the TDVs were learned for if it is not ``model``, else None."""
        return None if self.model in (None, ANY_MODEL, model) else self.model


def read_records(index: str | os.PathLike[str], user_data: Mapping[str, str]) -> list[FieldRecord]:
    """Return the records of the fields that the last rewrite of ``index`` pruned.

    User data outlives rewrites. A record of an earlier one has another source, and is left out.

    Raises :class:`TdvError` when the index was not pruned.
    """
    first = FieldRecord.of(user_data)
    if not first.is_pruned:
        raise TdvError(
            f"{index} does not say how it was pruned: it was not made by 'tdv-lucene prune', or "
            "its commit was replaced by another writer's"
        )
    names = sorted(
        key.removeprefix(OTHERS).removesuffix(f".{CHECKSUM}")
        for key in user_data
        if key.startswith(OTHERS) and key.endswith(f".{CHECKSUM}")
    )
    others = [FieldRecord.of(user_data, name) for name in names if name != first.field]
    return [first, *(other for other in others if other.source_commit == first.source_commit)]


def prefix_of(field: str) -> str:
    """Of the names of a further field's entries."""
    return f"{OTHERS}{field}."


def as_user_data(described: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return these descriptions as the commit's user data.

    Entries of the first field, the one searched, are called ``tdv.*``, those of the others
    ``tdv.fields.NAME.*``; nested names are joined by dots. None is left out.
    """
    first, *others = described
    content = [(PREFIX, first), *((prefix_of(about["field"]), about) for about in others)]
    return {name: str(value) for prefix, about in content for name, value in _flat(about, prefix)}


def carried_over(user_data: Mapping[str, str], fields: Sequence[str]) -> dict[str, str]:
    """Return what the source recorded of its searched field, if that is not pruned again now.

    The field stays as it is, so its record moves from ``tdv.*`` to ``tdv.fields.NAME.*``.
    """
    record = FieldRecord.of(user_data)
    if not record.is_pruned or record.field in fields:
        return {}
    prefix = prefix_of(record.field)
    own = record.content.items()
    of_commit = (OTHERS, SEGMENTS)
    return {prefix + name: said for name, said in own if not (PREFIX + name).startswith(of_commit)}


def _flat(content: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        elif value is not None:
            yield prefix + key, value


@dataclass(frozen=True)
class WrittenSince:
    """What another writer made of a pruned folder, as ``tdvlucene.common.WrittenSegments`` has it.

    Attributes
    ----------
    index
        The folder.
    did : str
        ``"appended"``, ``"merged"`` or ``"changed"``.
    segments, documents : int
        Those that are not as they were written, and the documents of those that are new.
    fewer : int
        Documents that are gone.
    """

    index: str
    did: str
    segments: int
    documents: int
    fewer: int

    @property
    def mixes(self) -> bool:
        """Whether documents that were not pruned are among the others."""
        return self.did == "appended"

    def __str__(self) -> str:
        """Tell what was done, without what to do about it."""
        deleted = f" and deleted {_count(self.fewer, 'document')}" if self.fewer else ""
        segments = _count(self.segments, "segment")
        holding = f"{segments} with {_count(self.documents, 'document')}"
        return (
            f"since {self.index} was pruned, another writer "
            + {
                "appended": f"added documents that were not pruned (its own: {holding})",
                "merged": f"merged segments (its own: {holding}){deleted}",
                "changed": deleted.removeprefix(" and ") or f"changed doc values of {segments}",
            }[self.did]
        )

    @property
    def remedy(self) -> str:
        """Say what to do about it."""
        again = "'tdv-lucene update' makes it again what its source gives"
        if self.mixes:
            return f"add documents to its source instead; {again}"
        if self.did == "merged":
            return (
                "'tdv-lucene verify' proves it still where documents kept their order; if not, "
                f"{again}, and optimize prunes into one segment"
            )
        return again


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
