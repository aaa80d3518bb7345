"""Searching as Java does it: runs, explanations, and Pyserini's searcher with our parameters."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import TdvError
from ..progress import Progress, silent
from ..records import Shards
from ._jobs import java_class, run_job, translate_errors
from ._pyserini import importing_pyserini

_TERMS_AT_ONCE = 1 << 14
_SIMILARITIES = "org.apache.lucene.search.similarities"


def make_similarity(
    model: str, *, k1: float | None = None, b: float | None = None, mu: float | None = None
) -> Any:
    """The Lucene ``Similarity`` of a model, as Anserini makes it; ``tfidf`` is ours."""
    if model == "bm25":
        return java_class(f"{_SIMILARITIES}.BM25Similarity")(k1, b)
    if model == "qld":
        return java_class(f"{_SIMILARITIES}.LMDirichletSimilarity")(mu)
    return java_class("tdvlucene.search.TfIdfSimilarity")()


def weigh_similarity(similarity: Any, index: str | os.PathLike, field: str) -> Any:
    """The same of frequencies multiplied by the values that ``index`` keeps for ``field``.

    Raises
    ------
    TdvError
        When the index keeps none, or has changed since they were written.
    """
    weighted = java_class("tdvlucene.search.WeightedSimilarity")
    with translate_errors():
        return weighted.open(os.fspath(index), field, similarity)


def _topics(topics: Mapping[str, str]) -> str:
    """Topics as the one string our Java classes take: a JSON array of [query id, text]."""
    return json.dumps([[qid, " ".join(text.split())] for qid, text in topics.items()])


def write_run(
    index: str | os.PathLike,
    similarity: Any,
    field: str,
    topics: Mapping[str, str],
    *,
    hits: int,
    threads: int,
    tag: str,
    output: Path,
    feedback: str | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Search all topics and write the TREC run ``output``.

    ``feedback`` expands the queries by ``"rm3"`` or ``"rocchio"``: of field ``contents`` only.

    Returns ``hits`` (int, lines written) and ``queries_without_hits`` (list of query ids).
    """
    job = java_class("tdvlucene.search.SearchJob")(
        os.fspath(index), similarity, field, _topics(topics), hits, threads, tag, str(output)
    )
    if feedback is not None:
        job.expand(feedback)
    return json.loads(run_job(job, progress))


def explain_scores(
    index: str | os.PathLike, similarity: Any, field: str, topics: Mapping[str, str], hits: int
) -> dict[str, list[tuple[str, float, float]]]:
    """Query id -> (document id, score, score by Lucene's ``explain``) of the best ``hits``."""
    explanations = java_class("tdvlucene.search.Explanations")
    with translate_errors():
        text = explanations.of(os.fspath(index), similarity, field, _topics(topics), hits)
    return {qid: [tuple(row) for row in rows] for qid, rows in json.loads(text).items()}


def known_documents(index: str | os.PathLike, doc_ids: Iterable[str]) -> list[str]:
    """Those of the collection's document ids that are in the index."""
    with translate_errors():
        lookup = java_class("tdvlucene.search.DocumentIds")
        return json.loads(lookup.known(os.fspath(index), json.dumps(list(doc_ids))))


def open_pyserini(index: str | os.PathLike, similarity: Any) -> Any:
    """A Pyserini ``LuceneSearcher`` that ranks with ``similarity``.

    Importing it takes seconds: ``pyserini.search.lucene`` imports torch and transformers.

    Raises
    ------
    TdvError
        For shards.
    """
    if isinstance(index, Shards):
        raise TdvError(
            f"Pyserini's searcher opens one folder, not {index}: search them with tdv-lucene"
        )
    with importing_pyserini():
        from pyserini.search.lucene import LuceneSearcher

    searcher = LuceneSearcher(os.fspath(index))
    java_class("tdvlucene.search.SearcherHooks").setSimilarity(searcher.object, similarity)
    return searcher


