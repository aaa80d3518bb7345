"""The queries of the paper's experiment: which the paper used of a collection, and the folds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..errors import TdvError, argument
from ..evaluation.topics import (
    Qrels,
    Topics,
    check_overlap,
    read_qrels,
    read_topics,
    relevant_documents,
)
from .experiment import Fold
from .published import Collection

_Path = str | os.PathLike[str]


class Queries(NamedTuple):
    """The queries of an experiment.

    Attributes
    ----------
    measured, training : Topics
        ``training`` holds those that are not measured.
    qrels : Qrels
        Of both.
    """

    measured: Topics
    training: Topics
    qrels: Qrels
    folds: list[Fold]


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

    if known.topics is not None:
        topics = {q: text for q, text in topics.items() if q.isdecimal() and int(q) in known.topics}
    if known.topics is not None and not topics:
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
