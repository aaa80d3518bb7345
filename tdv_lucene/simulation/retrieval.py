"""Exact first retrieval in NumPy: what Lucene would rank, without Java.

The postings of all terms that any query uses are copied once; a ranking function turns them into
impacts in one pass, and each query sums the impacts of its terms over the documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from zlib import crc32

import numpy as np

from ..interruption import check
from ..matrix.blocks import blocks
from ..matrix.norms import NormKind
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..ranking import Similarity
from .queries import Queries
from .weighted_collection import WeightedCollection

_BLOCK = 1 << 14
"""Postings; about the most that are scored at once."""


class QueryPostings:
    """Postings of the terms of ``queries``.

    Memory: 8 bytes a posting of a query term, and 4 more for a set of impacts.
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
        """int64[D]: in which order documents of equal scores fall where measures are computed; None
        for that of their numbers, which is Lucene's.

        Whole weights make many equal scores, the more the coarser they are, and collections often
        begin with their judged documents: by number, coarse weights would seem to rank well. So on
        impact indexes chance decides, the same for every ranking.
        """
        if self._doc_ids is None:
            return None
        drawn = np.array([crc32(name) for name in self._doc_ids], np.int64)
        return np.asarray(np.argsort(np.argsort(drawn, kind="stable"), kind="stable"))

    def impacts(
        self,
        similarity: Similarity,
        collection: WeightedCollection,
        some: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return float32[postings]: each posting's score for a query that has the term once.

        With ``some`` queries, only their terms' postings are scored.
        """
        result = np.zeros(len(self.docs), np.float32)
        doc_len = np.asarray(collection.doc_len, np.float32)
        numbers = np.arange(len(self.terms))
        if some is not None:
            numbers = np.unique(self._position[np.isin(self._query, some)])
        for terms, rows in self._blocks(numbers[collection.tdv[self.terms[numbers]] != 0]):
            check()
            tf = collection.stored_tf(terms, self.tf[rows]).astype(np.float32)
            of_terms = collection.statistics.at(terms)
            score = similarity.term_scores(tf, doc_len[self.docs[rows]], of_terms)
            result[rows] = np.where(tf > 0, score, 0)
        return result

    def _blocks(self, numbers: np.ndarray) -> Iterator[tuple[int | np.ndarray, slice | np.ndarray]]:
        """Yield (terms, rows): the postings of ``numbers`` of :attr:`terms`, each once.

        A long list is alone, and ``terms`` its term; of short ones there are many in a block, and
        ``terms`` has an entry a posting. Most lists are so short that to call NumPy for each would
        take most of the time.
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
        """Yield where the postings of each distinct term of ``query`` are, in its order."""
        span = slice(self.queries.indptr[query], self.queries.indptr[query + 1])
        for i in self._position[span]:
            yield slice(self.indptr[i], self.indptr[i + 1])

    def scores(
        self, impacts: np.ndarray, some: Iterable[int] | None = None
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Yield (query, float32[D] scores) of ``some`` queries; the array is used again."""
        scores = np.empty(self.doc_number, np.float32)
        for query in range(len(self.queries)) if some is None else some:
            check()
            scores[:] = 0
            _, times = self.queries.terms_of(query)
            for row, tf in zip(self.spans_of(query), times):
                # A term's documents are distinct, so buffered addition loses nothing.
                scores[self.docs[row]] += impacts[row] if tf == 1 else tf * impacts[row]
            yield query, scores

    def top(self, impacts: np.ndarray, depth: int, some: np.ndarray | None = None) -> np.ndarray:
        """Return int32[n, depth] best documents, best first, ties by number; -1 is padding."""
        some = np.arange(len(self.queries)) if some is None else some
        result = np.full((len(some), depth), -1, np.int32)
        for row, (_, scores) in enumerate(self.scores(impacts, some)):
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