def time_queries(
    indexes: Sequence[tuple[str | os.PathLike, Any, Path]],
    topics: Mapping[str, str],
    *,
    field: str,
    rounds: int,
    budget_seconds: float,
    seed: int,
    output: Path,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Time the topics on each (index, similarity, run); see ``tdvlucene.search.LatencyJob``.

    Writes int64 nanoseconds [round, mode, index, query], flat, as the ``.npy`` file ``output``.
    Returns ``queries`` (ids, in that order), ``postings_visited`` ([top-10, top-1000, exhaustive]
    [index][query]), ``warmup_rounds``, ``warmup_stable``, ``gc_collections`` and ``gc_ms``.
    """
    job = java_class("tdvlucene.search.LatencyJob")(
        field, _topics(topics), rounds, budget_seconds, seed, str(output)
    )
    for index, similarity, run in indexes:
        job.addIndex(os.fspath(index), similarity, str(run))
    return json.loads(run_job(job, progress))


def count_terms(
    index: str | os.PathLike, field: str, terms: Sequence[str]
) -> dict[str, tuple[int, int]]:
    """Term -> (document frequency, total term frequency), zeros where it is absent."""
    if not terms:
        return {}
    with translate_errors():
        counts = java_class("tdvlucene.search.TermCounts")
        found = json.loads(counts.of(os.fspath(index), field, json.dumps(list(terms))))
    return {term: tuple(counts) for term, counts in zip(terms, found)}


@contextmanager
def every_term(index: str | os.PathLike, field: str) -> Iterator[Iterator[tuple[bytes, int, int]]]:
    """Yield all (term, document frequency, total term frequency), in Lucene's order: of bytes.

    They pass through temporary files that are mapped, so memory does not grow with the index.
    """
    with tempfile.TemporaryDirectory(prefix="tdv-lucene-") as folder:
        with translate_errors():
            java_class("tdvlucene.search.TermCounts").write(os.fspath(index), field, folder)
        names = ("terms", "ends", "counts")
        yield _rows(*(np.load(Path(folder) / f"{name}.npy", mmap_mode="r") for name in names))


def _rows(
    text: np.ndarray, ends: np.ndarray, counts: np.ndarray
) -> Iterator[tuple[bytes, int, int]]:
    start = 0
    for first in range(0, len(ends), _TERMS_AT_ONCE):
        last = min(first + _TERMS_AT_ONCE, len(ends))
        rows = zip(ends[first:last].tolist(), counts.reshape(-1, 2)[first:last].tolist())
        for end, (doc_freq, total) in rows:
            yield text[start:end].tobytes(), doc_freq, total
            start = end


def time_service(
    indexes: Sequence[tuple[str | os.PathLike, Any]],
    topics: Mapping[str, str],
    *,
    field: str,
    hits: int,
    progress: Progress = silent,
) -> dict[str, Any]:
    """``analysis_ms`` and ``stored_fields_ms`` (of each (index, similarity)) a query.

    See ``tdvlucene.search.ServiceTimes``.
    """
    job = java_class("tdvlucene.search.ServiceTimes")(field, _topics(topics), hits)
    for index, similarity in indexes:
        job.addIndex(os.fspath(index), similarity)
    return json.loads(run_job(job, progress))


def measure_throughput(
    indexes: Sequence[tuple[str | os.PathLike, Any]],
    topics: Mapping[str, str],
    *,
    field: str,
    threads: int,
    rounds: int,
    round_seconds: float,
    seed: int,
    progress: Progress = silent,
) -> list[list[float]]:
    """Top-10 queries a second of each (index, similarity) in each round, ``threads`` at once."""
    job = java_class("tdvlucene.search.ThroughputJob")(
        field, _topics(topics), threads, rounds, round_seconds, seed
    )
    for index, similarity in indexes:
        job.addIndex(os.fspath(index), similarity)
    return json.loads(run_job(job, progress))


def describe_java() -> dict[str, str]:
    """Versions of Java and Lucene in use, the heap and the garbage collectors."""
    system = java_class("java.lang.System")
    runtime = java_class("java.lang.Runtime").getRuntime()
    beans = java_class("java.lang.management.ManagementFactory").getGarbageCollectorMXBeans()
    return {
        "java": f"{system.getProperty('java.vm.name')} {system.getProperty('java.version')}",
        "lucene": java_class("org.apache.lucene.util.Version").LATEST.toString(),
        "java_heap_bytes": runtime.maxMemory(),
        "garbage_collectors": ", ".join(beans.get(i).getName() for i in range(beans.size())),
    }
