"""Records in the commit of a pruned index, or of a shard: how it was pruned and is searched.

Entries are called as in :meth:`..plan.FieldPlan.record`, which makes them: those of the searched
field ``tdv.*``, those of others ``tdv.fields.NAME.*``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import TdvError
from ..ranking import ANSERINI_DEFAULTS, ANY_MODEL, MODELS
from ..ranking.parameters import Tiers
from ..source import Source

PREFIX = "tdv."
OTHERS = f"{PREFIX}fields."
CHECKSUM = "plan_sha256"  # in a field's record
SOURCE_PATH = f"{PREFIX}source_path"
SOURCE_VERSION = f"{PREFIX}source_version"  # Java writes it
UPDATES = f"{PREFIX}updates"  # how often the index has followed its source
SEGMENTS = f"{PREFIX}segments"  # those that the record holds of, as Java writes and reads them
SEARCHER = f"{PREFIX}searcher"  # whose defaults the source is searched with: Java reads it again
SHARDS = f"{PREFIX}shards."  # what a shard records of the whole
_OF_EACH_SHARD = (
    "source_commit", "source_path", "source_version", "updates", "reduction", "segments",
    "baked.norms",
)  # fmt: skip


@dataclass(frozen=True)
class ShardRecord:
    """A shard among those it is pruned with."""

    name: str  # of the source's folder, and of the result's
    number: int  # the first is 1
    count: int
    source_commit: str  # of the whole, as whole_identity has it
    one_segment: bool  # it is to have a single segment, which nothing else records


def shard_as_user_data(shard: ShardRecord | None, source: Mapping[str, str]) -> dict[str, str]:
    """Return the entries that say ``shard``; of None, those that take back what the source says of
    one."""
    if shard is None:
        return {key: "" for key in source if key.startswith(SHARDS)}
    return {SHARDS + name: str(value) for name, value in asdict(shard).items()}


def shard_name(user_data: Mapping[str, str]) -> str | None:
    """Return the name of a pruned shard's source; None for what is no pruned shard."""
    return user_data.get(f"{SHARDS}name") or None


