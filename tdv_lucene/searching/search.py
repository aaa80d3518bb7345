"""Search topics into a TREC run, with Anserini's engine and the index's own parameters."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..analysis import Analysis
from ..arguments import cores
from ..errors import TdvError
from ..evaluation.runs import Run, join
from ..evaluation.topics import note_on_own_documents, read_topics
from ..index.analysis import FieldAnalysis, analysis_of
from ..index.index import Index
from ..index.parameters import recorded_parameters, warn_of_another_search
from ..index.queries import (
    check_query_terms,
    note_on_nothing_found,
    nothing_found,
    searchable_topics,
    shortened_topics,
)
from ..jvm.searcher import Hits, followed, make_similarity, open_pyserini, open_searched
from ..output import Output
from ..progress import Progress, silent
from ..ranking import SearchParameters
from ..source import Source
from .config import SearchConfig
from .run_lines import Listing, append_run, lower_ties, require_run_names

if TYPE_CHECKING:  # what a cluster needs takes time to import, and few searches have one
    from ..index.sharded import ShardedIndex

_log = logging.getLogger(__name__)

RUN = "run"

HITS_AT_ONCE = 1_000_000
"""Hits held at a time, some 20 bytes each, of an index or of all shards that workers search."""


def search_index(
    index: str | os.PathLike[str],
    topics: str | os.PathLike[str] | Mapping[str, str],
    output: str | os.PathLike[str],
    config: SearchConfig | None = None,
    *,
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Search all topics and write the run ``output`` (``qid Q0 docid rank score tag`` lines).

    Queries are Anserini's bags of words; hits, order and scores are those of Pyserini's
    ``LuceneSearcher`` with the returned parameters. ``threads`` defaults to the machine's cores and
    does not change the run. A manifest is written beside the run. ``model`` None takes the one the
    index was pruned for, or BM25 if it was not pruned. Another model, parameters unlike those it
    records, and queries cut to the number of terms Lucene takes cause warnings in the log.

    ``index`` is a folder, or a :class:`..source.Source` of shards: with a ``scheduler`` each shard
    is searched by a worker that sees it, else all as one reader here. The run is the same. Options
    are those of :class:`SearchConfig`, as a config or by name.

    Returns the parameters used, ``analysis``, ``queries``, ``hits`` and ``queries_without_hits``;
    ``duplicates``, the hits left out because a better one has their id, if there are any; with
    ``query_terms`` also how many different terms a query has on average, before and after.

    Raises :class:`TdvError` for unreadable topics or index, a parameter out of its range, an
    existing output, or an index that has few of the queries' terms, and many by another analysis.
    """
    config = SearchConfig.of(config, options)
    source = Source.of(index).named_by(config.id_field)
    place = Output(
        output, RUN, is_folder=False, inputs=[index, topics], overwrite=config.overwrite,
        made_by="search",
    )  # fmt: skip
    field = config.field
    queries = (
        dict(topics)
        if isinstance(topics, Mapping)
        else read_topics(topics, config.topic_field, config.topic_reader)
    )
    if not queries:
        raise TdvError("topics hold no query: pass at least one, as {'q1': 'text'}")
    if config.feedback is not None and (field != "contents" or source.is_sharded):
        raise TdvError(
            f"{config.feedback} is Anserini's, and searches only the field 'contents', not "
            f"'{field}', and one folder only: leave it out"
        )
    opening: AbstractContextManager[Index | ShardedIndex] = Index.open(index, config.id_field)
    if source.scheduler is not None:
        from ..index.sharded import open_index

        opening = open_index(
            source, field, analysis=config.analysis, topics=queries, progress=progress
        )
    with opening as opened:
        analysed = analysis_of(opened, field, config.analysis)
        queries = searchable_topics(queries, field, analysed.analysis)
        if isinstance(opened, Index):  # with its dictionary
            check_query_terms(opened, field, analysed, queries.values())
        parameters = recorded_parameters(
            opened, config.model, field=field, tier=config.tier, depth=config.depth,
            **config.parameters,
        )  # fmt: skip
        if config.feedback is not None or config.fills(parameters.tiers):
            parameters = parameters.in_tiers(None)
        warn_of_another_search(opened, parameters, opened.record(field))
        asked: dict[str, float] = {}
        if config.query_terms is not None:
            queries, asked = shortened_topics(
                queries, config.query_terms, parameters, field, analysed.analysis
            )
        found = search_with(
            opened, queries, place, parameters, hits=config.hits, threads=config.threads,
            field=field, analysed=analysed, feedback=config.feedback, tag=config.tag,
            listing=config.listing, more=asked, progress=progress,
        )  # fmt: skip
        for note in found.notes(f"{index}", config.remove_query):
            _log.warning("%s", note)
        if len(found.summary["queries_without_hits"]) == len(queries):
            if isinstance(opened, Index):
                note = note_on_nothing_found(opened, field, analysed, queries.values())
            else:
                note = nothing_found(field, source)
            _log.warning("%s", note)
    return found.summary


