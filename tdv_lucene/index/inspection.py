"""Stage 1: what an index holds, and which of its fields can be pruned."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..jvm.index import inspect
from ..options import Named, option
from ..progress import Progress, silent
from ..ranking import DEFAULT_MODEL, MODELS
from .analysis import analysis_of
from .index import Index


@dataclass(frozen=True, kw_only=True)
class InspectConfig(Named):
    """Options of :func:`tdv_lucene.inspect_index`."""

    check: bool = option(
        False, "Verify the checksums of all files.  [default: only of indexes up to 512 MiB]"
    )


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
    truncated ones. Options are those of :class:`InspectConfig`, as a config or by name.

    Returns
    -------
    dict
        - ``path``, ``commit``, ``lucene_version`` (of the commit), ``documents`` (live),
          ``deleted`` (soft-deleted ones too), ``locked``, ``user_data``, ``bytes``,
          ``bytes_by_kind``, ``segments``, ``stored_fields``.
        - ``checked``: the number of ``files``, their ``bytes``, and whether ``checksums`` were
          compared.
        - ``fields``, each with its index options, vectors, kind of norms (``default``,
          ``accurate``, ``impact``, ``baked``, ``unknown``, ``unreadable`` or ``none``), what its
          ``frequencies`` are (``counts``, ``weights``, ``likely weights`` or ``features``), counts
          of documents, terms (``segment_terms``: of each segment, summed), postings and tokens
          (Lucene's: deleted documents count), and ``why_not_pruned``, empty where it can be pruned.
        - ``can_be_pruned``: whether any field can; ``why_not``: any other reason against it.
        - ``named_by``: what names documents; ``id_fields``: where they have no ids, which fields
          could.
        - ``defaults``: whose defaults it is searched with and why, unless it records parameters.
        - ``analyses``: how each field that can be searched was analysed, and how that is known
          (see :mod:`.analysis`); empty where a pruned index holds documents that were not pruned.
        - ``notes``: what another writer did to it, ids that are not unique, frequencies that look
          like weights.

    Raises :class:`TdvError` when ``index`` is not an index this Lucene reads, or is damaged; with
    the damaged files.
    """
    config = InspectConfig.of(config, options)
    with Index.open(index, config.id_field, mixed=True) as opened:
        found = {"deleted": opened.deleted, **inspect(opened, config.check or None, progress)}
        fields: list[dict[str, Any]] = found["fields"]
        mixed = "; ".join(str(one) for one in opened.since if one.mixes)
        why_not = found.pop("without_ids") or mixed
        if found["locked"]:
            why_not = "a writer has it open (write.lock): close it, or work on a copy of the folder"
        elif all(field["why_not_pruned"] for field in fields):
            of_texts = [f for f in fields if f["index_options"] not in ("NONE", "DOCS")]
            reasons = [f"{field['name']}: {field['why_not_pruned']}" for field in of_texts]
            why_not = "; ".join(reasons) or "no field holds text with frequencies"
        searched = [
            field["name"]
            for field in fields
            if field.get("tokens", -1) > 0
            and field["index_options"] != "DOCS"
            and field["frequencies"] != "features"
        ]
        is_recorded = bool(opened.record().content)
        return {
            **opened.identity,
            **found,
            "user_data": opened.user_data,
            "defaults": "" if is_recorded else opened.searcher.describe(MODELS[DEFAULT_MODEL]),
            "analyses": {
                name: analysis_of(opened, name).as_dict() for name in searched if not mixed
            },
            "can_be_pruned": not why_not,
            "why_not": why_not,
            "notes": [*(f"{one}: {one.remedy}" for one in opened.since), *_notes(found)],
            "bytes": opened.bytes,
            "bytes_by_kind": opened.bytes_by_kind,
        }


def _notes(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield notes on ids that are not unique, and on frequencies that look like weights."""
    for field in found["fields"]:
        # Deleted documents may have the ids of live ones, and count in a dictionary.
        shared = field.get("documents", 0) - field.get("terms", 0)
        if field["name"] == "id" and not found["deleted"] and shared > 0:
            yield f"{shared:,} documents have the id of another: runs list the best of them only"
        if field.get("frequencies") == "likely weights":
            yield (
                f"the frequencies of {field['name']} look like weights, but it was not indexed "
                "with -impact: they are ranked as counts of words"
            )
