"""How Java searches and what it looks up: queries, hits, similarities, Pyserini's searcher."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import Analysis
from ..errors import TdvError
from ..progress import Progress, silent
from ..ranking import DEFAULT_MODEL, SearchParameters, ranking_function
from ..ranking.parameters import Tiers
from ..source import Source
from ..vocabulary import ByteStrings
from ._jobs import (
    JavaObject,
    TemporaryArrays,
    ask,
    call,
    java_class,
    java_index,
    java_path,
    run_job,
)
from .analysis import analyze, make_analyzer
from .index import written_lucene_version
from .named import importing_pyserini


def make_similarity(parameters: SearchParameters, model: str | None = None) -> Any:
    """Return the Lucene ``Similarity`` of a model, as Anserini makes it; ``tfidf`` is ours.

    ``model`` is for parameters that name none.
    """
    function = ranking_function(model or parameters.model or DEFAULT_MODEL)
    return java_class(function.java_class)(*(getattr(parameters, n) for n in function.parameters))


def make_tiers(tiers: Tiers | None) -> Any:
    """Return the tiers to search in as our Java classes take them; None for one field."""
    return None if tiers is None else java_class("tdvlucene.search.Tiers")(*tiers)


def make_queries(topics: Mapping[str, str], field: str, analysis: Analysis) -> Any:
    """Return topics as our Java classes take them: with their field, and what analyses them."""
    rows = json.dumps([[qid, " ".join(text.split())] for qid, text in topics.items()])
    return java_class("tdvlucene.search.Queries")(field, make_analyzer(analysis), rows)


def field_bytes(index: str | os.PathLike[str], field: str) -> int:
    """Return the bytes of a field's terms and postings; -1 where its files have others' too."""
    return int(call(java_class("tdvlucene.search.Dictionary").bytes, java_index(index), field))


def known_documents(
    index: str | os.PathLike[str], doc_ids: Iterable[str], passages: bool = False
) -> list[str]:
    """Return those of the document ids that are in the index, or have ``passages`` there."""
    known = java_class("tdvlucene.search.DocumentIds").known
    return ask(known, java_index(index), json.dumps(list(doc_ids)), passages)


def stored_texts(
    index: str | os.PathLike[str], field: str, doc_ids: Iterable[str], length: int,
    passages: bool = False,
) -> dict[str, str]:  # fmt: skip
    """Document id -> its stored title, else its stored text, cut to ``length`` characters; or those
    of one of its ``passages``.

    Documents that the index lacks, or of which it stores neither, are left out.
    """
    texts = java_class("tdvlucene.search.DocumentIds").texts
    return ask(texts, java_index(index), field, json.dumps(list(doc_ids)), length, passages)


_ARRAYS = ("counts", "scores", "others", "documents", "text", "ends")


@dataclass(frozen=True, eq=False)
class Hits:
    """The hits of Q queries, n in all: the first query's, best first, then the second's, and so on.

    Scores are as hits were ranked by, not as runs print them.
    """

    counts: np.ndarray  # int64[Q]: hits of each query
    scores: np.ndarray  # float32[n]
    documents: np.ndarray  # int32[n]: the place of each hit's document in ids
    ids: ByteStrings
    ties_by_id: bool  # equal scores are ordered by id; runs then print them as Anserini does
    others: np.ndarray | None = None  # float32[n, k]: scores by k further ranking functions


def lowered(scores: np.ndarray, last: np.float32) -> np.ndarray:
    """Return float32[n], descending ``scores`` of what comes behind a hit, below the score of this
    ``last``, as ``tdvlucene.search.Tiers`` lowers them."""
    most = np.nextafter(last, np.float32(-np.inf))
    return np.minimum(most, scores - (scores[:1] - most))


def followed(first: Hits, rest: Hits) -> Hits:
    """Return for each query the hits of ``first``, and behind them those of ``rest`` that are not
    among them, by lower scores."""
    ids = ByteStrings.joined([first.ids, rest.ids])
    known = [*first.ids], [*rest.ids]
    scores, documents = [], []
    ends = np.cumsum(first.counts).tolist(), np.cumsum(rest.counts).tolist()
    for at, end, behind, last in zip([0, *ends[0]], ends[0], [0, *ends[1]], ends[1]):
        best = {known[0][document] for document in first.documents[at:end].tolist()}
        left = [i for i in range(behind, last) if known[1][rest.documents[i]] not in best]
        documents += [first.documents[at:end], rest.documents[left] + np.int32(len(known[0]))]
        scores += [first.scores[at:end], rest.scores[left]]
        if at < end:
            scores[-1] = lowered(scores[-1], first.scores[end - 1])
    counts = np.array([*map(len, scores)], np.int64).reshape(-1, 2).sum(axis=1)
    return Hits(counts, np.concatenate(scores), np.concatenate(documents), ids, first.ties_by_id)


@dataclass(frozen=True)
class Statistics:
    """Statistics of a field that its scores depend on; the sums of all shards are the whole's."""

    counts: tuple[int, ...]  # documents, those with the field, tokens, postings; deleted ones count
    terms: dict[str, tuple[int, int]]  # documents with it, occurrences; absent terms are left out

    @classmethod
    def sum(cls, parts: Sequence[Statistics]) -> Statistics:
        """Add up those of all shards."""
        terms: dict[str, tuple[int, int]] = {}
        for part in parts:
            for term, (documents, occurrences) in part.terms.items():
                before = terms.get(term, (0, 0))
                terms[term] = before[0] + documents, before[1] + occurrences
        return cls(tuple(map(sum, zip(*(part.counts for part in parts)))), terms)


