"""Training: pairwise hinge over (query, relevant, non-relevant), Adam, early stopping.

It goes on until the loss of queries that are not learned from falls no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from ...embedding.term_vectors import TermVectors
from ...evaluation.topics import Qrels
from ...interruption import check, deferred
from ...matrix.term_document_matrix import TermDocumentMatrix
from ...progress import Progress, silent
from ...ranking.bm25 import Bm25
from ...simulation.problem import JudgedMatrix
from ...simulation.queries import make_queries
from ..similarities import hinge_with_sparsity
from . import RANKERS
from .config import RATES, NeuralConfig
from .layers import Batch
from .rankers import Ranker, make_ranker
from .reading import Reader

_DRAWS = 4
"""Documents that are not relevant, for each relevant one of a held-out query."""


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
    """A re-ranker as it was after ``epoch``, when the held-out queries' loss was ``loss``."""

    ranker: Ranker
    epoch: int
    loss: float


class Pairs(NamedTuple):
    """Queries, each with a relevant document: int64[n] both."""

    queries: np.ndarray
    relevant: np.ndarray

    def of(self, chosen: np.ndarray) -> Pairs:
        """Those that a mask or numbers choose."""
        return Pairs(self.queries[chosen], self.relevant[chosen])


def judged_training(
    matrix: TermDocumentMatrix,
    vectors: TermVectors,
    config: NeuralConfig,
    tokens: Mapping[str, Sequence[str]],
    qrels: Qrels,
) -> Training:
    """Return the judged ones of analysed queries, with what the first stage finds for them.

    Raises :class:`TdvError` when vectors, queries and judgements do not belong to the matrix.
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
    """Return the re-ranker after the epoch with the smallest held-out loss.

    A share of the queries is held out: the others alone are learned from. Epoch 0 is the random
    start, and ``patience`` epochs without a smaller loss end it. A non-relevant document is drawn
    from the first stage's, all alike, for those are what will be re-ranked; what is not judged
    counts as non-relevant.
    """
    reader, config = training.reader, training.reader.config
    rng = np.random.default_rng(seed)
    learned, held_out = _split(_relevant_pairs(training.judged), config.held_out, rng)
    optimizer = _adam(config.learning_rate or RATES[name])
    with deferred():  # JAX's callbacks bear no exception
        ranker = make_ranker(name, reader.table.shape[1], config, seed)
        state = optimizer.init(eqx.filter(ranker, eqx.is_inexact_array))
        unseen = _HeldOut(training, held_out, rng)
        best = Trained(ranker, 0, unseen.loss(ranker))
        for epoch in range(1, config.max_epochs + 1):
            for batch in _batches(training, learned, rng):
                check()
                ranker, state = _step(ranker, state, batch, optimizer)
            loss = unseen.loss(ranker)
            progress(f"train {RANKERS[name]}, epochs", epoch, config.max_epochs)
            if loss < best.loss:
                best = Trained(ranker, epoch, loss)
            if epoch - best.epoch >= config.patience or best.loss <= 0:
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
    gradient = eqx.filter_grad(_hinge)(ranker, batch)
    change, state = optimizer.update(gradient, state)
    return eqx.apply_updates(ranker, change), state


def _hinge(ranker: Ranker, batch: Batch) -> jax.Array:
    """Return float[], of batches of a relevant document and one that is not."""
    scores = ranker(batch)
    return hinge_with_sparsity(scores[:, 0], scores[:, 1], jnp.zeros(()), 0.0)


_loss = eqx.filter_jit(_hinge)


def _split(pairs: Pairs, share: float, rng: np.random.Generator) -> tuple[Pairs, Pairs]:
    """Return the pairs to learn from, and those of a ``share`` of the queries, at least one.

    A single query is both.
    """
    queries = np.unique(pairs.queries)
    some = rng.permutation(queries)[: max(1, round(share * len(queries)))]
    held_out = np.isin(pairs.queries, some)
    return pairs.of(~held_out if len(queries) > 1 else held_out), pairs.of(held_out)


def _batches(training: Training, pairs: Pairs, rng: np.random.Generator) -> Iterator[Batch]:
    """Yield an epoch: ``pairs``, each with a document that is not relevant.

    The last batch is filled up with pairs of the first, so that shapes are few.
    """
    negatives = _draw_negatives(training, pairs.queries, rng)
    order = rng.permutation(np.flatnonzero(negatives >= 0))
    some = order[: training.reader.config.pairs_per_epoch]
    yield from _in_steps(training, pairs.of(some), negatives[some])


def _in_steps(training: Training, pairs: Pairs, negatives: np.ndarray) -> Iterator[Batch]:
    if not len(negatives):
        return
    reader, size = training.reader, training.reader.config.pairs_per_step
    for some in np.resize(np.arange(len(negatives)), (-(-len(negatives) // size), size)):
        documents = np.stack([pairs.relevant[some], negatives[some]], axis=1)
        width = reader.width(int(reader.lengths(documents).max(initial=1)))
        yield reader.batch(training.queries[pairs.queries[some]], documents, width)


def _relevant_pairs(judged: JudgedMatrix) -> Pairs:
    queries = judged.queries
    numbers = np.repeat(np.arange(len(queries)), np.diff(queries.judged_indptr))
    relevant = queries.grades > 0
    return Pairs(numbers[relevant], queries.judged_docs[relevant].astype(np.int64))


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


class _HeldOut:
    """The loss of queries that are not learned from, always of the same documents.

    Their pairs are taken several times, each time with another document that is not relevant: the
    fewer the queries are, the more one document would decide.
    """

    def __init__(self, training: Training, pairs: Pairs, rng: np.random.Generator) -> None:
        most = training.reader.config.pairs_per_epoch
        again = pairs.of(np.tile(np.arange(len(pairs.queries)), _DRAWS))
        negatives = _draw_negatives(training, again.queries, rng)
        some = rng.permutation(np.flatnonzero(negatives >= 0))[:most]
        self._training, self._pairs, self._negatives = training, again.of(some), negatives[some]

    def loss(self, ranker: Ranker) -> float:
        """Return the mean hinge; 0 where there is no pair."""
        losses = []
        for batch in _in_steps(self._training, self._pairs, self._negatives):
            check()
            losses.append(float(_loss(ranker, batch)))
        return float(np.mean(losses)) if losses else 0.0
