"""The parts of an experiment that all models and folds share, and the measures of its tables."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..analysis import Analysis
from ..errors import TdvError
from ..evaluation import topics as reading
from ..evaluation.runs import read_run
from ..evaluation.topics import Qrels, Topics
from ..index.index import Index
from ..jvm.searcher import known_documents
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..matrix.term_vectors import TermVectors
from ..progress import Progress
from .config import ReproduceConfig
from .published import MEASURES, Collection

ROUNDS = 5  # rounds of measuring latency

_Path = str | os.PathLike[str]


class Fold(NamedTuple):
    """Query ids to learn from, and those to measure."""

    training: list[str]
    held_out: list[str]


class Queries(NamedTuple):
    """The queries of an experiment: each measured one is in one fold, ``training`` in none.

    ``qrels`` judge both.
    """

    measured: Topics
    training: Topics
    qrels: Qrels
    folds: list[Fold]


@dataclass(frozen=True, eq=False)
class Experiment:
    """Inputs that all models and folds share; ``tokens`` are those of all queries."""

    index: Index
    config: ReproduceConfig
    queries: Queries
    analysis: Analysis
    tokens: Mapping[str, Sequence[str]]
    matrix: TermDocumentMatrix
    vectors: TermVectors
    recipes: Mapping[str, Any]  # by kind of row
    folder: Path
    progress: Progress

    def baseline(self, model: str) -> Path:
        """Return the path of the full index's run."""
        return self.folder / f"{model}.baseline.run"

    def judged(self, ids: Sequence[str]) -> tuple[Mapping[str, Sequence[str]], Qrels]:
        """Return (tokens, qrels) of these queries, to learn from."""
        return {q: self.tokens[q] for q in ids}, {q: self.queries.qrels[q] for q in ids}


def read_queries(
    known: Collection, index: _Path, measured: tuple[_Path, _Path],
    training: tuple[_Path | None, _Path | None], folds: int, seed: int,
) -> Queries:  # fmt: skip
    """Read (topics, qrels) and split them into ``folds``, or into one if ``training`` is given."""
    asked, judged = _read(known, index, *measured)
    of_training, of_judged = training
    if of_training is None and of_judged is None:
        if folds < 2 or len(asked) < 2 * folds:
            raise TdvError(
                f"{len(asked)} judged queries cannot make {folds} folds of two or more: "
                f"folds is at least 2, and twice as many queries as folds, are needed"
            )
        ids, order = list(asked), np.random.default_rng(seed).permutation(len(asked))
        parts = [[ids[i] for i in part] for part in np.array_split(order, folds)]
        of_folds = [Fold([q for q in asked if q not in part], part) for part in parts]
        return Queries(asked, {}, judged, of_folds)
    if of_training is None or of_judged is None:
        raise TdvError("train_topics and train_qrels go together: pass both")
    others, of_others = _read(known, index, of_training, of_judged)
    both = sorted(asked.keys() & others.keys())
    if both:
        raise TdvError(
            f"{len(both)} queries (such as '{both[0]}') are to be learned from and measured: take "
            f"them out of train_topics"
        )
    return Queries(asked, others, {**judged, **of_others}, [Fold(list(others), list(asked))])


def _read(
    known: Collection, index: _Path, topics_file: _Path, qrels_file: _Path
) -> tuple[Topics, Qrels]:
    """Return the collection's topics with a relevant document in the index, and judgements."""
    topics, qrels = reading.read_topics(topics_file), reading.read_qrels(qrels_file)
    if known.topics is not None:  # TREC writes 051 in topics, and 51 in qrels
        numbered = {int(q): text for q, text in topics.items() if q.isdecimal()}
        topics = {str(n): text for n, text in numbered.items() if n in known.topics}
        if not topics:
            raise TdvError(
                f"none of the topics is of {known.title}: {known.topics.start} to "
                f"{known.topics.stop - 1} are expected"
            )
    judged = {d for q in topics for d in qrels.get(q, {})}
    reading.check_overlap(topics, qrels, partial(known_documents, index))
    here = set(known_documents(index, sorted(judged)))
    kept = {q: {d: g for d, g in qrels.get(q, {}).items() if d in here} for q in topics}
    asked = {q: text for q, text in topics.items() if any(g > 0 for g in kept[q].values())}
    return asked, {q: kept[q] for q in asked}


def measure(run: _Path, topics: Mapping[str, str], qrels: Qrels) -> dict[str, np.ndarray]:
    """Return each of ``MEASURES``, float64[Q], for the judged queries in topic order.

    trectools computes them, as for the paper. It leaves out queries without an answer, and its nDCG
    has no value where nothing relevant was found; both count 0 here. Documents of equal score are
    ordered by id, the lower one first.
    """
    import pandas as pd
    import trectools

    queries = reading.judged_queries(topics, qrels)
    hits = read_run(run)
    hits = hits[hits["query"].isin(queries)]
    if hits.empty:
        return {name: np.zeros(len(queries)) for name in MEASURES}
    hits = hits.sort_values(["query", "score", "docid"], ascending=[True, False, True])
    ranked, judged = trectools.TrecRun(), trectools.TrecQrel()
    ranked.load_run_from_dataframe(hits)
    rows = [(query, "0", doc, grade) for query in queries for doc, grade in qrels[query].items()]
    judged.qrels_data = pd.DataFrame(rows, columns=["query", "q0", "docid", "rel"])
    by = trectools.TrecEval(ranked, judged)
    found = (by.get_ndcg(depth=5, per_query=True), by.get_recall(depth=1000, per_query=True))
    return {
        name: values.iloc[:, 0].reindex(queries).fillna(0.0).to_numpy(np.float64)
        for name, values in zip(MEASURES, found)
    }
