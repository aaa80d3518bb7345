"""What an index records, in its commit's user data, of how it was pruned and is to be searched.

The names of entries stand here, and in :mod:`..pruning.planning`, which makes them. A fact
that TDVs have too is called as in their manifest (see :mod:`..values.term_values`), except that the
``parameters`` of training are ``k1``, ``b`` and ``mu`` by themselves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..errors import TdvError
from ..ranking import ANSERINI_DEFAULTS, ANY_MODEL, MODELS
from .shards.record import CHECKSUM, PREFIX, SEGMENTS

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


class Identified(Protocol):
    """What tells an index from others: an :class:`.index.Index`."""

    @property
    def commit(self) -> str: ...

    def record(self, field: str | None = None) -> FieldRecord: ...


def notes_on_strangers(found: Mapping[str, Identified], field: str) -> list[str]:
    """Note the indexes that are of another source than the first."""
    (first, full), *others = found.items()
    strangers = [f"'{name}'" for name, other in others if _are_unrelated(full, other, field)]
    if not strangers:
        return []
    return [f"not of the same source as '{first}', by their commits: {', '.join(strangers)}"]


def _are_unrelated(one: Identified, other: Identified, field: str) -> bool:
    """Whether an index is recorded as the source of one of the two, and is not the other's."""
    sources = [index.record(field).source_commit for index in (one, other)]
    origins = [{index.commit, source} for index, source in zip((one, other), sources)]
    return sources != [None, None] and not (origins[0] & origins[1]) - {None}


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
