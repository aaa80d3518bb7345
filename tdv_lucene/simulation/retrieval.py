"""Queries, their exact first retrieval in NumPy, and its measures: what Lucene would rank.

The postings of all query terms are copied once; a ranking function turns them into impacts in one
pass, and each query sums the impacts of its terms over the documents. Learning measures tens of
thousands of rankings of a whole collection, so the ranks of the few judged documents are found
without sorting. Run files are measured by :func:`tdv_lucene.evaluate_run`, with the same nDCG.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from zlib import crc32

import numpy as np

from ..errors import TdvError
from ..evaluation.measures import JUDGED_DEPTH, judged_share, ndcg
from ..interruption import check
from ..matrix.term_document_matrix import NormKind, TermDocumentMatrix, blocks
from ..ranking import RankingFunction
from .collection import WeightedCollection

MEASURES = ("nDCG@5", "R@1000", "nDCG@1000", "nDCG@10", "RR@10", "R@100")
JUDGED = ("judged", "nDCG@10 of judged")  # two measures that :func:`evaluate` adds if asked for
_BLOCK = 1 << 14  # postings; about the most that are scored at once
_Record = tuple[str, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]
"""One query: id, terms, tf, judged documents, grades, ideal grades, the document left out."""


@dataclass(frozen=True, eq=False)
class Queries:
    """``Q`` judged queries with at least one relevant document in the index."""

    ids: tuple[str, ...]
    # The distinct vocabulary terms of each query, and how often each occurs in it. A term that the
    # index lacks is left out, so a query may be empty.
    indptr: np.ndarray  # int64[Q + 1]
    terms: np.ndarray  # int32[indptr[-1]]
    tf: np.ndarray  # float32[indptr[-1]]
    # Judged documents that the index holds, with their grades (0 is judged non-relevant).
    judged_indptr: np.ndarray  # int64[Q + 1]
    judged_docs: np.ndarray  # int32[judged_indptr[-1]]
    grades: np.ndarray  # int32[judged_indptr[-1]]
    # Q int32[*]: all positive grades of the qrels, largest first, whether the document is in the
    # index or not: trec_eval's perfect ranking.
    ideal_grades: tuple[np.ndarray, ...]
    # int32[Q]: the document that each query must not find, for it is the query itself; -1 for none.
    left_out: np.ndarray

    @classmethod
    def of(cls, records: Iterable[_Record]) -> Queries:
        """Put single queries together."""
        ids, terms, tf, docs, grades, ideal, left_out = zip(*records)
        return cls(
            ids, _indptr(terms), np.concatenate(terms), np.concatenate(tf),
            _indptr(docs), np.concatenate(docs), np.concatenate(grades), ideal,
            np.array(left_out, np.int32),
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
        """Return the queries with one relevant document each, int32[Q], without those with -1."""
        one = np.ones(1, np.int32)
        return Queries.of(
            (
                self.ids[query], *self.terms_of(query), documents[[query]], one, one,
                self.left_out[query],
            )
            for query in np.flatnonzero(documents >= 0).tolist()
        )  # fmt: skip

    @property
    def longest(self) -> int:
        """Most distinct terms in a query, at least 1."""
        return max(1, int(np.diff(self.indptr).max(initial=0)))


def make_queries(
    matrix: TermDocumentMatrix,
    topics: Mapping[str, Sequence[str]],
    qrels: Mapping[str, Mapping[str, int]],
    remove_query: bool = False,
) -> Queries:
    """Number the terms and documents of judged topics.

    ``topics`` are query id -> index terms, with repetitions; ``qrels`` query id -> document id ->
    grade. With ``remove_query`` a query must not find the document that has its id.
    """
    shared = [query_id for query_id in topics if query_id in qrels]
    if not shared:
        raise TdvError(
            f"none of the {len(qrels)} query ids of the qrels (such as {_examples(qrels)}) is "
            f"among the {len(topics)} topics (such as {_examples(topics)}): pass the qrels of "
            "these topics"
        )
    if not any(grade > 0 for query_id in shared for grade in qrels[query_id].values()):
        raise TdvError(
            "no document is judged relevant to any of the topics: all grades "
            "are 0 or below, and learning needs some above 0"
        )
    judged = {doc for query_id in shared for doc in qrels[query_id]}
    own = {*shared} if remove_query else set()
    documents = numbers_of(matrix, judged | own)
    records: list[_Record] = []
    for qid in shared:
        leave_out = qid if remove_query else None
        held = sorted(
            (documents[doc], grade)
            for doc, grade in qrels[qid].items()
            if doc in documents and doc != leave_out
        )
        docs, grades = np.array(held, np.int32).reshape(-1, 2).T
        ideal = np.array(sorted((g for g in qrels[qid].values() if g > 0), reverse=True), np.int32)
        if (grades > 0).any():
            left_out = documents.get(qid, -1) if remove_query else -1
            records.append((qid, *_terms(matrix, topics[qid]), docs, grades, ideal, left_out))
    if not records:
        for name in matrix.doc_ids:
            document = name.decode(errors="replace").split("#")[0]
            if b"#" in name and document in judged:
                raise TdvError(
                    f"the qrels judge documents, such as '{document}', and the index has passages "
                    f"of them, '{document}#...': give passages the grades of their documents"
                )
        own_ids = [name.decode(errors="replace") for name in matrix.doc_ids.between(0, 1)]
        raise TdvError(
            f"no relevant document of the qrels (such as {_examples(qrels[shared[0]])}) is in the "
            f"index{f' (which has ids such as {own_ids[0]!r})' if own_ids else ''}; "
            "documents that another field names need id_field"
        )
    if not any(len(record[1]) for record in records):
        raise TdvError(
            f"no judged topic has a term of the field '{matrix.vocabulary.field}': pass topics in "
            "the index's language, analysed as the index was ('tdv-lucene inspect' shows how)"
        )
    return Queries.of(records)


def unjudged_queries(
    matrix: TermDocumentMatrix, topics: Mapping[str, Sequence[str]], remove_query: bool = False
) -> Queries:
    """Number the terms of topics without judgements, leaving out those without an index term."""
    records = [(query_id, *_terms(matrix, tokens)) for query_id, tokens in topics.items()]
    records = [record for record in records if len(record[1])]
    if not records:
        raise TdvError(
            f"none of the {len(topics)} queries has a term of the field "
            f"'{matrix.vocabulary.field}': pass queries that users ask of this index, in its "
            "language"
        )
    nobody = np.zeros(0, np.int32)
    own = numbers_of(matrix, topics) if remove_query else {}
    return Queries.of(
        (*record, nobody, nobody, nobody, own.get(record[0], -1)) for record in records
    )


def numbers_of(matrix: TermDocumentMatrix, wanted: Iterable[str]) -> dict[str, int]:
    """Return the numbers of the ``wanted`` documents that are in the collection."""
    found_in = matrix.each(find_documents, wanted=[*dict.fromkeys(wanted)])
    parts = zip(matrix.first_documents, found_in)
    return {doc: first + number for first, found in parts for doc, number in found.items()}


def find_documents(matrix: TermDocumentMatrix, wanted: Iterable[str]) -> dict[str, int]:
    """Return the numbers of the ``wanted`` documents in the matrix, in one pass over all ids.

    Of an id that is there twice it is the last.
    """
    encoded = {doc.encode(): doc for doc in wanted}
    ids = matrix.doc_ids
    is_wanted = np.fromiter(map(encoded.__contains__, ids), bool, len(ids))
    return {encoded[ids[number]]: number for number in np.flatnonzero(is_wanted).tolist()}


def _terms(matrix: TermDocumentMatrix, tokens: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the distinct terms that the index has, and how often each is there."""
    found = matrix.vocabulary.find(tokens)
    terms, tf = np.unique(found[found >= 0], return_counts=True)
    return terms.astype(np.int32), tf.astype(np.float32)


