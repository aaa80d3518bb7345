"""An index in shards, each worked on where it lies, with the statistics of the whole.

A search goes twice to the workers that see the shards: they count the topics' terms, and the counts
are summed here; then they search with the sums and return their best documents, which are merged
here. A few numbers a term travel, then ids and scores; no path of a shard need be visible here.
"""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..analysis import Analysis
from ..arguments import cores
from ..errors import TdvError
from ..jvm.index import hash_ids, inspect
from ..jvm.searcher import (
    Hits,
    OpenSearch,
    Statistics,
    lowered,
    make_similarity,
    open_searched,
    shard_statistics,
)
from ..progress import Progress, silent
from ..ranking import SearchParameters
from ..ranking.parameters import Tiers
from ..source import Part, Source
from ..vocabulary import ByteStrings
from .analysis import FieldAnalysis, analysis_of, refuse_different
from .index import Index, IndexedField, whole_identity
from .inspection import inspect_index
from .parameters import Described, Searcher
from .queries import searchable_topics
from .record import user_data_of_whole
from .workers import Workers, open_workers

_LOOKED_AT = 10_000
_DESCRIBED = ("index_options", "vectors", "norms")
_SUMMED = ("postings", "terms", "segment_terms")


@dataclass(frozen=True, eq=False)
class Look:
    """A worker's report of its shard, opened for one field."""

    identity: dict[str, Any]  # as an Index has it
    user_data: dict[str, str]
    analysed: FieldAnalysis
    weights: bool | None  # whether the frequencies are weights; None without norms
    why_not_anserinis: str
    fields: dict[str, dict[str, str]]  # the indexed ones: in words, what shards must have alike
    ids: np.ndarray  # int64[D]: a hash of each live document's id; none for a search
    statistics: dict[str, Statistics]  # for a search: of the field, and of a hot one


class ShardedIndex(Described):
    """An index in shards, each of which is asked where it lies.

    What users of an :class:`.index.Index` need is here under the same names. ``field`` is the one
    that the shards were opened for; ``commits`` and ``documents_of`` (live ones) are by part, of
    the shards that have it.
    """

    def __init__(
        self, workers: Workers, source: Source, field: str, looks: Mapping[Part, Look]
    ) -> None:
        self.workers, self.source, self.field = workers, source, field
        self.identity = whole_identity(source, [look.identity for look in looks.values()])
        self.user_data = user_data_of_whole(source, [look.user_data for look in looks.values()])
        reasons = [look.why_not_anserinis for look in looks.values()]
        self.searcher = Searcher(min(reasons, key=bool))  # an empty shard has no field
        there = {part: look for part, look in looks.items() if field in look.fields}
        self.commits = {part: str(look.identity["commit"]) for part, look in there.items()}
        self.documents_of = {p: int(look.identity["documents"]) for p, look in there.items()}
        filled = {part: look for part, look in there.items() if self.documents_of[part]}
        analysed = {f"{part}": look.analysed for part, look in (filled or there).items()}
        self.analysed = refuse_different(analysed, "the shards")
        self._weights = [look.weights for look in filled.values() if look.weights is not None]
        self.fields: dict[str, IndexedField] = {}
        for name in {name for look in looks.values() for name in look.fields}:
            norms = {look.fields.get(name, {}).get("norms") for look in looks.values()} - {None}
            self.fields[name] = IndexedField(norms != {"norms none"}, True)
        first, *_ = looks.values()
        self._statistics = {
            name: Statistics.sum([look.statistics[name] for look in looks.values()])
            for name in first.statistics
        }

    def holds_weights(self, field: str) -> bool | None:
        """Return whether the frequencies of the field are weights; None without norms."""
        assert field == self.field
        return all(self._weights) if self._weights else None

    @property
    def network(self) -> dict[str, int]:
        """Bytes sent to workers and received from them until now."""
        return {"sent": self.workers.sent, "received": self.workers.received}

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
        found = self.workers.each(inspect_index, tasks, "look at shards", silent)
        fields: dict[str, dict[str, Any]] = {}
        by_kind = Counter[str]()
        for one in found:
            by_kind.update(one["bytes_by_kind"])
            for about in one["fields"]:
                given = {name: about[name] for name in ("name", "index_options")}
                known = fields.setdefault(about["name"], given)
                for name in (name for name in _SUMMED if name in about):
                    known[name] = known.get(name, 0) + about[name]
        fields[self.field]["terms"] = terms
        sums = {name: sum(one[name] for one in found) for name in ("documents", "deleted", "bytes")}
        return {**sums, "bytes_by_kind": dict(by_kind), "fields": [*fields.values()]}

    def find(
        self, parameters: SearchParameters, topics: Mapping[str, str], hits: int,
        threads: int | None = None, also: Sequence[SearchParameters] = (),
        progress: Progress = silent,
    ) -> Hits:  # fmt: skip
        """Return the best ``hits`` documents of each of the topics that the shards were opened for,
        in one field with their scores by the parameters ``also``.

        In two tiers each shard scores as many documents by the whole field as one index would, and
        those count that the hot field finds first in all of them.

        Raises :class:`TdvError` also when a shard was changed meanwhile.
        """
        (alone, most), *both = _asked_of_each(parameters, hits)
        how = self._how(threads, also)
        found = merge_hits(self._each(_search, alone, topics, most, how, progress), most)
        for tiered, of_each in both:
            assert tiered.tiers is not None
            parts = self._each(_search, tiered, topics, of_each, how, progress)
            scored = merge_hits(parts, of_each * len(parts))  # all of them
            found = merge_tiers(found, scored, tiered.tiers, hits)
        return found

    def _how(self, threads: int | None, also: Sequence[SearchParameters] = ()) -> _How:
        threads = threads or self.workers.threads or cores(None)
        return _How(self.field, self.analysed.analysis, self._statistics, threads, also)

    def _each(
        self, function: Any, parameters: SearchParameters, topics: Mapping[str, str], hits: int,
        how: _How, progress: Progress,
    ) -> list[Any]:  # fmt: skip
        given = parameters, topics, hits, how
        tasks = {part: (commit, *given) for part, commit in self.commits.items()}
        return self.workers.each(function, tasks, "search shards", progress)


