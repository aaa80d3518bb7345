"""What an index records, in its commit's user data, of how it was pruned and is to be searched.

The names of entries stand here, and in :mod:`..pruning.field_description`, which makes them. A fact
that TDVs have too is called as in their manifest (see :mod:`..values.manifest`), except that the
``parameters`` of training are ``k1``, ``b`` and ``mu`` by themselves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import TdvError
from ..jvm.index import read_user_data
from ..ranking import ANSERINI_DEFAULTS, ANY_MODEL, MODELS, SearchParameters
from ..source import Source
from ..store import FORMAT
from .shards.record import CHECKSUM, PREFIX, user_data_of_whole

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
        Its entries, by the names that :func:`describe_field` gives them; empty for a field of
        which nothing is said, which then counts as it was indexed.
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

    @classmethod
    def read(cls, index: str | os.PathLike[str], field: str | None = None) -> FieldRecord:
        """The same of an index's commit; of shards, what they say of the whole."""
        return cls.of(user_data_of(index), field)

    @property
    def values_sha256(self) -> str | None:
        """Of all that decided on the postings; None if the field was not pruned."""
        return self.content.get(CHECKSUM)

    @property
    def vocabulary_sha256(self) -> str | None:
        return self.content.get("vocabulary_sha256")

    @property
    def source_commit(self) -> str | None:
        """Of the index that was pruned."""
        return self.content.get("source_commit")

    @property
    def model(self) -> str | None:
        """What the TDVs were learned for; ``ANY_MODEL`` if they suit any."""
        return self.content.get("model")

    @property
    def version(self) -> str | None:
        """Of this package, that pruned it."""
        return self.content.get("version")

    @property
    def learned_from(self) -> str:
        """What the TDVs were learned from, in words."""
        return self.content.get("learned_from", "")

    @property
    def learned_parameters(self) -> SearchParameters:
        """The ``parameters`` of the TDVs."""
        return SearchParameters().with_values(
            {n: float(self.content[n]) for n in ANSERINI_DEFAULTS if n in self.content}
        )

    @property
    def tf(self) -> str:
        """``"scaled"`` or ``"original"``."""
        return self.content.get("tf", "scaled")

    @property
    def unit(self) -> str:
        """What was dropped: ``"term"`` (whole terms) or ``"posting"``."""
        return self.content.get("unit", "term")

    @property
    def scale(self) -> float:
        """What frequencies were multiplied by; 1 where they were kept."""
        return float(self.content.get("scale") or 1) if self.tf == "scaled" else 1.0

    @property
    def min_doc_freq(self) -> int:
        """Terms in fewer documents were dropped as well."""
        return int(self.content.get("min_doc_freq", 1))

    @property
    def requested_reduction(self) -> float | None:
        """What was asked for."""
        asked = self.content.get("requested_reduction")
        return None if asked is None else float(asked)

    @property
    def baked(self) -> tuple[float, float, float] | None:
        """BM25's (k1, b) that the norms hold, and the average length they were made for; None where
        norms are lengths.
        """
        names = ("baked.k1", "baked.b", "baked.average_length")
        if not all(name in self.content for name in names):
            return None
        k1, b, average_length = (float(self.content[name]) for name in names)
        return k1, b, average_length

    def parameters(
        self, model: str, usual: Mapping[str, float] = ANSERINI_DEFAULTS
    ) -> dict[str, float]:
        """The recorded ones of a ranking function, the ``usual`` where there are none."""
        return {
            name: float(self.content.get(f"search.{name}", usual[name]))
            for name in MODELS.get(model, ())
        }

    def require_current(self, index: str | os.PathLike[str]) -> None:
        """Refuse what a development version pruned, which recorded otherwise."""
        if self.content.get("format") != str(FORMAT):
            raise TdvError(
                f"{index} was pruned by a development version of tdv-lucene ({self.version}): "
                "prune its source again"
            )

    def learned_for_another(self, model: str | None) -> str | None:
        """The model the TDVs were learned for if it is not ``model``, else None."""
        return None if self.model in (None, ANY_MODEL, model) else self.model


def user_data_of(index: str | os.PathLike[str]) -> dict[str, str]:
    """Return the user data of an index's commit; of shards, what it would be in one index.

    Raises :class:`TdvError` also when shards were not pruned together.
    """
    source = Source.of(index)
    return user_data_of_whole(source, [read_user_data(folder) for folder in source.folders_here])


def notes_on_strangers(found: Mapping[str, Mapping[str, Any]], field: str) -> list[str]:
    """Note the indexes that are of another source than the first; of each the ``commit`` and the
    ``user_data``."""
    (first, full), *others = found.items()
    strangers = [f"'{name}'" for name, other in others if _are_unrelated(full, other, field)]
    if not strangers:
        return []
    return [f"not of the same source as '{first}', by their commits: {', '.join(strangers)}"]


def _are_unrelated(one: Mapping[str, Any], other: Mapping[str, Any], field: str) -> bool:
    """Whether an index is recorded as the source of one of the two, and is not the other's."""
    sources = [FieldRecord.of(index["user_data"], field).source_commit for index in (one, other)]
    origins = [{index["commit"], source} for index, source in zip((one, other), sources)]
    return sources != [None, None] and not (origins[0] & origins[1]) - {None}


def read_records(index: str | os.PathLike[str], user_data: Mapping[str, str]) -> list[FieldRecord]:
    """Return the records of the fields that the last rewrite of ``index`` pruned.

    User data outlives rewrites. A record of an earlier one has another source, and is left out.

    Raises :class:`TdvError` when the index was not pruned, or by a development version.
    """
    first = FieldRecord.of(user_data)
    if first.values_sha256 is None:
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
    found = [first, *(other for other in others if other.source_commit == first.source_commit)]
    for record in found:
        record.require_current(index)
    return found


def prefix_of(field: str) -> str:
    """Of the names of a further field's entries."""
    return f"{OTHERS}{field}."


def as_user_data(described: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return these descriptions as the commit's user data.

    Entries of the first field, the one searched, are called ``tdv.*``, those of the others
    ``tdv.fields.NAME.*``; nested names are joined by dots.
    """
    first, *others = described
    content = [(PREFIX, first), *((prefix_of(about["field"]), about) for about in others)]
    return {name: str(value) for prefix, about in content for name, value in _flat(about, prefix)}


def carried_over(user_data: Mapping[str, str], fields: Sequence[str]) -> dict[str, str]:
    """Return what the source recorded of its searched field, if that is not pruned again now.

    The field stays as it is, so its record moves from ``tdv.*`` to ``tdv.fields.NAME.*``.
    """
    record = FieldRecord.of(user_data)
    if record.values_sha256 is None or record.field in fields:
        return {}
    prefix = prefix_of(record.field)
    own = record.content.items()
    return {prefix + name: said for name, said in own if not (PREFIX + name).startswith(OTHERS)}


def _flat(content: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value
