"""Training: pairwise hinge over (query, relevant, non-relevant), Adam, early stopping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from ...core.losses import hinge_with_sparsity
from ...core.scoring import Bm25
from ...embedding.embed import TermVectors
from ...evaluation.topics import Qrels
from ...interruption import check, deferred
from ...learning.measures import measures_of
from ...learning.problem import JudgedMatrix
from ...learning.queries import make_queries
from ...matrix.term_document_matrix import TermDocumentMatrix
from ...progress import Progress, silent
from . import RANKERS
from .batch import Batch
from .config import NeuralConfig
from .rankers import Ranker, make_ranker, score
from .reading import Reader


class Training(NamedTuple):
    """Judged queries, and what the first stage finds for them.

    Attributes
    ----------
    reader : Reader
    judged : JudgedMatrix
        Q queries.
    queries : int32[Q, L]
        Their terms, padded with -1.
    found : int32[Q, depth]
        The first stage's documents, best first, padded with -1.
    """

    reader: Reader
    judged: JudgedMatrix
    queries: np.ndarray
    found: np.ndarray


class Trained(NamedTuple):
    """A re-ranker as it was after ``epoch``, when its training nDCG@5 was ``ndcg``."""

    ranker: Ranker
    epoch: int
    ndcg: float


def judged_training(
    matrix: TermDocumentMatrix,
    vectors: TermVectors,
    config: NeuralConfig,
    tokens: Mapping[str, Sequence[str]],
    qrels: Qrels,
) -> Training:
    """Return the judged ones of analysed queries, with what the first stage finds for them.

    Raises
    ------
    TdvError
        When vectors, queries and judgements do not belong to the matrix.
    """
    vectors.check(matrix)
    reader = Reader(matrix, vectors, config)
    judged = JudgedMatrix(matrix, make_queries(matrix, tokens, qrels))
    texts = {query: tokens[query] for query in judged.queries.ids}
    return Training(reader, judged, reader.queries(texts), first_stage(judged, config.depth))


def first_stage(judged: JudgedMatrix, depth: int) -> np.ndarray:
    """Return int32[Q, depth]: BM25's documents with Anserini's parameters, best first."""
    impacts = judged.postings.impacts(Bm25(), judged.plain)
    return judged.postings.top(impacts, depth)


def train(name: str, training: Training, seed: int, progress: Progress = silent) -> Trained:
    """Return the re-ranker after the epoch with the best training nDCG@5.

    The rule is that of the paper's recipe (:mod:`...learning.pairwise`): epoch 0 is the random
    start, and so many epochs without a better one end it. Measured is how the re-ranker ranks some
    of the first stage's documents: its best, and a sample of all others. A non-relevant document
    is drawn from the first stage's, all alike, for those are what will be re-ranked; what is not
    judged counts as non-relevant.
    """
    reader, config = training.reader, training.reader.config
    rng = np.random.default_rng(seed)
    optimizer = _adam(config.rate(name))
    with deferred():  # JAX's callbacks bear no exception
        ranker = make_ranker(name, reader.table.shape[1], config, seed)
        state = optimizer.init(eqx.filter(ranker, eqx.is_inexact_array))
        validation = _Validation(training, rng)
        best = Trained(ranker, 0, validation.ndcg(ranker))
        for epoch in range(1, config.max_epochs + 1):
            for batch in _batches(training, rng):
                check()
                ranker, state = _step(ranker, state, batch, optimizer)
            ndcg = validation.ndcg(ranker)
            progress(f"train {RANKERS[name]}, epochs", epoch, config.max_epochs)
            if ndcg > best.ndcg:
                best = Trained(ranker, epoch, ndcg)
            if epoch - best.epoch >= config.patience or best.ndcg >= 1:
                break
    progress(f"train {RANKERS[name]}, epochs", config.max_epochs, config.max_epochs)
    return best


@cache
def _adam(rate: float) -> optax.GradientTransformation:
    """One object, so that what was compiled with it serves the next training."""
    return optax.adam(rate)


@eqx.filter_jit
def _step(
    ranker: Ranker, state: Any, batch: Batch, optimizer: optax.GradientTransformation
) -> tuple[Ranker, Any]:
    def objective(ranker: Ranker) -> jax.Array:
        scores = ranker(batch)
        return hinge_with_sparsity(scores[:, 0], scores[:, 1], jnp.zeros(()), 0.0)

    gradient = eqx.filter_grad(objective)(ranker)
    change, state = optimizer.update(gradient, state)
    return eqx.apply_updates(ranker, change), state


def _batches(training: Training, rng: np.random.Generator) -> Iterator[Batch]:
    """Yield an epoch: pairs of a query and a relevant document, each with one that is not.

    The last batch is filled up with pairs of the first, for all have one shape.
    """
    reader, size = training.reader, training.reader.config.pairs_per_step
    queries, positives = _relevant_pairs(training.judged)
    negatives = _draw_negatives(training, queries, rng)
    kept = np.flatnonzero(negatives >= 0)
    order = rng.permutation(kept)[: reader.config.pairs_per_epoch]
    if not len(order):
        return
    width = reader.width(_longest(reader, training.found))
    for some in np.resize(order, (-(-len(order) // size), size)):
        pairs = np.stack([positives[some], negatives[some]], axis=1)
        yield reader.batch(training.queries[queries[some]], pairs, width)


def _longest(reader: Reader, documents: np.ndarray) -> int:
    """Terms read of the longest of ``documents``, of which -1 is padding; at least 1."""
    return int(reader.lengths(documents[documents >= 0]).max(initial=1))


def _relevant_pairs(judged: JudgedMatrix) -> tuple[np.ndarray, np.ndarray]:
    """Return int64[n] queries and int64[n] relevant documents."""
    queries = judged.queries
    numbers = np.repeat(np.arange(len(queries)), np.diff(queries.judged_indptr))
    relevant = queries.grades > 0
    return numbers[relevant], queries.judged_docs[relevant].astype(np.int64)


def _draw_negatives(
    training: Training, queries: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return int64[n]: for each of ``queries`` a document it found that is not relevant, or -1."""
    drawn = np.full(len(queries), -1, np.int64)
    for query in np.unique(queries).tolist():
        docs, grades = training.judged.queries.judged_of(query)
        found = training.found[query][training.found[query] >= 0]
        others = found[~np.isin(found, docs[grades > 0])]
        own = queries == query
        if len(others):
            drawn[own] = rng.choice(others, own.sum())
    return drawn


