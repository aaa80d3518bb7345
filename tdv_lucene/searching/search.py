"""Stage 6: topics to a TREC run, with Anserini's engine and the parameters the index asks for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..arguments import checked_hits, checked_threads
from ..errors import TdvError
from ..evaluation.topics import read_topics
from ..indexes.record import java_similarity, recorded_parameters
from ..output import Output
from ..progress import Progress, silent

RUN = "run"


def search_index(
    index: str | os.PathLike,
    topics: str | os.PathLike | Mapping[str, str],
    output: str | os.PathLike,
    *,
    model: str = "bm25",
    hits: int = 1000,
    threads: int | None = None,
    k1: float | None = None,
    b: float | None = None,
    mu: float | None = None,
    field: str = "contents",
    overwrite: bool = False,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Search all topics and write the run ``output`` (``qid Q0 docid rank score tag`` lines).

    Queries are Anserini's bags of words; hits, order and scores are those of Pyserini's
    ``LuceneSearcher`` given the returned parameters. ``threads`` defaults to the machine's cores
    and does not change the run. A manifest is written beside the run.

    Returns the parameters used, ``queries``, ``hits`` and ``queries_without_hits``.

    Raises
    ------
    TdvError
        For unreadable topics or index, a parameter out of its range, or an existing output.
    """
    from ..jvm import searcher
    from ..jvm.index import identify

    place = Output.file(output, RUN, inputs=[index, topics], overwrite=overwrite)
    threads = checked_threads(threads)
    hits = checked_hits(hits)
    queries = topics if isinstance(topics, Mapping) else read_topics(topics)
    if not queries:
        raise TdvError("topics hold no query: pass at least one, as {'q1': 'text'}")
    parameters = recorded_parameters(index, model, k1=k1, b=b, mu=mu)
    source = identify(index)
    with place as unfinished:
        found = searcher.write_run(
            index,
            java_similarity(parameters, index),
            field,
            queries,
            hits=hits,
            threads=threads,
            tag=f"tdv-lucene-{model}",
            output=unfinished,
            progress=progress,
        )
        summary = {**parameters.describe(), "field": field, "queries": len(queries), **found}
        place.write_manifest({**summary, "depth": hits, "source": source})
    return summary


def open_searcher(index: str | os.PathLike, model: str = "bm25", **parameters: float) -> Any:
    """A Pyserini ``LuceneSearcher`` on ``index``, set up with what it records.

    That is the parameters and, for an index made with ``--tf similarity``, the term values.

    Use it like any other; ``tfidf``, which Pyserini has not, works too. Parameters given (``k1``,
    ``b``, ``mu``) take precedence. The first call imports Pyserini's search package, which takes
    seconds. Calling ``set_bm25`` or ``set_qld`` on the result replaces both.

    Raises
    ------
    TdvError
        As :func:`recorded_parameters`.
    """
    from ..jvm.searcher import open_pyserini

    chosen = recorded_parameters(index, model, **parameters)
    return open_pyserini(index, java_similarity(chosen, index))