@dataclass(frozen=True)
class ShardedSearch:
    """A search of shards, as an :class:`..jvm.searcher.OpenSearch` is one of an open index."""

    index: ShardedIndex
    parameters: SearchParameters

    def in_tiers(self, tiers: Tiers | None) -> ShardedSearch:
        """Return the search of the same shards in ``tiers``; None for the field alone."""
        return replace(self, parameters=self.parameters.in_tiers(tiers))

    def __call__(self, topics: Mapping[str, str], hits: int, progress: Progress = silent) -> Hits:
        """Return so many of the best documents of each topic; see :meth:`ShardedIndex.find`."""
        return self.index.find(self.parameters, topics, hits, progress=progress)

    def visits(self, topics: Mapping[str, str], hits: int) -> tuple[int, int]:
        """Return at how many postings the searches of all shards stop: in finding documents, and in
        ranking by a second tier."""
        how = self.index._how(None)
        counts = [
            count
            for asked, most in _asked_of_each(self.parameters, hits)
            for count in self.index._each(_count_visits, asked, topics, most, how, silent)
        ]
        first, second = (sum(of_each) for of_each in zip(*counts))
        return first, second


def _asked_of_each(parameters: SearchParameters, hits: int) -> list[tuple[SearchParameters, int]]:
    """Return what each shard is asked for, and how many hits. In two tiers first what the hot field
    finds: which of it the whole ranks depends on all shards."""
    tiers = parameters.tiers
    if tiers is None or not tiers.depth:
        return [(parameters, hits)]
    tiers = tiers.for_hits(hits)
    parameters, alone = (parameters.in_tiers(each) for each in (tiers, tiers._replace(depth=0)))
    return [(alone, max(hits, tiers.depth)), (parameters, tiers.depth)]


