"""What shards must have in common to be one index, and must not: looked up before any work."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import TdvError
from ...jvm.index import hash_ids, inspect
from ...progress import Progress
from ...source import Part, Source
from ..analysis import analysis_of, refuse_different
from ..field_analysis import FieldAnalysis
from ..index import Index, whole_identity
from ..parameters import Searcher
from ..record import user_data_of_whole
from .workers import Workers

_LOOKED_AT = 10_000
_DESCRIBED = ("index_options", "vectors")


@dataclass(frozen=True, eq=False)
class Survey:
    """What is known of one shard.

    Attributes
    ----------
    identity : dict
        As an :class:`..index.Index` has it.
    fields : dict of dict
        The indexed ones, as Lucene describes them.
    user_data : dict
    analysed : FieldAnalysis
        How the field was analysed.
    ids : int64[D]
        A hash of each live document's id.
    why_not_anserinis : str
    """

    identity: dict[str, Any]
    fields: dict[str, dict[str, Any]]
    user_data: dict[str, str]
    analysed: FieldAnalysis
    ids: np.ndarray
    why_not_anserinis: str


def survey_shards(
    workers: Workers, source: Source, field: str, progress: Progress
) -> tuple[dict[str, Any], Searcher]:
    """Return the identity of the whole and its searcher, or refuse shards that are not one index.

    Raises :class:`TdvError` when a shard cannot be read, two were not indexed alike, two are
    copies, or a document is in two.
    """
    tasks = dict.fromkeys(source.parts, (field,))
    found: list[Survey] = workers.each(_survey, tasks, "look at shards", progress)
    refuse_copies(source, [one.identity for one in found])
    if not any(field in one.fields for one in found):
        raise TdvError(f"no shard has a field '{field}': name one of theirs")
    filled = {part: one for part, one in zip(source.parts, found) if len(one.ids)}
    _refuse_other_fields(filled, field)
    if filled:
        refuse_different({f"{part}": one.analysed for part, one in filled.items()}, "the shards")
    user_data_of_whole(source, [one.user_data for one in found])
    _refuse_same_documents(workers, source, found, progress)
    searcher = Searcher.of_shards([one.why_not_anserinis for one in found])
    return whole_identity(source, [one.identity for one in found]), searcher


def _survey(folder: str, field: str) -> Survey:
    """In a worker."""
    with Index.open(folder) as shard:
        fields = {
            one["name"]: {name: one[name] for name in (*_DESCRIBED, "norms", "tokens")}
            for one in inspect(shard, None)["fields"]
            if one["index_options"] != "NONE"
        }
        analysed, ids = analysis_of(shard, field), hash_ids(shard)[1]
        why = shard.searcher.why_not_anserinis
        return Survey(shard.identity, fields, shard.user_data, analysed, ids, why)


def refuse_copies(source: Source, identities: Sequence[dict[str, Any]]) -> None:
    """Raise :class:`TdvError` when two shards have one commit."""
    seen: dict[str, Part] = {}
    for part, identity in zip(source.parts, identities):
        commit = identity["commit"]
        if commit in seen:
            raise TdvError(f"the shards {seen[commit]} and {part} are copies of one index: "
                           "name each shard once")  # fmt: skip
        seen[commit] = part


def _refuse_other_fields(filled: Mapping[Part, Survey], field: str) -> None:
    """All shards with documents have the first one's fields, of the same kinds."""
    for (first, a), (folder, b) in itertools.pairwise(filled.items()):
        if a.fields.keys() != b.fields.keys():
            raise TdvError(
                f"the shards were not indexed alike: {first} has the fields "
                f"{', '.join(sorted(a.fields))}, {folder} has {', '.join(sorted(b.fields))}; "
                "index them with the same options"
            )
        for name, about in a.fields.items():
            other = b.fields[name]
            both_norms = about["tokens"] and other["tokens"]  # of nothing, norms tell nothing
            for what in (*_DESCRIBED, *(["norms"] if name == field and both_norms else [])):
                if about[what] != other[what]:
                    raise TdvError(
                        f"the shards were not indexed alike: of the field '{name}', {first} has "
                        f"{what.replace('_', ' ')} {about[what]}, {folder} has {other[what]}; "
                        "index them with the same options"
                    )


def _refuse_same_documents(
    workers: Workers, source: Source, found: Sequence[Survey], progress: Progress
) -> None:
    """Equal hashes are looked at: of a billion ids, two others may share one."""
    each = np.concatenate([np.unique(one.ids) for one in found])  # a shard's own are its matter
    hashes, counts = np.unique(each, return_counts=True)
    suspect = hashes[counts > 1][:_LOOKED_AT]
    if not len(suspect):
        return
    tasks = {
        part: (suspect.tolist(),)
        for part, one in zip(source.parts, found)
        if np.isin(suspect, one.ids).any()
    }
    ids_of = workers.each(_ids_of, tasks, "look at shards", progress)
    seen: dict[str, Part] = {}
    for part, ids in zip(tasks, ids_of):
        for name in ids:
            if seen.setdefault(name, part) != part:
                raise TdvError(
                    f"the document '{name}' is in the shards {seen[name]} and {part}: leave one "
                    "of them out, or index the documents again, each in one shard"
                )


def _ids_of(folder: str, hashes: Sequence[int]) -> list[str]:
    """In a worker: the ids that have one of these hashes."""
    return hash_ids(folder, hashes)[0]
