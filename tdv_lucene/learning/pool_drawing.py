"""The pool: the documents that learning looks at where a collection is too large to look at all.

In it are all judged documents, the best of what searches find for the training's queries, rank by
rank, and documents drawn at random from the rest, which stand for it (see :mod:`..matrix.pool`).
Scores, idf and lengths are those of the whole collection; a document's rank is an estimate: each
drawn document above it counts for as many as it stands for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..errors import TdvError, argument
from ..matrix.blocks import row_sums
from ..matrix.pool import Pool, term_kinds
from ..matrix.selection import select_documents
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..progress import Progress, silent
from ..simulation.list_sample import draw_lists
from ..simulation.queries import find_documents

POOL = 100_000
"""Documents of a pool, unless another number is asked for."""
POOLED_FROM = 300_000
"""Collections of more documents are learned from by a pool, unless it is asked for otherwise."""
LEAST_POOL = 10_000
"""The smallest that is chosen where memory is short."""
_DRAWN = 0.4
"""The share of a pool that is drawn at random, at least."""


def pool_size(documents: int, asked: int | None) -> int:
    """Return the number of documents of a pool; 0 where learning looks at all of them.

    ``asked`` None leaves it to the size of the collection, 0 is all.
    """
    size = (POOL if documents > POOLED_FROM else 0) if asked is None else asked
    return 0 if size >= documents else size


def draw_pool(
    matrix: TermDocumentMatrix,
    qrels: Mapping[str, Mapping[str, int]],
    rankings: Mapping[str, Sequence[Sequence[str]]],
    size: int,
    seed: int,
    progress: Progress = silent,
) -> TermDocumentMatrix:
    """Return the pool's rows of ``matrix``, one pass over its postings.

    Raises :class:`TdvError` when the judged documents leave no room for others.

    Parameters
    ----------
    qrels
        Of the training's queries.
    rankings
        Query id -> what searches with several parameters found: document ids, best first.
    size
        Documents wanted.
    """
    wanted = {doc for judged in qrels.values() for doc in judged}
    wanted.update(doc for lists in rankings.values() for found in lists for doc in found)
    known = find_documents(matrix.doc_ids, wanted)
    judged = {known[doc] for grades in qrels.values() for doc in grades if doc in known}
    room = int((1 - _DRAWN) * size)
    if len(judged) > room:
        raise TdvError(
            f"{argument('pool', size)} is too small: {len(judged):,} documents are judged, and "
            f"others must be drawn beside them; pass at least {int(len(judged) / (1 - _DRAWN)) + 1}"
        )
    lists = [
        [known[doc] for doc in found if doc in known]
        for settings in rankings.values()
        for found in settings
    ]
    certain = np.zeros(matrix.shape[1], bool)
    certain[list(_by_rank(judged, lists, room))] = True
    others = np.flatnonzero(~certain)
    number = min(size - int(certain.sum()), len(others))
    chosen = np.random.default_rng(seed).choice(others, number, replace=False)
    documents = np.sort(np.concatenate([np.flatnonzero(certain), chosen]))
    return _with_pool(matrix, documents, ~certain[documents], progress)


def _by_rank(judged: set[int], lists: list[list[int]], room: int) -> set[int]:
    """Return the judged documents and as many of the lists' first ones as there is room for."""
    found = set(judged)
    for rank in range(max(map(len, lists), default=0)):
        for ranking in lists:
            if len(found) >= room:
                return found
            if rank < len(ranking):
                found.add(ranking[rank])
    return found


def _with_pool(
    matrix: TermDocumentMatrix, documents: np.ndarray, drawn: np.ndarray, progress: Progress
) -> TermDocumentMatrix:
    """Return the rows of ``documents``, of which ``drawn`` bool[n] stand for all others."""
    selected, mean_log_len = select_documents(matrix, documents, progress)
    of_drawn = drawn[selected.indices]
    sizes = np.diff(selected.indptr)
    lengths = matrix.stored_lengths()
    doc_freq_drawn = row_sums(of_drawn, sizes).astype(np.int64)
    certain = selected.postings - int(doc_freq_drawn.sum())
    pool = Pool(
        drawn=drawn,
        doc_weight=_weight(matrix.shape[1] - int((~drawn).sum()), int(drawn.sum())),
        posting_weight=_weight(matrix.postings - certain, int(doc_freq_drawn.sum())),
        doc_freq_drawn=doc_freq_drawn,
        total_drawn=row_sums(selected.data * of_drawn, sizes).astype(np.int64),
        total=row_sums(selected.data, sizes).astype(np.int64),
        kinds=term_kinds(matrix.doc_freq, matrix.total_term_freq),
        stored_tokens=int(lengths.sum()),
        mean_log_len=mean_log_len,
        lists=draw_lists(matrix, lengths),
    )
    return replace(selected, pool=pool)


def _weight(stood_for: int, drawn: int) -> float:
    return stood_for / drawn if drawn else 1.0