def user_data_of_whole(source: Source, parts: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the user data that the whole would have in one commit; of unpruned shards, none.

    ``parts`` are the parts' own, in their order. Raises :class:`TdvError` when some shards were
    pruned and some not, or not all of them together and alike.
    """
    if not source.is_sharded:
        return dict(parts[0])
    pruned = [f"{PREFIX}{CHECKSUM}" in part for part in parts]
    if not any(pruned):
        return {}
    if not all(pruned):
        was, was_not = source.parts[pruned.index(True)], source.parts[pruned.index(False)]
        raise TdvError(f"{was} was pruned and {was_not} was not: prune all shards together")
    shared = []
    for folder, part in zip(source.parts, parts):
        if shard_name(part) is None:
            raise TdvError(
                f"{folder} was pruned by itself, with statistics of its own: prune all shards "
                "together"
            )
        shared.append(_shared(part))
        for key in sorted(shared[0].keys() | shared[-1].keys()):
            first, this = (one.get(key) for one in (shared[0], shared[-1]))
            if first != this:
                raise TdvError(
                    f"{source.parts[0]} and {folder} were not pruned alike (their {key} is {first} "
                    f"and {this}): prune all shards together"
                )
    numbers = [int(part[f"{SHARDS}number"]) for part in parts]
    for folder, number in zip(source.parts, numbers):
        if numbers.count(number) > 1:
            raise TdvError(f"{folder} is there twice: it is shard {number} as another of them is")
    count = int(parts[0][f"{SHARDS}count"])
    if missing := sorted({*range(1, count + 1)} - {*numbers}):
        raise TdvError(
            f"of {count} shards that were pruned together, {len(numbers)} are here; missing is the "
            f"one numbered {missing[0]} when they were pruned: name all of them"
        )
    own, commit = parts[0][f"{PREFIX}source_commit"], parts[0][f"{SHARDS}source_commit"]
    return {
        key: commit if key.endswith("source_commit") and value == own else value
        for key, value in parts[0].items()
        if not key.startswith(SHARDS)
    }


def _shared(part: Mapping[str, str]) -> dict[str, str]:
    """Return the entries that all shards must have alike."""
    own = (f"{SHARDS}name", f"{SHARDS}number")
    return {
        key: value
        for key, value in part.items()
        if key.startswith(PREFIX)
        and key not in own
        and (key.startswith(SHARDS) or not key.endswith(_OF_EACH_SHARD))
    }


@dataclass(frozen=True)
class FieldRecord:
    """The record of a field in the user data, all reading of which goes through here."""

    field: str
    prefix: str  # of the names of its entries
    content: Mapping[str, str]  # without it; empty for a field that counts as it was indexed
    plan_sha256: str | None  # digest of the field's plan; None if it was not pruned
    source_commit: str | None
    model: str | None  # that the TDVs were learned for; ANY_MODEL if they suit any
    version: str | None  # of this package, which pruned the field
    learned_from: str
    tf: str  # "scaled" or "original"
    scale: float  # of the frequencies; 1 where they were kept
    requested_reduction: float | None
    tiers: Tiers | None  # with the field that finds what this one ranks; None for none
    baked: tuple[float, float] | None  # BM25's (k1, b) in the norms; None where they are lengths
    average_length: float | None  # tokens of a document with any, that such norms were made for

    @classmethod
    def of(cls, user_data: Mapping[str, str], field: str | None = None) -> FieldRecord:
        """Read what the user data says of ``field``; None for the field that is searched."""
        first = user_data.get(f"{PREFIX}field", field or "")
        field = first if field is None else field
        prefix = PREFIX if field == first else f"{OTHERS}{field}."
        said = {k.removeprefix(prefix): x for k, x in user_data.items() if k.startswith(prefix)}
        tf, hot, k1 = said.get("tf", "scaled"), said.get("tiers.hot"), said.get("baked.k1")
        return cls(
            field, prefix, said,
            plan_sha256=said.get(CHECKSUM),
            source_commit=said.get("source_commit"),
            model=said.get("model"),
            version=said.get("version"),
            learned_from=said.get("learned_from", ""),
            tf=tf,
            scale=float(said.get("scale") or 1) if tf == "scaled" else 1.0,
            requested_reduction=_number(said, "requested_reduction"),
            tiers=None if hot is None else Tiers(
                field, hot, int(said["tiers.depth"]),
                float(said["tiers.margin"]), float(said["tiers.query_terms"]),
            ),
            baked=None if k1 is None else (float(k1), float(said["baked.b"])),
            average_length=_number(said, "baked.average_length"),
        )  # fmt: skip

    @property
    def is_pruned(self) -> bool:
        return self.plan_sha256 is not None

    @property
    def known_model(self) -> str | None:
        """The ranking function that the TDVs were learned for; None if any, or an unknown one."""
        return self.model if self.model in MODELS else None

    def parameters(
        self, model: str, usual: Mapping[str, float] = ANSERINI_DEFAULTS
    ) -> dict[str, float]:
        """Return a ranking function's recorded parameters, the ``usual`` where there are none."""
        return {
            name: float(self.content.get(f"search.{name}", usual[name]))
            for name in MODELS.get(model, ())
        }

    def learned_for_another(self, model: str | None) -> str | None:
        """Return the model the TDVs were learned for if it is not ``model``, else None."""
        return None if self.model in (None, ANY_MODEL, model) else self.model


def _number(said: Mapping[str, str], name: str) -> float | None:
    found = said.get(name)
    return None if found is None else float(found)


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


def as_user_data(described: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the descriptions of fields, the searched one first, as the commit's user data.

    Nested names are joined by dots. None is left out.
    """
    prefixes = [PREFIX, *(f"{OTHERS}{about['field']}." for about in described[1:])]
    return {
        k: str(v) for prefix, about in zip(prefixes, described) for k, v in _flat(about, prefix)
    }


def _flat(content: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        elif value is not None:
            yield prefix + key, value


def carried_over(user_data: Mapping[str, str], fields: Sequence[str]) -> dict[str, str]:
    """Return what the source recorded of its searched field, under the names of another one, if it
    is not among the ``fields`` pruned now: the field stays as it is."""
    record = FieldRecord.of(user_data)
    if not record.is_pruned or record.field in fields:
        return {}
    of_commit = (OTHERS, SEGMENTS)
    return {
        f"{OTHERS}{record.field}.{name}": said
        for name, said in record.content.items()
        if not (PREFIX + name).startswith(of_commit)
    }


@dataclass(frozen=True)
class WrittenSince:
    """Changes of a pruned folder by another writer, from ``tdvlucene.common.WrittenSegments``."""

    index: str
    did: str  # "appended", "merged" or "changed"
    segments: int  # those that are not as they were written
    documents: int  # of the new ones among these
    fewer: int  # documents that are gone

    @property
    def mixes(self) -> bool:
        """Return whether documents that were not pruned are among the others."""
        return self.did == "appended"

    def __str__(self) -> str:
        """Tell what was done, without what to do about it."""
        deleted = f"deleted {_count(self.fewer, 'document')}" if self.fewer else ""
        segments = _count(self.segments, "segment")
        holding = f"(its own: {segments} with {_count(self.documents, 'document')})"
        did = {
            "appended": f"added documents that were not pruned {holding}",
            "merged": f"merged segments {holding}{deleted and f' and {deleted}'}",
            "changed": deleted or f"changed doc values of {segments}",
        }[self.did]
        return f"since {self.index} was pruned, another writer {did}"

    @property
    def remedy(self) -> str:
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