def shard_statistics(
    index: str | os.PathLike[str], field: str, topics: Mapping[str, str], analysis: Analysis
) -> tuple[Statistics, dict[str, str]]:
    """Return a shard's statistics of ``field`` and of the topics' terms; and of each of its fields,
    by name, how it was indexed.

    Raises :class:`TdvError` when the index cannot be read or is damaged, or the field has no
    frequencies.
    """
    found = ask(java_class("tdvlucene.search.Statistics").ofShard, java_index(index), field)
    asked = set(chain.from_iterable(analyze(list(topics.values()), field, analysis)))
    counted = count_terms(index, field, list(asked))
    terms = {term: counts for term, counts in counted.items() if counts[0]}
    return Statistics(tuple(found["counts"]), terms), found["fields"]


@dataclass(frozen=True)
class Hit:
    """A document found."""

    document: str
    score: float


@dataclass(frozen=True)
class OpenSearch:
    """A search of an index that is open, by :func:`open_searched`."""

    java: Any
    field: str
    analysis: Analysis
    threads: int
    ties_by_id: bool
    tiers: Tiers | None = None

    def in_tiers(self, tiers: Tiers | None) -> OpenSearch:
        """Return the search of the same open index in ``tiers``; None for the field alone."""
        return replace(self, tiers=tiers)

    def __call__(self, topics: Mapping[str, str], hits: int, progress: Progress = silent) -> Hits:
        """Return so many of the best documents of each topic, in the order of the topics."""
        with TemporaryArrays() as arrays:
            run_job(self._job(topics, hits, arrays.folder), progress)
            counts, scores, others, documents, text, ends = map(arrays.read, _ARRAYS)
        found = np.zeros(documents.max(initial=-1) + 1, bool)
        found[documents] = True
        places = np.cumsum(found, dtype=np.int32) - 1
        ids = ByteStrings(text, np.r_[0, ends].astype(np.int64))
        others = others.reshape(len(scores), len(others) // max(1, len(scores)))
        return Hits(counts, scores, places[documents], ids, self.ties_by_id, others)

    def best(self, query: str, hits: int) -> list[Hit]:
        """Return the best ``hits`` documents of one query."""
        found = self({"typed": query}, hits)
        scores = found.scores.tolist()
        return [Hit(found.ids[at].decode(), score) for at, score in zip(found.documents, scores)]

    def visits(self, topics: Mapping[str, str], hits: int) -> tuple[int, int]:
        """Return at how many postings the searches for all topics stop, without feedback: in
        finding documents, and in ranking by a second tier."""
        first, second = json.loads(run_job(self._job(topics, hits, "")))
        return first, second

    def _job(self, topics: Mapping[str, str], hits: int, folder: str) -> Any:
        queries = make_queries(topics, self.field, self.analysis)
        given = self.java, queries, make_tiers(self.tiers), hits, self.threads, folder
        return java_class("tdvlucene.search.SearchJob")(*given)


@contextmanager
def open_searched(
    index: str | os.PathLike[str],
    similarity: Any,
    field: str,
    *,
    analysis: Analysis,
    threads: int,
    tiers: Tiers | None = None,
    statistics: Mapping[str, Statistics] | None = None,
    feedback: str | None = None,
    also: Iterable[Any] = (),
    progress: Progress = silent,
) -> Iterator[OpenSearch]:
    """Open the last commit of an index, see that it can be searched, and yield its search.

    ``statistics`` are those of the whole that the index is a shard of, with all terms of the
    topics; None for its own. ``feedback`` expands the queries by ``"rm3"`` or ``"rocchio"``: of
    field ``contents`` only. What is found is scored by the similarities ``also``, too.
    """
    given = java_index(index), similarity, make_queries({}, field, analysis)
    with JavaObject("tdvlucene.search.SearchedIndex", *given) as opened:
        java = opened.java
        for name, of in (statistics or {}).items():
            rows = [[term, *map(str, counts)] for term, counts in of.terms.items()]
            java.useStatistics(name, json.dumps(list(map(str, of.counts))), json.dumps(rows))
        if feedback is not None:
            java.feedback = feedback
        for other in also:
            java.alsoScoreBy(other)
        ties_by_id = json.loads(run_job(java, progress))

        yield OpenSearch(java, field, analysis, threads, ties_by_id, tiers)


def query_postings(
    index: str | os.PathLike[str], field: str, terms: Sequence[str], doc_ids: Sequence[str]
) -> tuple[int, dict[str, dict[str, int]]]:
    """Return (documents with any of the terms, document id -> term -> its frequency there, or 0).

    Documents that the index lacks are left out.
    """
    asked = json.dumps(list(terms)), json.dumps(list(doc_ids))
    java = java_class("tdvlucene.search.DocumentIds")
    found = ask(java.postings, java_index(index), field, *asked)
    documents = {doc: dict(zip(terms, tf)) for doc, tf in found["documents"].items()}
    return found["matching"], documents


def open_pyserini(
    index: str | os.PathLike[str], similarity: Any, analysis: Analysis, tiers: Tiers | None = None
) -> Any:
    """Return a Pyserini ``LuceneSearcher`` that analyses as ``analysis`` and ranks with
    ``similarity``.

    Importing it takes seconds: ``pyserini.search.lucene`` imports torch and transformers.

    Raises :class:`TdvError` for shards, and for what a search here refuses.
    """
    if Source.of(index).is_sharded:
        raise TdvError(
            f"Pyserini's searcher opens one folder, not {index}: search them with tdv-lucene"
        )
    call(java_class("tdvlucene.search.Searchable").require, java_index(index), "contents")
    with importing_pyserini():
        from pyserini.search.lucene import LuceneSearcher

    searcher = LuceneSearcher(java_path(index))
    searchable = java_class("tdvlucene.search.Searchable")
    given = java_index(index), searcher.object, similarity, make_tiers(tiers)
    searchable.setSimilarity(*given)
    searcher.set_analyzer(make_analyzer(analysis))
    return searcher


def time_queries(
    indexes: Sequence[tuple[str | os.PathLike[str], Any, Tiers | None]],
    topics: Mapping[str, str],
    *,
    field: str,
    analysis: Analysis,
    rounds: int,
    budget_seconds: float,
    seed: int,
    exhaustive: bool,
    output: Path,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Time the topics on each (index, similarity, tiers); see ``tdvlucene.search.LatencyJob``.

    Writes int64 nanoseconds [round, mode, index, query], flat, as the ``.npy`` file ``output``.
    Returns ``queries`` (ids, in that order), ``warmup_rounds`` and ``warmup_stable``.
    """
    job = java_class("tdvlucene.search.LatencyJob")(
        make_queries(topics, field, analysis), rounds, budget_seconds, seed, exhaustive,
        java_path(output),
    )  # fmt: skip
    for index, similarity, tiers in indexes:
        job.addIndex(java_index(index), similarity, make_tiers(tiers))
    return json.loads(run_job(job, progress))


def count_terms(
    index: str | os.PathLike[str], field: str, terms: Sequence[str]
) -> dict[str, tuple[int, int]]:
    """Term -> (document frequency, total term frequency), zeros where it is absent."""
    if not terms:
        return {}
    count = java_class("tdvlucene.search.Dictionary").of
    found = ask(count, java_index(index), field, json.dumps(list(terms)))
    return {term: tuple(counts) for term, counts in zip(terms, found)}


@contextmanager
def every_pair(
    first: str | os.PathLike[str], second: str | os.PathLike[str], field: str
) -> Iterator[tuple[ByteStrings, np.ndarray]]:
    """Yield all terms of two indexes, in Lucene's order (of bytes), and int64[n, 4]: document and
    total term frequency in the first, and those in the second; zeros where a term is absent.

    They are mapped from temporary files, so memory does not grow with the index.
    """
    with TemporaryArrays() as arrays:
        write = java_class("tdvlucene.search.Dictionary").writePairs
        call(write, java_index(first), java_index(second), field, arrays.folder)
        text, ends, counted = map(arrays.read, ("terms", "ends", "counts"))
        yield ByteStrings(text, np.r_[0, ends].astype(np.int64)), counted.reshape(-1, 4)


def describe_java() -> dict[str, str]:
    """Return versions of Java and Lucene in use, the heap and the garbage collectors."""
    system = java_class("java.lang.System")
    runtime = java_class("java.lang.Runtime").getRuntime()
    beans = java_class("java.lang.management.ManagementFactory").getGarbageCollectorMXBeans()
    return {
        "java": f"{system.getProperty('java.vm.name')} {system.getProperty('java.version')}",
        "lucene": written_lucene_version(),
        "java_heap_bytes": runtime.maxMemory(),
        "garbage_collectors": ", ".join(beans.get(i).getName() for i in range(beans.size())),
    }
