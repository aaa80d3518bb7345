"""From vectors of words to vectors of index terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import TdvError
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..progress import Progress
from .files import WordVectors
from .term_vectors import TermVectors

Analyze = Callable[[Sequence[str]], list[list[str]]]
"""Texts -> index terms of each, in one call."""

_BATCH = 200_000


def match_terms(
    matrix: TermDocumentMatrix,
    words: WordVectors,
    analyze: Analyze,
    min_doc_freq: int,
    origin: dict[str, Any],
    progress: Progress,
) -> TermVectors:
    """Give each term the mean vector of the words that the analyzer turns into it alone.

    Index terms are stems ("discrimin"), which no vectors file holds; so the file's words go
    through the index's own analyzer. A term that no word becomes takes fastText's sum over its
    sub-words where the file has them; terms in fewer than ``min_doc_freq`` documents do not, and
    stay without a vector like all others that nothing matches.
    """
    terms = matrix.shape[0]
    sums, counts = np.zeros((terms, words.vectors.shape[1]), np.float32), np.zeros(terms, np.int64)
    for first in range(0, len(words.words), _BATCH):
        progress("match words to terms", first, len(words.words))
        last = min(first + _BATCH, len(words.words))
        rows, found = _single_terms(matrix, analyze(words.words[first:last]))
        np.add.at(sums, found, words.vectors[first:last][rows])
        np.add.at(counts, found, 1)
    sums[counts > 0] /= counts[counts > 0, None]
    matched = int(np.count_nonzero(counts))
    if words.of_unseen is not None:
        for term in np.flatnonzero((counts == 0) & (matrix.doc_freq >= min_doc_freq)):
            text = matrix.vocabulary.terms[int(term)].decode(errors="replace")
            sums[term], counts[term] = words.of_unseen(text), 1
    kept = np.flatnonzero(counts)
    if not len(kept):
        raise TdvError(
            f"none of the {len(words.words)} words of the vectors is a term of the index: are "
            "they of another language?"
        )
    by_subwords = len(kept) - matched
    return TermVectors(
        matrix.vocabulary.sha256,
        kept.astype(np.int32),
        sums[kept],
        {**origin, "matched_terms": matched, "terms_by_subwords": by_subwords},
    )


def _single_terms(
    matrix: TermDocumentMatrix, analysed: list[list[str]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return (positions, term numbers) of the words that become exactly one term of the index."""
    positions = [i for i, tokens in enumerate(analysed) if len(tokens) == 1]
    found = matrix.vocabulary.find(analysed[i][0] for i in positions)
    return np.array(positions, np.int64)[found >= 0], found[found >= 0]
