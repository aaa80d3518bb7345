"""An index in shards, each asked where it lies, and what shards must have in common to be one."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...analysis import Analysis
from ...errors import TdvError
from ...jvm.index import hash_ids, inspect
from ...progress import Progress, silent
from ...source import Located, Part, Source
from ..analysis import analysis_of, refuse_different
from ..field_analysis import FieldAnalysis
from ..index import Index, whole_identity
from ..inspection import inspect_index
from ..parameters import Searcher
from ..record import FieldRecord, user_data_of_whole
from .workers import Workers, open_workers

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
    weights : bool or None
        Whether the field's frequencies are weights; None without norms.
    """

    identity: dict[str, Any]
    fields: dict[str, dict[str, Any]]
    user_data: dict[str, str]
    analysed: FieldAnalysis
    ids: np.ndarray
    why_not_anserinis: str
    weights: bool | None = None


class ShardedIndex(Located):
    """An index in shards, each of which is asked where it lies.

    What learning and pruning need of an :class:`..index.Index` is here under the same names.

    Attributes
    ----------
    workers : Workers
    source : Source
    field : str
        The one it was opened for.
    analysed : FieldAnalysis
    has_norms : bool
        Whether the field has some in any shard.
    commits : dict
        Part -> commit, of the shards that have the field.
    documents_of : dict
        Part -> live documents, of the same.
    """

    def __init__(
        self, workers: Workers, source: Source, field: str, found: Sequence[Survey]
    ) -> None:
        self.workers, self.source, self.field = workers, source, field
        self.identity = whole_identity(source, [one.identity for one in found])
        self.user_data = user_data_of_whole(source, [one.user_data for one in found])
        self.searcher = Searcher.of_shards([one.why_not_anserinis for one in found])
        there = {part: one for part, one in zip(source.parts, found) if field in one.fields}
        self.commits = {part: str(one.identity["commit"]) for part, one in there.items()}
        self.documents_of = {part: len(one.ids) for part, one in there.items()}
        filled = {f"{part}": one.analysed for part, one in there.items() if len(one.ids)}
        analysed = filled or {f"{part}": one.analysed for part, one in there.items()}
        self.analysed = refuse_different(analysed, "the shards")
        of_field = [one.fields[field] for one in there.values()]
        self.has_norms = {about["norms"] for about in of_field if about["tokens"]} != {"none"}
        self._weights = [o.weights for o in there.values() if len(o.ids) and o.weights is not None]

    @property
    def commit(self) -> str:
        """What identifies the commits of all shards."""
        return str(self.identity["commit"])

    @property
    def network(self) -> dict[str, int]:
        """Bytes sent to workers and received from them until now."""
        return {"sent": self.workers.sent, "received": self.workers.received}

    def record(self, field: str | None = None) -> FieldRecord:
        """Return what the shards say of a field; None for the field that is searched."""
        return FieldRecord.of(self.user_data, field)

    def holds_weights(self, field: str) -> bool | None:
        """Return whether the frequencies of the field are weights; None without norms."""
        assert field == self.field
        return all(self._weights) if self._weights else None

    def require_prunable(self, field: str, lead: bool = False) -> None:
        """Raise :class:`TdvError` where a shard has a document without an id, or cannot be pruned
        in this field; see :meth:`..index.Index.require_prunable`."""
        self.workers.each(
            _require_prunable, dict.fromkeys(self.commits, (field, lead)), "look at shards", silent
        )

    def inspect(self, terms: int) -> dict[str, Any]:
        """Return what :func:`..inspection.inspect_index` does of sizes, for a field of so many
        different ``terms``."""
        tasks = dict[Part, Sequence[Any]].fromkeys(self.source.parts, ())
        found = self.workers.each(_inspect, tasks, "look at shards", silent)
        fields: dict[str, Any] = {}
        for field in (field for one in found for field in one["fields"]):
            known = fields.setdefault(field["name"], Counter())
            known.update({name: field[name] for name in _SUMMED if name in field})
        fields[self.field]["terms"] = terms
        options = {field["name"]: field["index_options"] for o in found for field in o["fields"]}
        by_kind = Counter[str]()
        for one in found:
            by_kind.update(one["bytes_by_kind"])
        return {
            **{name: sum(one[name] for one in found) for name in ("documents", "deleted", "bytes")},
            "bytes_by_kind": dict(by_kind),
            "fields": [
                {"name": name, "index_options": options[name], **counts}
                for name, counts in fields.items()
            ],
        }


_SUMMED = ("postings", "terms", "segment_terms")


@contextmanager
def open_index(
    index: str | os.PathLike[str],
    field: str,
    *,
    id_field: str | None = None,
    analysis: Analysis | None = None,
    output: str | os.PathLike[str] | None = None,
    progress: Progress = silent,
) -> Iterator[Index | ShardedIndex]:
    """Open an index, or shards where they lie, until the ``with`` block ends; one that is open is
    yielded as it is. Workers of a cluster must see where the folder ``output`` is or will be.

    Raises :class:`TdvError` as :meth:`..index.Index.open`, :func:`.workers.open_workers` and
    :func:`survey_shards`.
    """
    source = Source.of(index).named_by(id_field)
    if isinstance(index, ShardedIndex):
        yield index
    elif isinstance(index, Index) or not source.is_sharded:
        with Index.open(index, id_field) as opened:
            yield opened
    else:
        beside = None if output is None else Path(os.path.abspath(output))
        folder = beside if beside is None or beside.is_dir() else beside.parent
        with open_workers(source, folder) as workers:
            yield survey_shards(workers, source, field, progress, analysis)


def survey_shards(
    workers: Workers,
    source: Source,
    field: str,
    progress: Progress,
    analysis: Analysis | None = None,
) -> ShardedIndex:
    """Return the whole of shards, or refuse shards that are not one index.

    Raises :class:`TdvError` when a shard cannot be read, two were not indexed alike, two are
    copies, a document is in two, or one records another ``analysis`` than was asked for.
    """
    tasks = dict.fromkeys(source.parts, (field, analysis))
    found: list[Survey] = workers.each(_survey, tasks, "look at shards", progress)
    refuse_copies(source, [one.identity for one in found])
    if not any(field in one.fields for one in found):
        raise TdvError(f"no shard has a field '{field}': name one of theirs")
    filled = {part: one for part, one in zip(source.parts, found) if len(one.ids)}
    _refuse_other_fields(filled, field)
    whole = ShardedIndex(workers, source, field, found)
    _refuse_same_documents(workers, source, found, progress)
    return whole


def _require_prunable(folder: str, field: str, lead: bool) -> None:
    """In a worker."""
    with Index.open(folder) as shard:
        shard.require_prunable(field, lead)


def _inspect(folder: str) -> dict[str, Any]:
    """In a worker."""
    return inspect_index(folder)


def _survey(folder: str, field: str, analysis: Analysis | None) -> Survey:
    """In a worker."""
    with Index.open(folder) as shard:
        fields = {
            one["name"]: {name: one[name] for name in (*_DESCRIBED, "norms", "tokens")}
            for one in inspect(shard, None)["fields"]
            if one["index_options"] != "NONE"
        }
        analysed, ids = analysis_of(shard, field, analysis), hash_ids(shard)[1]
        why, weights = shard.searcher.why_not_anserinis, shard.holds_weights(field)
        return Survey(shard.identity, fields, shard.user_data, analysed, ids, why, weights)


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
