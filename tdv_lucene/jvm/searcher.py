"""How Java searches and what it looks up: queries, similarities, timing, Pyserini's searcher."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import Analysis
from ..arrays import load_array
from ..errors import TdvError
from ..progress import Progress, silent
from ..ranking import DEFAULT_MODEL, SearchParameters, ranking_function
from ..ranking.parameters import Tiers
from ..source import Source
from ..vocabulary import ByteStrings
from ._jobs import ask, call, java_class, java_index, java_path, run_job
from .analysis import make_analyzer
from .index import written_lucene_version
from .named import importing_pyserini


def make_similarity(parameters: SearchParameters, model: str | None = None) -> Any:
    """The Lucene ``Similarity`` of a model, as Anserini makes it; ``tfidf`` is ours.

    ``model`` is for parameters that name none.
    """
    function = ranking_function(model or parameters.model or DEFAULT_MODEL)
    return java_class(function.java_class)(*(getattr(parameters, n) for n in function.parameters))


def make_tiers(tiers: Tiers | None) -> Any:
    """The tiers to search in as our Java classes take them; None for one field."""
    return None if tiers is None else java_class("tdvlucene.search.Tiers")(*tiers)


def make_queries(topics: Mapping[str, str], field: str, analysis: Analysis) -> Any:
    """Topics as our Java classes take them: with their field, and what analyses them."""
    rows = json.dumps([[qid, " ".join(text.split())] for qid, text in topics.items()])
    return java_class("tdvlucene.search.Queries")(field, make_analyzer(analysis), rows)


def field_bytes(index: str | os.PathLike[str], field: str) -> int:
    """Return the bytes of a field's terms and postings; -1 where its files have others' too."""
    return int(call(java_class("tdvlucene.search.FieldFiles").bytes, java_index(index), field))


def known_documents(index: str | os.PathLike[str], doc_ids: Iterable[str]) -> list[str]:
    """Return those of the document ids that are in the index."""
    known = java_class("tdvlucene.search.DocumentIds").known
    return ask(known, java_index(index), json.dumps(list(doc_ids)))


def stored_texts(
    index: str | os.PathLike[str], field: str, doc_ids: Iterable[str], length: int
) -> dict[str, str]:
    """Document id -> its stored title, else its stored text, cut to ``length`` characters.

    Documents that the index lacks, or of which it stores neither, are left out.
    """
    texts = java_class("tdvlucene.search.DocumentIds").texts
    return ask(texts, java_index(index), field, json.dumps(list(doc_ids)), length)


def open_pyserini(
    index: str | os.PathLike[str], similarity: Any, analysis: Analysis, tiers: Tiers | None = None
) -> Any:
    """A Pyserini ``LuceneSearcher`` that analyses as ``analysis`` and ranks with ``similarity``.

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
    indexes: Sequence[tuple[str | os.PathLike[str], Any, Tiers | None, Path]],
    topics: Mapping[str, str],
    *,
    field: str,
    analysis: Analysis,
    rounds: int,
    budget_seconds: float,
    seed: int,
    output: Path,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Time the topics on each (index, similarity, tiers, run); see ``tdvlucene.search.LatencyJob``.

    Writes int64 nanoseconds [round, mode, index, query], flat, as the ``.npy`` file ``output``.
    Returns ``queries`` (ids, in that order), ``postings_visited`` ([top-10, top-1000, exhaustive]
    [index][query]), ``warmup_rounds``, ``warmup_stable``, ``gc_collections`` and ``gc_ms``.
    """
    job = java_class("tdvlucene.search.LatencyJob")(
        make_queries(topics, field, analysis), rounds, budget_seconds, seed, java_path(output)
    )
    for index, similarity, tiers, run in indexes:
        job.addIndex(java_index(index), similarity, make_tiers(tiers), java_path(run))
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
    with tempfile.TemporaryDirectory(prefix="tdv-lucene-") as folder:
        write = java_class("tdvlucene.search.Dictionary").writePairs
        call(write, java_index(first), java_index(second), field, folder)
        names = ("terms", "ends", "counts")
        text, ends, counted = (load_array(Path(folder) / f"{name}.npy") for name in names)
        yield ByteStrings(text, np.r_[0, ends].astype(np.int64)), counted.reshape(-1, 4)


def describe_java() -> dict[str, str]:
    """Versions of Java and Lucene in use, the heap and the garbage collectors."""
    system = java_class("java.lang.System")
    runtime = java_class("java.lang.Runtime").getRuntime()
    beans = java_class("java.lang.management.ManagementFactory").getGarbageCollectorMXBeans()
    return {
        "java": f"{system.getProperty('java.vm.name')} {system.getProperty('java.version')}",
        "lucene": written_lucene_version(),
        "java_heap_bytes": runtime.maxMemory(),
        "garbage_collectors": ", ".join(beans.get(i).getName() for i in range(beans.size())),
    }
