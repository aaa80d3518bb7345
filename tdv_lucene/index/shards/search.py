"""Search an index in shards, each by a worker that sees it, with statistics of the whole.

First, workers count the topics' terms in their shards, and the counts are summed here. Then they
search with the sums and return the best documents of each topic, which are merged here. No path of
a shard need be visible here; a few numbers per term travel, then ids and scores.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...analysis import Analysis
from ...arguments import cores
from ...errors import TdvError
from ...jvm.searcher import Hits, Statistics, make_similarity, open_searched, shard_statistics
from ...progress import Progress, silent
from ...ranking import SearchParameters
from ...ranking.parameters import Tiers
from ...source import Part, Source
from ...vocabulary import ByteStrings
from ..analysis import analysis_of, refuse_different
from ..field_analysis import FieldAnalysis
from ..index import Index, whole_identity
from ..parameters import Searcher
from ..queries import searchable_topics
from ..record import FieldRecord, user_data_of_whole
from .survey import refuse_copies
from .workers import Workers, open_workers


@dataclass(frozen=True)
class _Look:
    """A worker's report on its shard."""

    identity: dict[str, Any]
    user_data: dict[str, str]
    analysed: FieldAnalysis
    weights: bool | None  # whether the field holds some
    why_not_anserinis: str
    statistics: dict[str, Statistics]  # by field: of the one that is asked, and of a hot one
    fields: dict[str, str]  # how each was indexed


class FarShards:
    """Shards that workers search; made by :func:`open_far_shards`.

    What searches need of an :class:`..index.index.Index` is here under the same names;
    ``user_data`` is what the whole would have in one commit, ``shards`` their number.
    """

    def __init__(
        self, workers: Workers, source: Source, field: str, looks: Sequence[_Look]
    ) -> None:
        self._workers, self._field = workers, field
        self._commits = {p: look.identity["commit"] for p, look in zip(source.parts, looks)}
        self.shards = len(source.parts)
        self._statistics = {
            name: Statistics.sum([look.statistics[name] for look in looks])
            for name in looks[0].statistics
        }
        found = {str(part): look.analysed for part, look in zip(source.parts, looks)}
        self.analysed = refuse_different(found, "the shards")
        self.identity = whole_identity(source, [look.identity for look in looks])
        self.user_data = user_data_of_whole(source, [look.user_data for look in looks])
        self.source = source
        self.searcher = Searcher.of_shards([look.why_not_anserinis for look in looks])
        self._weights = [look.weights for look in looks if look.weights is not None]

    def __str__(self) -> str:
        return str(self.source)

    def record(self, field: str | None = None) -> FieldRecord:
        """Return the record of a field, or of the one that was pruned."""
        return FieldRecord.of(self.user_data, field)

    def holds_weights(self, field: str) -> bool | None:
        """Return whether the field they were opened for holds weights, if known."""
        assert field == self._field
        return any(self._weights) if self._weights else None

    def find(
        self, parameters: SearchParameters, topics: Mapping[str, str], hits: int,
        threads: int | None = None, progress: Progress = silent,
    ) -> Hits:  # fmt: skip
        """Return the best ``hits`` documents of each of the topics that they were opened for.

        In two tiers each shard scores as many documents by the whole field as one index would, and
        those count that the hot field finds first in all of them.

        Raises :class:`TdvError` also when a shard was changed meanwhile.
        """
        how = topics, threads or self._workers.threads or cores(None), progress
        tiers = parameters.tiers
        if tiers is None or not tiers.depth:
            return merge_hits(self._find(parameters, hits, *how), hits)
        alone, first = parameters.in_tiers(tiers._replace(depth=0)), max(hits, tiers.depth)
        hot = merge_hits(self._find(alone, first, *how), first)
        scored = merge_hits(self._find(parameters, tiers.depth, *how), tiers.depth * self.shards)
        return merge_tiers(hot, scored, tiers, hits)

    def _find(
        self, parameters: SearchParameters, hits: int, topics: Mapping[str, str], threads: int,
        progress: Progress,
    ) -> list[Hits]:  # fmt: skip
        tasks = {
            part: (
                commit, parameters, self._field, self.analysed.analysis, topics,
                self._statistics, hits, threads,
            )
            for part, commit in self._commits.items()
        }  # fmt: skip
        return self._workers.each(_search, tasks, "search shards", progress)


@contextlib.contextmanager
def open_far_shards(
    source: Source, topics: Mapping[str, str], field: str, analysis: Analysis | None,
    progress: Progress,
) -> Iterator[FarShards]:  # fmt: skip
    """Open the shards to search them for these topics.

    Raises :class:`TdvError` when the cluster lacks something, a shard cannot be read, or two are
    copies, were not indexed alike, or not pruned together.
    """
    with open_workers(source) as workers:
        yield look_at_far_shards(workers, source, topics, field, analysis, progress)


