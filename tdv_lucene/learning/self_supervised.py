"""Topics and judgements made from the index itself, for a collection that has none.

If the index stores text, a document's title (or first sentence) is a query for that document. Else
a pair of terms that occur together more often than by chance is a query for the documents that
have both of them twice or more. Either way the query's own occurrences are taken out of those
documents (frequencies are lowered), but only in the matrix that is learned from. Otherwise the
query would find its own words, and learning how documents are titled would look like learning what
they are about. It is a substitute: the README says how it compares with human judgements.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from ..errors import TdvError, argument
from ..interruption import check
from ..matrix.blocks import blocks, release
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..progress import Progress, silent
from .lowered_matrix import LoweredMatrix

TOPICS = 2000
TITLES, PAIRS = "titles", "pairs"
METHODS = ("auto", TITLES, PAIRS)

_PAIR_MIN_DOC_FREQ = 5
_PAIR_MAX_SHARE = 0.05  # of the documents: a term of more tells nothing
_PAIR_MIN_TOGETHER = 3
_PAIR_MAX_RELEVANT = 50
_RELEVANT_TF = 2


class MadeTopics(NamedTuple):
    """Topics made from an index.

    Attributes
    ----------
    matrix : TermDocumentMatrix
        Without the occurrences that the topics were made of; its vocabulary is the same.
    topics : query id -> index terms
    qrels : query id -> document id -> 1
    method : ``"titles"`` or ``"pairs"``
    """

    matrix: TermDocumentMatrix
    topics: dict[str, list[str]]
    qrels: dict[str, dict[str, int]]
    method: str

    def describe(self) -> dict[str, object]:
        """For a manifest."""
        return {"method": self.method, "topics": len(self.topics)}


def check_method(method: str) -> None:
    """Raise :class:`TdvError` when topics cannot be made in this way."""
    if method not in METHODS:
        raise TdvError(f"no self-supervision by '{method}': choose one of {', '.join(METHODS)}")


def make_topics(
    index: str | os.PathLike,
    matrix: TermDocumentMatrix,
    method: str = "auto",
    *,
    number: int = TOPICS,
    seed: int = 0,
    progress: Progress = silent,
) -> MadeTopics:
    """Make at most ``number`` topics; ``"auto"`` takes titles where the index stores text.

    Raises
    ------
    TdvError
        When there is no such method, or too little in the index to make two topics of.
    """
    check_method(method)
    made = None
    if method != PAIRS:
        try:
            made = topics_of_titles(matrix, _titles(index, progress), number=number, seed=seed)
        except TdvError:
            if method == TITLES:
                raise
    if made is None or (method == "auto" and len(made.topics) < 2):
        made = topics_of_pairs(matrix, number=number, seed=seed)
    if len(made.topics) < 2:
        raise TdvError(
            f"the index gives {len(made.topics)} {made.method} to learn from, at least 2 are "
            f"needed: pass {argument('topics')} and {argument('qrels')}"
        )
    return made


def topics_of_titles(
    matrix: TermDocumentMatrix, titles: Sequence[Sequence[str]], *, number: int, seed: int
) -> MadeTopics:
    """Return a topic for each of ``number`` documents drawn from those that have a title.

    ``titles`` holds the terms of every document's title, in the matrix's order. A document that
    has none of them outside its title is passed over.
    """
    if len(titles) != matrix.shape[1]:
        raise TdvError(
            f"the index stores {len(titles)} texts and has {matrix.shape[1]} documents with a "
            "posting: extract the matrix from this index"
        )
    titled = np.flatnonzero([len(title) > 0 for title in titles])
    drawn = np.random.default_rng(seed).permutation(titled)[:number]
    lowered, topics, qrels = LoweredMatrix(matrix, drawn), {}, {}
    for doc in drawn.tolist():
        found = matrix.vocabulary.find(titles[doc])
        terms, times = np.unique(found[found >= 0], return_counts=True)
        if lowered.take(doc, terms, times):
            name = matrix.doc_ids[doc].decode()
            topics[f"title-{name}"], qrels[f"title-{name}"] = list(titles[doc]), {name: 1}
    return MadeTopics(lowered.matrix(), topics, qrels, TITLES)


def topics_of_pairs(matrix: TermDocumentMatrix, *, number: int, seed: int) -> MadeTopics:
    """Return topics of two terms that occur together in more documents than by chance.

    A document is drawn, then two of its repeated terms of middling frequency. Relevant are the
    documents that have both of them twice or more; one occurrence of each is taken out of them.
    """
    rng = np.random.default_rng(seed)
    doc_freq, documents = np.asarray(matrix.doc_freq), max(1, matrix.doc_count)
    middling = (doc_freq >= _PAIR_MIN_DOC_FREQ) & (doc_freq <= _PAIR_MAX_SHARE * documents)
    drawn = rng.permutation(matrix.shape[1])[: 4 * number]
    lowered, topics, qrels = LoweredMatrix(matrix, None), {}, {}
    for terms in _repeated_terms(matrix, drawn, middling):
        if len(topics) == number:
            break
        if len(terms) < 2:
            continue
        first, second = sorted(rng.choice(terms, 2, replace=False).tolist())
        words = [matrix.vocabulary.terms[t].decode(errors="replace") for t in (first, second)]
        together, twice = _documents_of_both(matrix, first, second)
        by_chance = doc_freq[first] * doc_freq[second] / documents
        few = 0 < len(twice) <= _PAIR_MAX_RELEVANT
        if few and len(together) >= max(_PAIR_MIN_TOGETHER, 2 * by_chance):
            query = f"pair-{first}-{second}"
            topics[query] = words
            qrels[query] = {matrix.doc_ids[d].decode(): 1 for d in twice.tolist()}
            for term in (first, second):
                lowered.lower(term, twice)
    return MadeTopics(lowered.matrix(), topics, qrels, PAIRS)


def _repeated_terms(
    matrix: TermDocumentMatrix, docs: np.ndarray, eligible: np.ndarray
) -> list[np.ndarray]:
    """Return, for each of ``docs``, its eligible terms that it has twice or more."""
    row = np.full(matrix.shape[1], -1, np.int32)
    row[docs] = np.arange(len(docs), dtype=np.int32)
    found_terms, found_rows = [], []
    for first, last in blocks(matrix.indptr):
        check()
        span = slice(matrix.indptr[first], matrix.indptr[last])
        rows = row[matrix.indices[span]]
        chosen = np.flatnonzero((rows >= 0) & (matrix.data[span] >= _RELEVANT_TF))
        terms = np.searchsorted(matrix.indptr, chosen + span.start, side="right") - 1
        keep = eligible[terms]
        found_terms.append(terms[keep])
        found_rows.append(rows[chosen[keep]])
        release(matrix)
    terms, rows = np.concatenate(found_terms), np.concatenate(found_rows)
    order = np.argsort(rows, kind="stable")
    return np.split(terms[order], np.searchsorted(rows[order], np.arange(1, len(docs))))


def _documents_of_both(
    matrix: TermDocumentMatrix, first: int, second: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the documents that have both terms, and those that have both twice or more."""
    (docs, tf), (others, other_tf) = (
        (matrix.indices[span], matrix.data[span])
        for span in (slice(*matrix.indptr[t : t + 2]) for t in (first, second))
    )
    together, here, there = np.intersect1d(docs, others, assume_unique=True, return_indices=True)
    often = (tf[here] >= _RELEVANT_TF) & (other_tf[there] >= _RELEVANT_TF)
    return together, together[often]


class _Titles(Sequence[list[str]]):
    """The terms of titles, a line each of a file; split when asked for."""

    def __init__(self, path: Path) -> None:
        self._text = np.memmap(path, np.uint8, "r")
        self._ends = np.flatnonzero(self._text == ord("\n"))

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, doc: Any) -> Any:
        start = self._ends[doc - 1] + 1 if doc else 0
        return self._text[start : self._ends[doc]].tobytes().decode().split()


def _titles(index: str | os.PathLike, progress: Progress) -> Sequence[list[str]]:
    """Return the terms of every live document's title, in the matrix's order."""
    from ..jvm.index import write_tokens

    with TemporaryDirectory(prefix="tdv-lucene-") as folder:
        lines = Path(folder) / "titles.txt"
        write_tokens(index, lines, progress, only_titles=True)
        return _Titles(lines)