def _sampled_ranks(config: NeuralConfig) -> np.ndarray:
    """Return int64[n]: the first ``stop_depth`` places of a ranking, and every so manyth after."""
    return np.append(
        np.arange(config.stop_depth), np.arange(config.stop_depth, config.depth, config.stop_every)
    )


class _Validation:
    """The training nDCG@5 of a re-ranker, always of the same queries and documents."""

    def __init__(self, training: Training, rng: np.random.Generator) -> None:
        config = training.reader.config
        some = np.sort(rng.permutation(len(training.queries))[: config.stop_queries])
        self._training, self._some = training, some
        self._found = training.found[some][:, _sampled_ranks(config)]

    def ndcg(self, ranker: Ranker) -> float:
        """Return the mean over the queries."""
        reader, found = self._training.reader, []
        width = reader.width(_longest(reader, self._found))
        for row, query in enumerate(self._some):
            check()
            terms, docs = self._training.queries[query][None], self._found[row][None]
            scores = np.asarray(score(ranker, reader.batch(terms, docs, width)))[0]
            found.append(self._of_query(row, scores))
        return float(np.mean(found))

    def _of_query(self, row: int, scores: np.ndarray) -> float:
        query, found = int(self._some[row]), self._found[row]
        ranked = found[np.argsort(np.where(found >= 0, -scores, np.inf), kind="stable")]
        queries = self._training.judged.queries
        docs, grades = queries.judged_of(query)
        at = {int(doc): rank for rank, doc in enumerate(ranked.tolist(), 1) if doc >= 0}
        ranks = np.array([at.get(int(doc), np.inf) for doc in docs[grades > 0]])
        return measures_of(ranks, grades[grades > 0], queries.ideal_grades[query])[0]
