"""What all models and folds of an experiment share: its queries, in folds, and the rest."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..analysis import Analysis
from ..embedding.term_vectors import TermVectors
from ..errors import TdvError, argument
from ..evaluation.topics import (
    Qrels,
    Topics,
    check_overlap,
    read_qrels,
    read_topics,
    relevant_documents,
)
from ..indexes.index import Index
from ..learning.config import Recipe
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..progress import Progress
from .config import ReproduceConfig
from .pairwise import PaperRecipe
from .published import Collection
from .selection import TunedRecipe

ROUNDS = 5
"""In which latency is measured."""

_Path = str | os.PathLike[str]

AnyRecipe = Recipe | PaperRecipe | TunedRecipe


class Fold(NamedTuple):
    """Query ids to learn from, and those to measure."""

    training: list[str]
    held_out: list[str]


class Queries(NamedTuple):
    """The queries of an experiment.

    Attributes
    ----------
    measured, training : Topics
        Each of the measured ones is in one of the folds; ``training`` holds the others.
    qrels : Qrels
        Of both.
    """

    measured: Topics
    training: Topics
    qrels: Qrels
    folds: list[Fold]


@dataclass(frozen=True, eq=False)
class Experiment:
    """What all models and folds share; ``tokens`` are those of all queries."""

    index: Index
    config: ReproduceConfig
    queries: Queries
    analysis: Analysis
    tokens: Mapping[str, Sequence[str]]
    matrix: TermDocumentMatrix
    vectors: TermVectors
    recipe: AnyRecipe
    folder: Path
    progress: Progress

    def baseline(self, model: str) -> Path:
        """The run of the full index."""
        return self.folder / f"{model}.baseline.run"

    def judged(self, some: Sequence[str]) -> tuple[Mapping[str, Sequence[str]], Qrels]:
        """(tokens, qrels) of some queries, to learn from."""
        return {q: self.tokens[q] for q in some}, {q: self.queries.qrels[q] for q in some}


def read_queries(
    known: Collection,
    index: str | os.PathLike[str],
    measured: tuple[_Path, _Path],
    training: tuple[_Path | None, _Path | None],
    folds: int,
    seed: int,
) -> Queries:
    """Read (topics, qrels): in ``folds``, or with ``training`` ones to learn from, in one.

    Raises :class:`TdvError` when a query is in both, or only topics or qrels to learn from are
    given.
    """
    asked, judged = restrict(known, index, read_topics(measured[0]), read_qrels(measured[1]))
    of_training, of_judged = training
    if of_training is None and of_judged is None:
        parts = split(list(asked), folds, seed)
        of_folds = [Fold([q for q in asked if q not in part], part) for part in parts]
        return Queries(asked, {}, judged, of_folds)
    if of_training is None or of_judged is None:
        raise TdvError(
            f"{argument('train_topics')} and {argument('train_qrels')} go together: pass both"
        )
    others, of_others = restrict(known, index, read_topics(of_training), read_qrels(of_judged))
    both = sorted(asked.keys() & others.keys())
    if both:
        raise TdvError(
            f"{len(both)} queries (such as '{both[0]}') are to be learned from and measured: take "
            f"them out of {argument('train_topics')}"
        )
    return Queries(asked, others, {**judged, **of_others}, [Fold(list(others), list(asked))])


def restrict(
    known: Collection, index: str | os.PathLike[str], topics: Topics, qrels: Qrels
) -> tuple[Topics, Qrels]:
    """The collection's topics that have a relevant document in the index, and their judgements."""
    from ..jvm.searcher import known_documents

    if known.topics is not None:  # TREC writes 051 in topics, and 51 in qrels
        numbered = {int(q): text for q, text in topics.items() if q.isdecimal()}
        topics = {str(n): text for n, text in numbered.items() if n in known.topics}
        if not topics:
            raise TdvError(
                f"none of the topics is of {known.title}: {known.topics.start} to "
                f"{known.topics.stop - 1} are expected"
            )
    judged = {d for q in topics for d in qrels.get(q, {})}
    here = set(known_documents(index, sorted(judged))) if judged else set()
    check_overlap(topics, qrels, relevant_documents(topics, qrels) & here)
    kept = {q: {d: g for d, g in qrels.get(q, {}).items() if d in here} for q in topics}
    asked = {q: text for q, text in topics.items() if any(g > 0 for g in kept[q].values())}
    return asked, {q: kept[q] for q in asked}


def split(queries: Sequence[str], folds: int, seed: int) -> list[list[str]]:
    """Split the queries at random into ``folds`` of two or more."""
    if folds < 2 or len(queries) < 2 * folds:
        raise TdvError(
            f"{len(queries)} judged queries cannot make {folds} folds of two or more: "
            f"{argument('folds')} is at least 2, and twice as many queries as folds, are needed"
        )
    order = np.random.default_rng(seed).permutation(len(queries))
    return [[queries[i] for i in part] for part in np.array_split(order, folds)]
