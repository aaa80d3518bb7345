"""A run re-ranked: its first documents by a re-ranker's scores, the others after them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ...errors import TdvError, argument
from ...matrix.term_document_matrix import TermDocumentMatrix
from ...simulation.queries import find_documents
from .rankers import Ranker
from .reading import Reader
from .scoring import score_documents

Rankings = dict[str, list[str]]
"""Query id -> document ids, best first."""


def number_documents(
    matrix: TermDocumentMatrix, rankings: Iterable[Sequence[str]], depth: int
) -> dict[str, int]:
    """Return the numbers of the first ``depth`` documents of each ranking, by their ids.

    Raises
    ------
    TdvError
        When the index lacks one.
    """
    wanted = {name for doc_ids in rankings for name in doc_ids[:depth]}
    numbers = find_documents(matrix.doc_ids, wanted)
    missing = wanted - numbers.keys()
    if missing:
        raise TdvError(
            f"the run has the document '{min(missing)}', and the index has not: pass the "
            f"{argument('index')} that was searched"
        )
    return numbers


def read_rankings(run: str) -> Rankings:
    """Read a TREC run: the documents of each query by falling score."""
    from ...evaluation.evaluate import read_run

    frame = read_run(run).sort_values("score", ascending=False, kind="stable")
    grouped = frame.groupby("query", sort=False)["docid"]
    return {query: doc_ids.tolist() for query, doc_ids in grouped}


def rerank(
    ranker: Ranker,
    reader: Reader,
    query: np.ndarray,
    doc_ids: Sequence[str],
    documents: Mapping[str, int],
    depth: int,
) -> list[tuple[str, float]]:
    """Return (document id, score) of a query int32[L], best first; ``documents`` numbers them.

    Documents after the first ``depth`` follow in their order, each a little below the one before.
    Of equal scores the first stage's order decides, and the lower gets the next smaller float32:
    tools would put them in an order of their own.
    """
    head, tail = doc_ids[:depth], doc_ids[depth:]
    if not head:
        return []
    numbers = np.array([documents[name] for name in head], np.int64)
    scores = score_documents(ranker, reader, query, numbers)
    order = np.argsort(-scores, kind="stable")
    scores = _falling(scores[order])
    ranked = list(zip((head[i] for i in order), scores.tolist()))
    last = ranked[-1][1]
    return ranked + [(name, last - 1.0 - place) for place, name in enumerate(tail)]


def _falling(scores: np.ndarray) -> np.ndarray:
    """Return float32[n] that falls from each to the next, as near to ``scores`` as can be."""
    scores = scores.copy()
    for i in range(1, len(scores)):
        if scores[i] >= scores[i - 1]:
            scores[i] = np.nextafter(scores[i - 1], np.float32(-np.inf))
    return scores


def format_run(rankings: Mapping[str, Sequence[tuple[str, float]]], tag: str) -> str:
    """TREC's lines, with every digit of the scores."""
    return "".join(
        f"{query} Q0 {name} {rank} {score!r} {tag}\n"
        for query, ranked in rankings.items()
        for rank, (name, score) in enumerate(ranked, 1)
    )
