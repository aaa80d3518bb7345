"""TDVs and plans of known numbers, to prune with; and what a pruned index records."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tdv_lucene import Index, TermDocumentMatrix, TermValues, Vocabulary
from tdv_lucene.plan import LONGEST, FieldPlan
from tdv_lucene.ranking import Baking
from tdv_lucene.ranking.postings import Boost, PostingCut


def values_of(
    matrix: TermDocumentMatrix, weights: np.ndarray | None = None, scale: float = 4
) -> TermValues:
    """TDVs with one operating point and no preference which terms go first."""
    terms = len(matrix.vocabulary)
    if weights is None:
        weights = np.linspace(0.5, 1.5, terms, dtype=np.float32)
    manifest = {
        "model": "bm25",
        "field": matrix.vocabulary.field,
        "vocabulary_sha256": matrix.vocabulary.sha256,
        "parameters": {"k1": 0.9, "b": 0.4},
        "source": matrix.source,
        "points": [{"reduction": 0.45, "scale": scale, "measures": {}, "scales": []}],
        "recommended_reduction": 0.45,
    }
    return TermValues(
        matrix.vocabulary,
        np.asarray(matrix.doc_freq),
        np.asarray(matrix.total_term_freq),
        np.asarray(weights, np.float32),
        np.linspace(0, 1, terms, dtype=np.float32),
        manifest,
    )


def field_plan(
    vocabulary: Vocabulary,
    tdv: np.ndarray | float,
    scale: float | None,
    *,
    cut: PostingCut | None = None,
    boost: Boost | None = None,
    norms: Baking | None = None,
) -> FieldPlan:
    """The plan that stores these TDVs; a number is that of every term."""
    terms = len(vocabulary)
    return FieldPlan(
        vocabulary, np.ones(terms, np.int64), np.broadcast_to(np.float32(tdv), terms), scale, boost,
        cut, np.ones(2 * (LONGEST + 1), np.float32), norms, {}, {"commit": None},
    )  # fmt: skip


def read_user_data(index: Path) -> dict[str, str]:
    """What the last commit says."""
    with Index.open(index, mixed=True) as opened:
        return opened.user_data


def index_bytes(index: Path) -> dict[str, int]:
    """Bytes of the last commit's files by what they hold."""
    with Index.open(index, mixed=True) as opened:
        return opened.bytes_by_kind


def bytes_of(index: Path | str) -> int:
    """Bytes of the last commit's files."""
    return sum(index_bytes(Path(index)).values())
