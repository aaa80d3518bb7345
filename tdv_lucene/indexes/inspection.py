"""Stage 1: what an index holds, and which of its fields can be pruned."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..jvm.index import identify, inspect
from ..progress import Progress, silent
from ..ranking import DEFAULT_MODEL, MODELS
from ..source import Source, named_by
from .analysis import analysis_of
from .config import InspectConfig
from .search_parameters import Searcher
from .user_data import FieldRecord, user_data_of

FILE_KINDS = {
    "postings": ("doc",),
    "positions": ("pos", "pay"),
    "dictionary": ("tim", "tip", "tmd"),
    "norms": ("nvd", "nvm"),
    "stored": ("fdt", "fdx", "fdm"),
    "vectors": ("tvd", "tvx", "tvm"),
    "doc_values": ("dvd", "dvm"),
    "points": ("kdd", "kdi", "kdm"),
    "knn": ("vec", "vem", "vex", "vemf", "veq", "vemq"),
}
"""File extensions of Lucene 9's codec by what they hold; all others are ``other``."""


def inspect_index(
    index: str | os.PathLike[str],
    config: InspectConfig | None = None,
    *,
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Return what an index is, and refuse one with damaged files.

    Lucene ends each of its files with a checksum. In an index of up to 512 MiB all are compared,
    which takes at most half a second once it is in memory; in a larger one only with ``check``.
    Otherwise only the beginning and end of each file are read, which is enough to find missing and
    truncated ones.

    Parameters
    ----------
    config, options
        An :class:`InspectConfig`, or its options by name: ``check=True`` compares the
        checksums of all files, however large.

    Returns
    -------
    dict
        ``path``, ``commit``, ``lucene_version`` (of the commit), ``documents`` (live), ``deleted``
        (with those that are soft-deleted, which nothing here finds), ``locked``; ``checked``, with
        the number of ``files``, their ``bytes``, and whether ``checksums`` were compared;
        ``segments``, ``fields`` and ``stored_fields`` as lists; ``bytes`` and ``bytes_by_kind``;
        ``user_data`` of the commit. A field has its index options, vectors, kind of norms
        (``default``, ``accurate``, ``impact``, ``unknown`` or ``none``), counts of documents, terms
        (``segment_terms``: of each segment, summed), postings and tokens (Lucene's: deleted
        documents count), and ``why_not_pruned``, empty where it can be pruned. ``can_be_pruned``
        says whether any field can, ``why_not`` gives any other reason against it, such as documents
        without ids. ``named_by`` says what names documents, and ``id_fields``, where they have no
        ids, which fields could, or ``none``. ``defaults`` says whose defaults it is searched with
        and why, unless it records parameters. ``analyses`` has of each field that can be searched
        how it was analysed, and how that is known (see :mod:`.analysis`). ``notes`` tell of ids
        that are not unique.

    Raises
    ------
    TdvError
        When ``index`` is not an index this Lucene reads, or is damaged; with the damaged files.
    """
    config = InspectConfig.of(config, options)
    index = named_by(index, config.id_field)
    found = inspect(index, config.check or None, progress)
    if Source.of(index).is_sharded:
        found |= {**identify(index), "user_data": user_data_of(index)}
    kinds = _by_kind(found.pop("files"))
    why_not = _why_not(found)
    del found["without_ids"]
    searcher = Searcher(found.pop("why_not_anserinis"))
    is_recorded = bool(FieldRecord.of(found["user_data"]).content)
    return {
        "path": Source.of(index).absolute,
        **found,
        "defaults": "" if is_recorded else searcher.describe(MODELS[DEFAULT_MODEL]),
        "analyses": _analyses(index, found["fields"]),
        "can_be_pruned": not why_not,
        "why_not": why_not,
        "notes": _notes_on_ids(found),
        "bytes": sum(kinds.values()),
        "bytes_by_kind": kinds,
    }


def _why_not(found: dict[str, Any]) -> str:
    if found["locked"]:
        return "a writer has it open (write.lock): close it, or work on a copy of the folder"
    if all(field["why_not_pruned"] for field in found["fields"]):
        return "no field of it can be pruned: see the fields"
    return str(found["without_ids"])


def _notes_on_ids(found: Mapping[str, Any]) -> list[str]:
    """Deleted documents may have the ids of live ones, and count in a dictionary."""
    ids: Mapping[str, Any] = next((field for field in found["fields"] if field["name"] == "id"), {})
    shared = ids.get("documents", 0) - ids.get("terms", 0)
    if found["deleted"] or shared <= 0:
        return []
    return [f"{shared:,} documents have the id of another: runs that name one twice are refused"]


def _analyses(
    index: str | os.PathLike[str], fields: Sequence[Mapping[str, Any]]
) -> dict[str, dict[str, object]]:
    """Of the fields that queries can be put to."""
    searched = [
        field["name"]
        for field in fields
        if field.get("tokens", -1) > 0 and field["index_options"] != "DOCS"
    ]
    return {name: analysis_of(index, name).as_dict() for name in searched}


def index_bytes(index: str | os.PathLike[str]) -> dict[str, int]:
    """Return the bytes of an index's files by kind (see :data:`FILE_KINDS`, and ``other``).

    Only files of the last commit count; those inside a compound file count under their own kind.
    """
    return _by_kind(inspect(index, False)["files"])


def bytes_of(index: str | os.PathLike[str]) -> int:
    """Return the bytes of an index's files, as :func:`index_bytes` counts them."""
    return sum(index_bytes(index).values())


def _by_kind(by_extension: dict[str, int]) -> dict[str, int]:
    kind_of = {extension: kind for kind, all_ in FILE_KINDS.items() for extension in all_}
    kinds = dict.fromkeys((*FILE_KINDS, "other"), 0)
    for extension, size in by_extension.items():
        kinds[kind_of.get(extension, "other")] += size
    return kinds