class Searched(NamedTuple):
    """The summary of a search, the run of each batch if it was kept in memory, and what
    :class:`.run_lines.Listed` counts."""

    summary: dict[str, Any]
    kept: list[Run]
    duplicates: int
    own_first: list[str]

    def run(self) -> Run:
        """Return the run that was written, if the search kept it."""
        return join(self.kept)

    def notes(
        self,
        what: str,
        removed: bool,
        qrels: Mapping[str, Mapping[str, int]] = MappingProxyType({}),
    ) -> list[str]:
        """Return warnings of ids that came twice in ``what``, and of queries that find themselves
        where that is not judged relevant; ``removed`` tells whether those were left out."""
        own = [qid for qid in self.own_first if qrels.get(qid, {}).get(qid, 0) <= 0]
        note = note_on_own_documents(len(own), self.summary["queries"], removed)
        told = [note] if note else []
        if self.duplicates:
            told.insert(
                0,
                f"{self.duplicates:,} hits of {what} have the id of a better one and were left "
                "out: give each document an id of its own",
            )
        return told


def search_with(
    index: Index | ShardedIndex, queries: Mapping[str, str], place: Output,
    parameters: SearchParameters, *, hits: int, threads: int | None = None, field: str,
    analysed: FieldAnalysis, feedback: str | None = None, tag: str | None = None,
    listing: Listing = Listing(),  # noqa: B008 - frozen
    more: Mapping[str, Any] | None = None, keep_run: bool = False, first: int = 0,
    progress: Progress = silent,
) -> Searched:  # fmt: skip
    """Search as :func:`search_index` does, with checked parameters and output.

    Far shards take no feedback. ``more`` is added to the summary. Unless the run is kept, memory
    does not grow with the queries. In two tiers, a search for few hits ranks fewer documents than
    one for many: the ``first`` so many are those of a search for them alone.
    """
    if tag is None:
        tag = "-".join(filter(None, ("tdv-lucene", parameters.model, feedback)))
    kept: list[Run] = []
    found: dict[str, Any] = {"hits": 0, "queries_without_hits": []}
    duplicates, own_first = 0, list[str]()
    with place as unfinished:
        require_run_names(queries, tag)
        opened: AbstractContextManager[Callable[..., Hits]]
        if isinstance(index, Index):
            shards = 1
            opened = open_searched(
                index, make_similarity(parameters), field, analysis=analysed.analysis,
                tiers=parameters.tiers, threads=cores(threads), feedback=feedback,
                progress=progress,
            )  # fmt: skip
        else:
            shards = len(index.source.parts)
            opened = nullcontext(partial(index.find, parameters, threads=threads))
        with opened as find:
            # Each shard sends its own best hits.
            at_once = max(1, HITS_AT_ONCE // (hits * shards))
            for batch, best in _find_in_batches(find, queries, hits, at_once, progress):
                if first and parameters.tiers is not None and parameters.tiers.depth:
                    best = followed(find(batch, first), best)
                if best.ties_by_id:  # before any is left out, as Anserini does
                    best = replace(best, scores=lower_ties(best.scores, best.counts))
                listed = listing.of(best, batch)
                duplicates += listed.duplicates
                own_first += listed.own_first
                told, printed = append_run(listed.hits, [*batch], unfinished, tag)
                found = {name: before + told[name] for name, before in found.items()}
                if keep_run:
                    kept.append(Run.of_hits(list(batch), listed.hits, printed))
        summary = {
            **parameters.describe(),
            **({"defaults": parameters.defaults} if parameters.defaults else {}),
            **({} if feedback is None else {"feedback": feedback}),
            "field": field,
            "analysis": analysed.describe(),
            "queries": len(queries),
            **(more or {}),
            **found,
            **({"duplicates": duplicates} if duplicates else {}),
        }
        place.write_manifest({**summary, "depth": hits, "source": index.identity})
    return Searched(summary, kept, duplicates, own_first)


def _find_in_batches(
    find: Callable[..., Hits],
    topics: Mapping[str, str],
    hits: int,
    at_once: int,
    progress: Progress,
) -> Iterator[tuple[dict[str, str], Hits]]:
    for first in range(0, len(topics), at_once):
        batch = dict(islice(topics.items(), first, first + at_once))

        def advance(
            label: str, done: int, total: int, at: int = first, of: int = len(batch)
        ) -> None:
            progress(label, at + done * of // max(1, total), len(topics))

        yield batch, find(batch, hits, progress=advance)


def open_searcher(
    index: str | os.PathLike[str],
    model: str | None = None,
    *,
    analysis: Analysis | None = None,
    tier: str = "both",
    depth: int | None = None,
    **parameters: Any,
) -> Any:
    """Return a Pyserini ``LuceneSearcher`` on ``index``, with the parameters it records.

    It ranks by the model that the TDVs were learned for (any other ``model`` causes a warning in
    the log) and analyses queries as the index was analysed, or by ``analysis``. Parameters given
    (``k1``, ``b``, ``mu``) take precedence.

    An index in two tiers is searched in both, unless one ``tier`` (``"hot"``, ``"whole"``) or
    another ``depth`` is asked for; queries that are no bag of words of the whole field ask that
    field alone.

    Use it like any other; ``tfidf``, which Pyserini lacks, works too. The first call imports
    Pyserini's search package, which takes seconds. Calling ``set_bm25`` or ``set_qld`` on the
    result replaces model and parameters.

    Raises :class:`TdvError` as :func:`recorded_parameters`.
    """
    if "field" in parameters:
        raise TdvError(
            "Pyserini's searcher asks the field 'contents': leave out field, or use search_index"
        )
    with Index.open(index) as opened:
        chosen = recorded_parameters(opened, model, tier=tier, depth=depth, **parameters)
        warn_of_another_search(opened, chosen, opened.record())
        analysed = analysis_of(opened, asked=analysis)
        how = make_similarity(chosen), analysed.analysis, chosen.tiers
        return open_pyserini(opened, *how)
