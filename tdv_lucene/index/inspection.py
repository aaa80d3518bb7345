"""Stage 1: what an index holds, and which of its fields can be pruned."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..jvm.index import inspect
from ..progress import Progress, silent
from ..ranking import DEFAULT_MODEL, MODELS
from .analysis import analysis_of
from .config import InspectConfig
from .index import Index
from .record import WrittenSince


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
        (``default``, ``accurate``, ``impact``, ``baked``, ``unknown``, ``unreadable`` or ``none``),
        what its ``frequencies`` are (``counts``, ``weights``, ``likely weights`` or ``features``),
        counts of documents, terms
        (``segment_terms``: of each segment, summed), postings and tokens (Lucene's: deleted
        documents count), and ``why_not_pruned``, empty where it can be pruned. ``can_be_pruned``
        says whether any field can, ``why_not`` gives any other reason against it, such as documents
        without ids. ``named_by`` says what names documents, and ``id_fields``, where they have no
        ids, which fields could, or ``none``. ``defaults`` says whose defaults it is searched with
        and why, unless it records parameters. ``analyses`` has of each field that can be searched
        how it was analysed, and how that is known (see :mod:`.analysis`); empty where a pruned
        index holds documents that were not pruned. ``notes`` tell of those and all else that
        another writer did to it, of ids that are not unique, and of frequencies that look like
        weights.

    Raises
    ------
    TdvError
        When ``index`` is not an index this Lucene reads, or is damaged; with the damaged files.
    """
    config = InspectConfig.of(config, options)
    with Index.open(index, config.id_field, mixed=True) as opened:
        found = {"deleted": opened.deleted, **inspect(opened, config.check or None, progress)}
        why_not = _why_not(found, opened.since)
        del found["without_ids"]
        is_recorded = bool(opened.record().content)
        return {
            **opened.identity,
            **found,
            "user_data": opened.user_data,
            "defaults": "" if is_recorded else opened.searcher.describe(MODELS[DEFAULT_MODEL]),
            "analyses": {} if _mixed(opened.since) else _analyses(opened, found["fields"]),
            "can_be_pruned": not why_not,
            "why_not": why_not,
            "notes": [
                *(f"{one}: {one.remedy}" for one in opened.since),
                *_notes_on_ids(found),
                *_notes_on_weights(found["fields"]),
            ],
            "bytes": opened.bytes,
            "bytes_by_kind": opened.bytes_by_kind,
        }


def _mixed(since: Sequence[WrittenSince]) -> str:
    return "; ".join(str(one) for one in since if one.mixes)


def _why_not(found: dict[str, Any], since: Sequence[WrittenSince]) -> str:
    if found["locked"]:
        return "a writer has it open (write.lock): close it, or work on a copy of the folder"
    if all(field["why_not_pruned"] for field in found["fields"]):
        return "no field of it can be pruned: see the fields"
    return str(found["without_ids"]) or _mixed(since)


def _notes_on_ids(found: Mapping[str, Any]) -> list[str]:
    """Deleted documents may have the ids of live ones, and count in a dictionary."""
    ids: Mapping[str, Any] = next((field for field in found["fields"] if field["name"] == "id"), {})
    shared = ids.get("documents", 0) - ids.get("terms", 0)
    if found["deleted"] or shared <= 0:
        return []
    return [f"{shared:,} documents have the id of another: runs list the best of them only"]


def _notes_on_weights(fields: Sequence[Mapping[str, Any]]) -> list[str]:
    return [
        f"the frequencies of {field['name']} look like weights, but it was not indexed with "
        "-impact: they are ranked as counts of words"
        for field in fields
        if field.get("frequencies") == "likely weights"
    ]


def _analyses(index: Index, fields: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, object]]:
    """Of the fields that queries can be put to."""
    searched = [
        field["name"]
        for field in fields
        if field.get("tokens", -1) > 0
        and field["index_options"] != "DOCS"
        and field["frequencies"] != "features"
    ]
    return {name: analysis_of(index, name).as_dict() for name in searched}
