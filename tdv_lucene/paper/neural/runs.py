"""A run re-ranked: its first documents by a re-ranker's scores, the others after them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...errors import TdvError, argument
from ...interruption import check, deferred
from ...matrix.term_document_matrix import TermDocumentMatrix
from ...progress import Progress
from ...simulation.retrieval import find_documents
from . import RANKERS
from .rankers import Ranker, score
from .reading import Reader

CHUNK = 64
"""Documents at once: with twice as many Conv-KNRM takes twice the time, for fresh memory."""

Ranked = list[tuple[str, float]]
"""Document ids with their scores, best first."""

Rankings = dict[str, list[str]]
"""Query id -> document ids, best first."""


def number_documents(
    matrix: TermDocumentMatrix, rankings: Iterable[Sequence[str]], depth: int
) -> dict[str, int]:
    """Return the numbers of the first ``depth`` documents of each ranking, by their ids.

    Raises :class:`TdvError` when the index lacks one.
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


class Reranking(NamedTuple):
    """A re-ranker at work on a run.

    Attributes
    ----------
    asked : query id -> int32[L] terms
    rankings : Rankings
        The first stage's.
    documents : document id -> number
        Of the first ``depth`` of each.
    """

    ranker: Ranker
    reader: Reader
    asked: Mapping[str, np.ndarray]
    rankings: Rankings
    documents: Mapping[str, int]
    depth: int

    def of(self, query: str) -> Ranked:
        """Return one query's documents; none where the first stage found none.

        Documents after the first ``depth`` follow in their order, each a little below the one
        before. Of equal scores the first stage's order decides, and the lower gets the next smaller
        float32: tools would put them in an order of their own.
        """
        found = self.rankings.get(query, [])
        head, tail = found[: self.depth], found[self.depth :]
        if not head:
            return []
        numbers = np.array([self.documents[name] for name in head], np.int64)
        scores = score_documents(self.ranker, self.reader, self.asked[query], numbers)
        order = np.argsort(-scores, kind="stable")
        scores = _falling(scores[order])
        ranked = list(zip((head[i] for i in order), scores.tolist()))
        last = ranked[-1][1]
        return ranked + [(name, last - 1.0 - place) for place, name in enumerate(tail)]

    def of_all(self, name: str, progress: Progress) -> dict[str, Ranked]:
        """Return those of every query, by the re-ranker ``name``."""
        ranked = {}
        with deferred():  # JAX's callbacks bear no exception
            for number, query in enumerate(self.asked, 1):
                ranked[query] = self.of(query)
                progress(f"re-rank by {RANKERS[name]}, queries", number, len(self.asked))
        return ranked


def score_documents(
    ranker: Ranker, reader: Reader, query: np.ndarray, documents: np.ndarray
) -> np.ndarray:
    """Return float32[n]: scores of ``documents`` int[n] for a query int32[L] of term numbers.

    Documents of about the same length share a chunk, so that little padding is computed. A
    document's score depends on neither the others nor their order.
    """
    lengths = reader.lengths(documents)
    order = np.argsort(lengths, kind="stable")
    scores = np.zeros(len(documents), np.float32)
    for first in range(0, len(order), CHUNK):
        check()
        some = order[first : first + CHUNK]
        docs = np.full((1, CHUNK), -1, np.int64)
        docs[0, : len(some)] = documents[some]
        batch = reader.batch(query[None], docs, reader.width(int(lengths[some[-1]])))
        scores[some] = np.asarray(score(ranker, batch))[0, : len(some)]
    return scores


def _falling(scores: np.ndarray) -> np.ndarray:
    """Return float32[n] that falls from each to the next, as near to ``scores`` as can be."""
    scores = scores.copy()
    for i in range(1, len(scores)):
        if scores[i] >= scores[i - 1]:
            scores[i] = np.nextafter(scores[i - 1], np.float32(-np.inf))
    return scores


def format_run(rankings: Mapping[str, Ranked], tag: str) -> str:
    """TREC's lines, with every digit of the scores."""
    return "".join(
        f"{query} Q0 {name} {rank} {score!r} {tag}\n"
        for query, ranked in rankings.items()
        for rank, (name, score) in enumerate(ranked, 1)
    )
