"""Queries as arrays of term and document numbers, with judgements or with their first answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import TdvError, argument
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..vocabulary import ByteStrings

_Record = tuple[str, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Of one query: id, terms, tf, judged documents, grades, ideal grades."""


@dataclass(frozen=True, eq=False)
class Queries:
    """``Q`` judged queries with at least one relevant document in the index.

    Attributes
    ----------
    ids : tuple of Q str
    indptr : int64[Q + 1], terms : int32[indptr[-1]], tf : float32[indptr[-1]]
        The distinct vocabulary terms of each query, and how often each occurs in it. A term that
        the index lacks is left out, so a query may be empty.
    judged_indptr : int64[Q + 1], judged_docs, grades : int32[judged_indptr[-1]]
        Judged documents that the index holds, with their grades (0 is judged non-relevant).
    ideal_grades : tuple of Q int32[*]
        All positive grades of the qrels, largest first, whether the document is in the index or
        not: what trec_eval makes the perfect ranking of.
    """

    ids: tuple[str, ...]
    indptr: np.ndarray
    terms: np.ndarray
    tf: np.ndarray
    judged_indptr: np.ndarray
    judged_docs: np.ndarray
    grades: np.ndarray
    ideal_grades: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, records: Iterable[_Record]) -> Queries:
        """Put single queries together."""
        ids, terms, tf, docs, grades, ideal = zip(*records)
        return cls(
            ids, _indptr(terms), np.concatenate(terms), np.concatenate(tf),
            _indptr(docs), np.concatenate(docs), np.concatenate(grades), ideal,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.ids)

    def terms_of(self, query: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (terms, tf) of a query."""
        here = slice(self.indptr[query], self.indptr[query + 1])
        return self.terms[here], self.tf[here]

    def judged_of(self, query: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (documents, grades) of a query."""
        here = slice(self.judged_indptr[query], self.judged_indptr[query + 1])
        return self.judged_docs[here], self.grades[here]

    def answered_by(self, documents: np.ndarray) -> Queries:
        """Return the queries with one relevant document each, int32[Q], without those with none
        (-1)."""
        one = np.ones(1, np.int32)
        return Queries.of(
            (self.ids[query], *self.terms_of(query), documents[[query]], one, one)
            for query in np.flatnonzero(documents >= 0).tolist()
        )

    @property
    def longest(self) -> int:
        """Most distinct terms in a query, at least 1."""
        return max(1, int(np.diff(self.indptr).max(initial=0)))


def make_queries(
    matrix: TermDocumentMatrix,
    topics: Mapping[str, Sequence[str]],
    qrels: Mapping[str, Mapping[str, int]],
) -> Queries:
    """Number the terms and documents of judged topics.

    Raises :class:`TdvError` when the topics, the qrels and the index have nothing in common to
    learn from.

    Parameters
    ----------
    topics
        Query id -> its index terms (analysed), repeated as often as the query has them.
    qrels
        Query id -> document id -> grade.
    """
    shared = [query_id for query_id in topics if query_id in qrels]
    if not shared:
        raise TdvError(
            f"none of the {len(qrels)} query ids of the qrels (such as {_some(qrels)}) is among "
            f"the {len(topics)} topics (such as {_some(topics)}): pass the qrels of these topics"
        )
    if not any(grade > 0 for query_id in shared for grade in qrels[query_id].values()):
        raise TdvError(
            "no document is judged relevant to any of the topics: all grades "
            "are 0 or below, and learning needs some above 0"
        )
    judged = {doc for query_id in shared for doc in qrels[query_id]}
    documents = find_documents(matrix.doc_ids, judged)
    records = [_number(matrix, documents, qid, topics[qid], qrels[qid]) for qid in shared]
    records = [record for record in records if (record[4] > 0).any()]
    if not records:
        raise TdvError(
            f"no relevant document of the qrels (such as {_some(qrels[shared[0]])}) is in the "
            f"index (which has ids such as {matrix.doc_ids[0].decode(errors='replace')!r}); "
            f"documents that another field names need {argument('id_field')}"
        )
    if not any(len(record[1]) for record in records):
        raise TdvError(
            f"no judged topic has a term of the field '{matrix.vocabulary.field}': pass topics in "
            "the index's language, analysed as the index was ('tdv-lucene inspect' shows how)"
        )
    return Queries.of(records)


def unjudged_queries(matrix: TermDocumentMatrix, topics: Mapping[str, Sequence[str]]) -> Queries:
    """Number the terms of topics that nobody judged; those without a term in the index are left
    out.

    Raises :class:`TdvError` when none has one.
    """
    records = [(query_id, *_terms(matrix, tokens)) for query_id, tokens in topics.items()]
    records = [record for record in records if len(record[1])]
    if not records:
        raise TdvError(
            f"none of the {len(topics)} queries has a term of the field "
            f"'{matrix.vocabulary.field}': pass queries that users ask of this index, in its "
            "language"
        )
    nobody = np.zeros(0, np.int32)
    return Queries.of((*record, nobody, nobody, nobody) for record in records)


def find_documents(doc_ids: ByteStrings, wanted: Iterable[str]) -> dict[str, int]:
    """Return the numbers of those of the ``wanted`` documents that are there, by one look at all.

    No table of all ids is made. Where an id is there twice, it is the last.
    """
    encoded = {doc.encode(): doc for doc in wanted}
    return {encoded[doc]: number for number, doc in enumerate(doc_ids) if doc in encoded}


def _number(
    matrix: TermDocumentMatrix,
    documents: Mapping[str, int],
    query_id: str,
    tokens: Sequence[str],
    judged: Mapping[str, int],
) -> _Record:
    terms, tf = _terms(matrix, tokens)
    held = sorted((documents[d], g) for d, g in judged.items() if d in documents)
    docs, grades = np.array(held, np.int32).reshape(-1, 2).T
    ideal = np.array(sorted((g for g in judged.values() if g > 0), reverse=True), np.int32)
    return query_id, terms, tf, docs, grades, ideal


def _terms(matrix: TermDocumentMatrix, tokens: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the distinct terms that the index has, and how often each is there."""
    found = matrix.vocabulary.find(tokens)
    terms, tf = np.unique(found[found >= 0], return_counts=True)
    return terms.astype(np.int32), tf.astype(np.float32)


def _indptr(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)


def _some(ids: Mapping[str, object]) -> str:
    return ", ".join(repr(i) for i in list(ids)[:2]) or "none at all"