def _indptr(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)


def _examples(ids: Mapping[str, object]) -> str:
    return ", ".join(repr(i) for i in list(ids)[:2]) or "none at all"


class QueryPostings:
    """Postings of the terms of ``queries``.

    Memory: 8 bytes a posting of a query term, and 4 more for a set of impacts. In its methods
    ``only`` int64[n] chooses queries; None is all of them.
    """

    def __init__(self, matrix: TermDocumentMatrix, queries: Queries) -> None:
        self.queries = queries
        self.doc_number, self.pool = matrix.shape[1], matrix.pool
        self._doc_ids = matrix.doc_ids if matrix.norm_kind is NormKind.ONES else None
        self.terms, self._position = np.unique(queries.terms, return_inverse=True)
        self._query = np.repeat(np.arange(len(queries)), np.diff(queries.indptr))
        rows = [slice(matrix.indptr[t], matrix.indptr[t + 1]) for t in self.terms]
        self.indptr = np.concatenate([[0], np.cumsum([r.stop - r.start for r in rows])]).astype(int)
        self.docs = np.concatenate([matrix.indices[row] for row in rows])
        self.tf = np.concatenate([matrix.tf(row) for row in rows])

    @cached_property
    def tie_order(self) -> np.ndarray | None:
        """int64[D]: the order of documents with equal scores where measures are computed; None for
        that of their numbers, which is Lucene's.

        Whole weights make many equal scores, the more the coarser they are, and collections often
        begin with their judged documents: by number, coarse weights would seem to rank well. So on
        impact indexes the order is random, and the same for every ranking.
        """
        if self._doc_ids is None:
            return None
        drawn = np.array([crc32(name) for name in self._doc_ids], np.int64)
        return np.asarray(np.argsort(np.argsort(drawn, kind="stable"), kind="stable"))

    def impacts(
        self, similarity: RankingFunction, collection: WeightedCollection,
        only: np.ndarray | None = None,
    ) -> np.ndarray:  # fmt: skip
        """Return float32[postings]: each posting's score for a query that has the term once."""
        result = np.zeros(len(self.docs), np.float32)
        doc_len = np.asarray(collection.doc_len, np.float32)
        numbers = np.arange(len(self.terms))
        if only is not None:
            numbers = np.unique(self._position[np.isin(self._query, only)])
        for terms, rows in self._blocks(numbers[collection.tdv[self.terms[numbers]] != 0]):
            check()
            tf = collection.stored_tf(terms, self.tf[rows]).astype(np.float32)
            of_terms = collection.statistics.at(terms)
            score = similarity.term_scores(tf, doc_len[self.docs[rows]], of_terms)
            result[rows] = np.where(tf > 0, score, 0)
        return result

    def _blocks(self, numbers: np.ndarray) -> Iterator[tuple[int | np.ndarray, slice | np.ndarray]]:
        """Yield (terms, rows): the postings of ``numbers`` of :attr:`terms`, each once.

        A long list is alone, and ``terms`` its term. A block has many short ones, and ``terms`` an
        entry a posting: to call NumPy for each short list would take most of the time.
        """
        starts, sizes = self.indptr[numbers], np.diff(self.indptr)[numbers]
        is_long = sizes > _BLOCK
        for number in numbers[is_long]:
            yield int(self.terms[number]), slice(self.indptr[number], self.indptr[number + 1])
        terms, starts, sizes = self.terms[numbers[~is_long]], starts[~is_long], sizes[~is_long]
        indptr = np.append(0, np.cumsum(sizes))
        for block in blocks(indptr, _BLOCK):
            first = np.repeat((starts - indptr[:-1])[block.terms], block.sizes)
            rows = first + np.arange(block.postings.start, block.postings.stop)
            yield np.repeat(terms[block.terms], block.sizes), rows

    def spans_of(self, query: int) -> Iterator[slice]:
        """Yield the postings of each distinct term of ``query``, in its order, as slices."""
        span = slice(self.queries.indptr[query], self.queries.indptr[query + 1])
        for i in self._position[span]:
            yield slice(self.indptr[i], self.indptr[i + 1])

    def scores(
        self, impacts: np.ndarray, only: Iterable[int] | None = None
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Yield (query, float32[D] scores); the array is used again."""
        scores = np.empty(self.doc_number, np.float32)
        for query in range(len(self.queries)) if only is None else only:
            check()
            scores[:] = 0
            _, times = self.queries.terms_of(query)
            for row, tf in zip(self.spans_of(query), times):
                # A term's documents are distinct, so buffered addition loses nothing.
                scores[self.docs[row]] += impacts[row] if tf == 1 else tf * impacts[row]
            if (own := self.queries.left_out[query]) >= 0:
                scores[own] = 0
            yield query, scores

    def ranks(self, scores: np.ndarray, docs: np.ndarray) -> np.ndarray:
        """Return float64[n], the :func:`ranks_of` documents by :attr:`tie_order`.

        In a pool they are estimates: a drawn document above counts for as many as it represents.
        """
        pool, order = self.pool, self.tie_order
        found = ranks_of(scores, docs, order)
        if pool is None:
            return found
        drawn = np.flatnonzero(pool.drawn)
        of_drawn = scores[drawn]
        for i, doc in enumerate(docs):
            above = np.count_nonzero(of_drawn > scores[doc])
            if order is not None:
                above += np.count_nonzero((of_drawn == scores[doc]) & (order[drawn] < order[doc]))
            found[i] += (pool.doc_weight - 1) * above
        return found

    def top(self, impacts: np.ndarray, depth: int, only: np.ndarray | None = None) -> np.ndarray:
        """Return int32[n, depth] best documents, best first, ties by number; -1 is padding."""
        only = np.arange(len(self.queries)) if only is None else only
        result = np.full((len(only), depth), -1, np.int32)
        for row, (_, scores) in enumerate(self.scores(impacts, only)):
            best = top_documents(scores, depth)
            result[row, : len(best)] = best
        return result


def top_documents(scores: np.ndarray, depth: int) -> np.ndarray:
    """Return the numbers of the best at most ``depth`` documents with a positive score."""
    matching = np.flatnonzero(scores > 0)
    if len(matching) > depth:
        found = scores[matching]
        threshold = np.partition(found, len(found) - depth)[len(found) - depth]
        above = matching[found > threshold]
        # Document order breaks ties at the threshold, as Lucene's collector does.
        level = matching[found == threshold][: depth - len(above)]
        matching = np.sort(np.concatenate([above, level]))
    return matching[np.argsort(-scores[matching], kind="stable")].astype(np.int32)


def evaluate(
    postings: QueryPostings,
    impacts: np.ndarray,
    only: np.ndarray | None = None,
    *,
    judged: bool = False,
) -> np.ndarray:
    """Return float64[n, measures]: the ``MEASURES`` of the full ranking of each query.

    With ``judged`` there are two more columns, ``JUDGED``: the share of its ten best documents that
    somebody judged, and nDCG@10 with all others left out of the ranking. Ranks in a pool are
    estimated: see :meth:`QueryPostings.ranks`.

    Parameters
    ----------
    only : int64[n] or None
        Chooses queries; None is all of them.
    """
    queries = postings.queries
    only = np.arange(len(queries)) if only is None else only
    if not len(only):
        return np.zeros((0, len(MEASURES) + judged * len(JUDGED)))
    ranks, grades, shares, condensed = [], [], [], []
    for query, scores in postings.scores(impacts, only):
        docs, of_query = queries.judged_of(query)
        ranks.append(postings.ranks(scores, docs[of_query > 0]))
        grades.append(of_query[of_query > 0])
        if judged:
            shares.append(judged_share(top_documents(scores, JUDGED_DEPTH), docs))
            condensed.append(ranks_of(scores[docs], np.flatnonzero(of_query > 0)))
    ideal = [queries.ideal_grades[query] for query in only]
    found = _measures(ranks, grades, ideal)
    if judged:
        at_ten = _measures(condensed, grades, ideal)[:, MEASURES.index("nDCG@10")]
        found = np.column_stack([found, shares, at_ten])
    return found


def ranks_of(scores: np.ndarray, docs: np.ndarray, order: np.ndarray | None = None) -> np.ndarray:
    """Return float64[n] ranks from 1, infinite if not retrieved.

    Ties are broken by ``order`` int64[D], or by document number.
    """
    ranks = np.full(len(docs), np.inf)
    for i, doc in enumerate(docs):
        if scores[doc] > 0:
            if order is None:
                tied_before = np.count_nonzero(scores[:doc] == scores[doc])
            else:
                tied = np.flatnonzero(scores == scores[doc])
                tied_before = np.count_nonzero(order[tied] < order[doc])
            ranks[i] = 1 + np.count_nonzero(scores > scores[doc]) + tied_before
    return ranks


def _measures(
    ranks: list[np.ndarray], grades: list[np.ndarray], ideal: list[np.ndarray]
) -> np.ndarray:
    """Return float64[n, measures], from each query's relevant documents and their ideal grades."""
    numbers = np.arange(len(ideal))
    query = np.repeat(numbers, [len(of_query) for of_query in ranks])
    relevant = np.array([len(of_query) for of_query in ideal])
    rank = np.concatenate(ranks)
    all_of_them = (
        query, rank, np.concatenate(grades).astype(np.float64),
        np.repeat(numbers, relevant), np.concatenate(ideal).astype(np.float64),
    )  # fmt: skip
    found = {f"nDCG@{k}": ndcg(*all_of_them, depth=k, number=len(ideal)) for k in (5, 10, 1000)}
    for depth in (100, 1000):
        found[f"R@{depth}"] = np.bincount(query, rank <= depth, minlength=len(ideal)) / relevant
    found["RR@10"] = np.zeros(len(ideal))
    np.maximum.at(found["RR@10"], query, np.where(rank <= 10, 1 / rank, 0))
    return np.stack([found[name] for name in MEASURES], axis=1)


def mean_measures(per_query: np.ndarray) -> dict[str, float]:
    """Return the means of float64[n, measures] by name."""
    return dict(zip(MEASURES, map(float, per_query.mean(axis=0))))