@contextmanager
def open_index(
    index: str | os.PathLike[str],
    field: str,
    *,
    id_field: str | None = None,
    analysis: Analysis | None = None,
    topics: Mapping[str, str] | None = None,
    output: str | os.PathLike[str] | None = None,
    progress: Progress = silent,
) -> Iterator[Index | ShardedIndex]:
    """Open an index, or shards where they lie, until the ``with`` block ends; one that is open is
    yielded as it is. Workers of a cluster must see where the folder ``output`` is or will be.

    Raises :class:`TdvError` as :meth:`..index.Index.open`, :func:`.workers.open_workers` and
    :func:`look_at_shards`.
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
            yield look_at_shards(workers, source, field, progress, analysis, topics)


def look_at_shards(
    workers: Workers,
    source: Source,
    field: str,
    progress: Progress,
    analysis: Analysis | None = None,
    topics: Mapping[str, str] | None = None,
    hot: Sequence[str] = (),
) -> ShardedIndex:
    """Return the whole of shards: to be searched for ``topics``, or without any for learning and
    pruning. ``hot`` are fields that find documents besides the recorded one.

    Raises :class:`TdvError` when a shard cannot be read, two were not indexed alike, not pruned
    together, are copies, or one records another ``analysis`` than was asked for; without topics
    also when a document is in two.
    """
    tasks = dict.fromkeys(source.parts, (field, analysis, topics, hot))
    looks = dict(zip(source.parts, workers.each(_look, tasks, "look at shards", progress)))
    seen: dict[str, Part] = {}
    for part, look in looks.items():
        if (before := seen.setdefault(look.identity["commit"], part)) != part:
            raise TdvError(
                f"the shards {before} and {part} are copies of one index: name each shard once"
            )
    if not any(field in look.fields for look in looks.values()):
        raise TdvError(f"no shard has a field '{field}': name one of theirs")
    if topics is None:
        filled = {part: look for part, look in looks.items() if len(look.ids)}
        for (first, a), (folder, b) in itertools.pairwise(filled.items()):
            if a.fields.keys() != b.fields.keys():
                raise TdvError(
                    f"the shards were not indexed alike: {first} has the fields "
                    f"{', '.join(sorted(a.fields))}, {folder} has {', '.join(sorted(b.fields))}; "
                    "index them with the same options"
                )
        _refuse_other_kinds(filled, field)
    else:  # one reader of all would refuse this of empty shards, too
        _refuse_other_kinds(looks, field)
    whole = ShardedIndex(workers, source, field, looks)
    _refuse_same_documents(workers, looks, progress)
    return whole


def _require_prunable(folder: str, field: str, lead: bool) -> None:
    """Check one shard, in a worker."""
    with Index.open(folder) as shard:
        shard.require_prunable(field, lead)


def _look(
    folder: str,
    field: str,
    analysis: Analysis | None,
    topics: Mapping[str, str] | None,
    hot: Sequence[str],
) -> Look:
    """Report of one shard, in a worker."""
    with Index.open(folder) as shard:
        analysed = analysis_of(shard, field, analysis)
        weights, why = shard.holds_weights(field), shard.searcher.why_not_anserinis
        of_shard = shard.identity, shard.user_data, analysed, weights, why
        if topics is None:
            return Look(*of_shard, _indexed_fields(shard), hash_ids(shard)[1], {})
        topics = searchable_topics(topics, field, analysed.analysis)
        tiers = shard.record(field).tiers
        found = {
            name: shard_statistics(shard, name, topics, analysed.analysis)
            for name in {field, *hot, *(() if tiers is None else (tiers.hot,))}
        }
        kinds = {name: {"kind": kind} for name, kind in found[field][1].items()}
        statistics = {name: of_field for name, (of_field, _) in found.items()}
        return Look(*of_shard, kinds, np.zeros(0, np.int64), statistics)


def _indexed_fields(shard: Index) -> dict[str, dict[str, str]]:
    """Return how Lucene describes each indexed field; norms only where it has tokens: of nothing,
    they tell nothing."""
    fields = {}
    for one in inspect(shard, None)["fields"]:
        if one["index_options"] != "NONE":
            told = [f"index options {one['index_options']}", f"vectors {one['vectors']}"]
            if one["tokens"]:
                told.append(f"norms {one['norms']}")
            fields[one["name"]] = dict(zip(_DESCRIBED, told))
    return fields


def _refuse_other_kinds(looks: Mapping[Part, Look], field: str) -> None:
    """Refuse shards that have a field of one name, indexed otherwise; a shard may lack it. Norms
    count only of the ``field`` that is worked on."""
    first: dict[tuple[str, str], tuple[Part, str]] = {}
    for part, look in looks.items():
        for name, about in look.fields.items():
            for what, kind in about.items():
                before, known = first.setdefault((name, what), (part, kind))
                if known != kind and (what != "norms" or name == field):
                    raise TdvError(
                        f"the shards were not indexed alike: the field '{name}' has {known} in "
                        f"{before}, {kind} in {part}; index them with the same options"
                    )


def _refuse_same_documents(
    workers: Workers, found: Mapping[Part, Look], progress: Progress
) -> None:
    """Equal hashes are looked at: of a billion ids, two others may share one."""
    own = {part: _distinct(one.ids) for part, one in found.items()}  # twice in one: its matter
    every = np.sort(np.concatenate([*own.values()]))
    suspect = _distinct(every[1:][every[1:] == every[:-1]])[:_LOOKED_AT]
    if not len(suspect):
        return
    tasks = {
        part: (suspect.tolist(),)
        for part, ids in own.items()
        if np.isin(suspect, ids, assume_unique=True).any()
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


def _distinct(numbers: np.ndarray) -> np.ndarray:
    """Return int[n] in order, each once: ``np.unique`` hashes, ten times as slowly for millions."""
    numbers = np.sort(numbers)
    first: np.ndarray = numbers[np.append(True, numbers[1:] != numbers[:-1])[: len(numbers)]]
    return first


def _ids_of(folder: str, hashes: Sequence[int]) -> list[str]:
    """Return the ids that have one of these hashes, in a worker."""
    return hash_ids(folder, hashes)[0]


class _How(NamedTuple):
    """How every shard is searched."""

    field: str
    analysis: Analysis
    statistics: Mapping[str, Statistics]  # of the whole, by field
    threads: int
    also: Sequence[SearchParameters]  # by which what is found is scored, too


def _search(
    folder: str, commit: str, parameters: SearchParameters, topics: Mapping[str, str], hits: int,
    how: _How,
) -> Hits:  # fmt: skip
    """Return the best documents of one shard, in a worker."""
    with _opened(folder, commit, parameters, how) as find:
        return find(topics, hits)


def _count_visits(
    folder: str, commit: str, parameters: SearchParameters, topics: Mapping[str, str], hits: int,
    how: _How,
) -> tuple[int, int]:  # fmt: skip
    """Count what :func:`_search` costs."""
    with _opened(folder, commit, parameters, how) as find:
        return find.visits(topics, hits)


@contextmanager
def _opened(
    folder: str, commit: str, parameters: SearchParameters, how: _How
) -> Iterator[OpenSearch]:
    with Index.open(folder) as shard:
        if shard.commit != commit:  # then the statistics are of other documents
            raise TdvError(f"{folder} was changed while it was searched: run the command again")
        with open_searched(
            shard, make_similarity(parameters), how.field, analysis=how.analysis,
            threads=how.threads, tiers=parameters.tiers, statistics=how.statistics,
            also=map(make_similarity, how.also),
        ) as find:  # fmt: skip
            yield find


def merge_hits(parts: Sequence[Hits], depth: int) -> Hits:
    """Return the best ``depth`` hits of each query.

    Each part holds its own best ``depth``, or all it has, by the same statistics. As in Lucene,
    equal scores are ordered by the bytes of the ids if any part's are, then by the order of the
    parts and within each.
    """
    queries = np.concatenate([np.repeat(np.arange(len(p.counts)), p.counts) for p in parts])
    scores = np.concatenate([part.scores for part in parts])
    first = np.cumsum([0, *(len(part.ids) for part in parts)]).tolist()
    documents = np.concatenate([p.documents + np.int32(at) for p, at in zip(parts, first)])
    ids = ByteStrings.joined([part.ids for part in parts])
    ties_by_id = any(part.ties_by_id for part in parts)
    order = np.lexsort((-scores, queries))  # stable
    found = np.sum([part.counts for part in parts], axis=0)
    if len(order):  # what is worse than a query's last is not looked at any more
        last = np.cumsum(found) - found + np.minimum(found, depth) - 1
        order = order[scores[order] >= np.repeat(scores[order][last], found)]
    if ties_by_id:  # by where the ids that decide are among them all in order
        a, b = order[:-1], order[1:]
        equal = (queries[a] == queries[b]) & (scores[a] == scores[b])
        tied = np.union1d(a[equal], b[equal])
        names = [ids[i] for i in documents[tied].tolist()]
        place = {name: number for number, name in enumerate(sorted(set(names)))}
        places = np.zeros(len(scores), np.int64)
        places[tied] = [place[name] for name in names]
        order = order[np.lexsort((places[order], -scores[order], queries[order]))]
    left = np.bincount(queries[order], minlength=len(found))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(left) - left, left)
    kept = order[rank < depth]
    others = [part.others for part in parts if part.others is not None]
    return Hits(
        np.minimum(found, depth), scores[kept], documents[kept], ids, ties_by_id,
        np.concatenate(others)[kept] if others else None,
    )  # fmt: skip


def merge_tiers(hot: Hits, scored: Hits, tiers: Tiers, hits: int) -> Hits:
    """Return the best hits of two tiers: the candidates of ``hot`` in the order of ``scored``,
    which has them and others with the scores of the whole field, and then the other hot ones, whose
    scores are lowered as ``tdvlucene.search.Tiers`` does."""
    ids = ByteStrings.joined([hot.ids, scored.ids])
    counts, scores, documents = [], [], []
    ends = np.cumsum(hot.counts), np.cumsum(scored.counts)
    names = [*hot.ids], [*scored.ids]
    for end, count, end_of_scored, count_of_scored in zip(
        ends[0].tolist(), hot.counts.tolist(), ends[1].tolist(), scored.counts.tolist()
    ):
        of_hot = hot.documents[end - count : end].tolist()
        depth = tiers.candidates(hot.scores[end - count : end], hits)
        first = {names[0][document] for document in of_hot[:depth]}
        found = [
            (scored.scores[i], len(names[0]) + scored.documents[i])
            for i in range(end_of_scored - count_of_scored, end_of_scored)
            if names[1][scored.documents[i]] in first
        ]
        behind = hot.scores[end - count : end][depth:]
        behind = lowered(behind, found[-1][0]) if found else behind
        best = [*found, *zip(behind, of_hot[depth:])][:hits]
        counts.append(len(best))
        scores += [score for score, _ in best]
        documents += [document for _, document in best]
    return Hits(
        np.array(counts, np.int64), np.array(scores, np.float32), np.array(documents, np.int32),
        ids, hot.ties_by_id,
    )  # fmt: skip
