"""What all models and folds of an experiment share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..analysis import Analysis
from ..embedding.term_vectors import TermVectors
from ..evaluation.topics import Qrels, Topics
from ..learning.recipes import DefaultRecipe
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..progress import Progress
from .pairwise import PaperRecipe

MEASURES = ("nDCG@5", "R@1000")
ROUNDS = 5
"""In which latency is measured."""


class Fold(NamedTuple):
    """Query ids to learn from, and those to measure."""

    training: list[str]
    held_out: list[str]


@dataclass(frozen=True, eq=False)
class Experiment:
    """What all models and folds share.

    Attributes
    ----------
    topics : Topics
        The queries that are measured, each in one of the folds.
    qrels, tokens
        Of these and of the queries that only training sees.
    """

    index: Path
    field: str
    analysis: Analysis
    asked_analysis: Mapping[str, Any]
    topics: Topics
    qrels: Qrels
    tokens: Mapping[str, Sequence[str]]
    folds: Sequence[Fold]
    matrix: TermDocumentMatrix
    vectors: TermVectors
    recipe: DefaultRecipe | PaperRecipe
    latency_budget_seconds: float
    seed: int
    folder: Path
    progress: Progress

    def baseline(self, model: str) -> Path:
        """The run of the full index."""
        return self.folder / f"{model}.baseline.run"

    @property
    def measured(self) -> list[str]:
        """The queries in the order of the folds: the order of all figures."""
        return [query for fold in self.folds for query in fold.held_out]
