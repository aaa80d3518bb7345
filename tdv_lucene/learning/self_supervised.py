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
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from ..errors import TdvError, argument
from ..matrix.norms import has_exact_norms
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..progress import Progress, silent

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
    lowered, topics, qrels = _Lowered(matrix, drawn), {}, {}
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
    lowered, topics, qrels = _Lowered(matrix, None), {}, {}
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
    row = np.full(matrix.shape[1], -1)
    row[docs] = np.arange(len(docs))
    chosen = np.flatnonzero((row[matrix.indices] >= 0) & (matrix.data >= _RELEVANT_TF))
    terms = np.searchsorted(matrix.indptr, chosen, side="right") - 1
    keep = eligible[terms]
    terms, rows = terms[keep], row[matrix.indices[chosen[keep]]]
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


class _Lowered:
    """A matrix with some frequencies lowered; ``docs`` are those looked up term by term."""

    def __init__(self, matrix: TermDocumentMatrix, docs: np.ndarray | None) -> None:
        self._source = matrix
        self._data = np.array(matrix.data)
        self._by_doc = {} if docs is None else self._positions(docs)

    def _positions(self, docs: np.ndarray) -> dict[int, dict[int, int]]:
        """Document -> term -> position of the posting."""
        wanted = np.zeros(self._source.shape[1], bool)
        wanted[docs] = True
        at = np.flatnonzero(wanted[self._source.indices])
        terms = np.searchsorted(self._source.indptr, at, side="right") - 1
        found: dict[int, dict[int, int]] = {int(doc): {} for doc in docs}
        for doc, term, i in zip(self._source.indices[at].tolist(), terms.tolist(), at.tolist()):
            found[doc][term] = i
        return found

    def take(self, doc: int, terms: np.ndarray, times: np.ndarray) -> bool:
        """Take a title out of its document; return False instead if none of it would be left."""
        at = np.array([self._by_doc[doc].get(t, -1) for t in terms.tolist()], np.int64)
        at, times = at[at >= 0], times[at >= 0]
        left = np.maximum(self._data[at] - times, 0)
        if not np.any(left > 0):
            return False
        self._data[at] = left
        return True

    def lower(self, term: int, docs: np.ndarray) -> None:
        """Take one occurrence of a term out of documents that have it."""
        start, end = self._source.indptr[term : term + 2]
        at = start + np.searchsorted(self._source.indices[start:end], docs)
        self._data[at] = np.maximum(self._data[at] - 1, 1)

    def matrix(self) -> TermDocumentMatrix:
        """The matrix as lowered; a term that would lose all its postings keeps them."""
        source = self._source
        left = np.add.reduceat(self._data > 0, source.indptr[:-1], dtype=np.int64)
        for term in np.flatnonzero(left == 0):
            span = slice(*source.indptr[term : term + 2])
            self._data[span] = source.data[span]
            left[term] = span.stop - span.start
        kept = self._data > 0
        data, indices = self._data[kept], np.asarray(source.indices)[kept]
        indptr = np.concatenate([[0], np.cumsum(left)])
        doc_len = np.bincount(indices, data, minlength=source.shape[1]).astype(np.int64)
        return replace(
            source,
            indptr=indptr,
            indices=indices,
            data=data,
            doc_freq=left,
            total_term_freq=np.add.reduceat(data, indptr[:-1], dtype=np.int64),
            doc_len=doc_len,
            norms=doc_len if has_exact_norms(source) else source.norms,
            first_positions=None,  # a title's words would stand where it was
        )


def _titles(index: str | os.PathLike, progress: Progress) -> list[list[str]]:
    """Return the terms of every live document's title, in the matrix's order."""
    from ..jvm.index import write_tokens

    with TemporaryDirectory(prefix="tdv-lucene-") as folder:
        lines = Path(folder) / "titles.txt"
        write_tokens(index, lines, progress, only_titles=True)
        with lines.open(encoding="utf-8", newline="\n") as file:
            return [line.split() for line in file]