def look_at_far_shards(
    workers: Workers, source: Source, topics: Mapping[str, str], field: str,
    analysis: Analysis | None, progress: Progress,
) -> FarShards:  # fmt: skip
    """Return what :func:`open_far_shards` yields, for workers that are there."""
    tasks = dict.fromkeys(source.parts, (field, topics, analysis))
    looks: list[_Look] = workers.each(_look, tasks, "look at shards", progress)
    refuse_copies(source, [look.identity for look in looks])
    _refuse_other_fields(source, looks, field)
    return FarShards(workers, source, field, looks)


def _look(folder: str, field: str, topics: Mapping[str, str], analysis: Analysis | None) -> _Look:
    """Look at one shard, in a worker."""
    with Index.open(folder) as shard:
        analysed = analysis_of(shard, field, analysis)
        topics = searchable_topics(topics, field, analysed.analysis)
        of_field, fields = shard_statistics(shard, field, topics, analysed.analysis)
        statistics, tiers = {field: of_field}, shard.record(field).tiers
        if tiers is not None:
            statistics[tiers.hot], _ = shard_statistics(shard, tiers.hot, topics, analysed.analysis)
        weights = shard.holds_weights(field)
        why = shard.searcher.why_not_anserinis
        return _Look(shard.identity, shard.user_data, analysed, weights, why, statistics, fields)


def _search(
    folder: str, commit: str, parameters: SearchParameters, field: str, analysis: Analysis,
    topics: Mapping[str, str], statistics: Mapping[str, Statistics], hits: int, threads: int | None,
) -> Hits:  # fmt: skip
    """Return the best documents of one shard, in a worker."""
    with Index.open(folder) as shard:
        if shard.commit != commit:  # then the statistics are of other documents
            raise TdvError(f"{folder} was changed while it was searched: run the command again")
        with open_searched(
            shard, make_similarity(parameters), field, analysis=analysis, threads=cores(threads),
            tiers=parameters.tiers, statistics=statistics,
        ) as find:  # fmt: skip
            return find(topics, hits)


def _refuse_other_fields(source: Source, looks: Sequence[_Look], field: str) -> None:
    """Refuse what one reader of all shards would refuse; a shard may lack a field."""
    if not any(field in look.fields for look in looks):
        raise TdvError(f"no shard has a field '{field}': name one of theirs")
    first: dict[str, tuple[Part, str]] = {}
    for part, look in zip(source.parts, looks):
        for name, kind in look.fields.items():
            before, known = first.setdefault(name, (part, kind))
            if known != kind:
                raise TdvError(
                    f"the shards were not indexed alike: the field '{name}' has {known} in "
                    f"{before}, {kind} in {part}; index them with the same options"
                )


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
    ids = ByteStrings.of(name for part in parts for name in part.ids)
    ties_by_id = any(part.ties_by_id for part in parts)
    order = np.lexsort((-scores, queries))  # stable
    if ties_by_id:  # by where the ids that decide are among them all in order
        a, b = order[:-1], order[1:]
        equal = (queries[a] == queries[b]) & (scores[a] == scores[b])
        tied = np.union1d(a[equal], b[equal])
        names = [ids[i] for i in documents[tied].tolist()]
        place = {name: number for number, name in enumerate(sorted(set(names)))}
        places = np.zeros(len(order), np.int64)
        places[tied] = [place[name] for name in names]
        order = np.lexsort((places, -scores, queries))
    found = np.sum([part.counts for part in parts], axis=0)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(found) - found, found)
    kept = order[rank < depth]
    return Hits(np.minimum(found, depth), scores[kept], documents[kept], ids, ties_by_id)


def merge_tiers(hot: Hits, scored: Hits, tiers: Tiers, hits: int) -> Hits:
    """Return the best hits of two tiers: the candidates of ``hot`` in the order of ``scored``,
    which has them and others with the scores of the whole field, and then the other hot ones, whose
    scores are lowered as ``tdvlucene.search.Tiers`` does."""
    ids = ByteStrings.of([*hot.ids, *scored.ids])
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
        rest = [*zip(hot.scores[end - count : end][depth:], of_hot[depth:])]
        if rest and found:
            most = np.nextafter(found[-1][0], np.float32(-np.inf))
            less = rest[0][0] - most
            rest = [(min(most, score - less), document) for score, document in rest]
        best = [*found, *rest][:hits]
        counts.append(len(best))
        scores += [score for score, _ in best]
        documents += [document for _, document in best]
    return Hits(
        np.array(counts, np.int64), np.array(scores, np.float32), np.array(documents, np.int32),
        ids, hot.ties_by_id,
    )  # fmt: skip
