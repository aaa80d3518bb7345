"""Training: pairwise hinge over (query, relevant, non-relevant), Adam, early stopping.

It goes on until the loss of queries that are not learned from falls no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

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
from ...simulation.retrieval import Queries, make_queries
from ..pairwise import relevant_pairs
from ..similarities import hinge_with_sparsity
from . import RANKERS
from .config import RATES, NeuralConfig
from .layers import Batch
from .rankers import Ranker, make_ranker
from .reading import Reader

_DRAWS = 4
"""Documents that are not relevant, for each relevant one of a held-out query: the fewer these
queries are, the more one document would decide."""


class Training(NamedTuple):
    """Judged queries, and what the first stage finds for them.

    Attributes
    ----------
    reader : Reader
    judged : Queries
        Q of them.
    queries : int32[Q, L]
        Their terms, padded with -1.
    found : int32[Q, depth]
        The documents of BM25 with Anserini's parameters, best first, padded with -1.
    """

    reader: Reader
    judged: Queries
    queries: np.ndarray
    found: np.ndarray


class Trained(NamedTuple):
    """A re-ranker as it was after ``epoch``, when the held-out queries' loss was ``loss``."""

    ranker: Ranker
    epoch: int
    loss: float


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
    found = judged.postings.top(judged.postings.impacts(Bm25(), judged.plain), config.depth)
    return Training(reader, judged.queries, reader.queries(texts), found)


def train(name: str, training: Training, seed: int, progress: Progress = silent) -> Trained:
    """Return the re-ranker after the epoch with the smallest held-out loss.

    A share of the queries is held out: the others alone are learned from. Epoch 0 is the random
    start, and ``patience`` epochs without a smaller loss end it. A non-relevant document is drawn
    from the first stage's, all alike, for those are what will be re-ranked; what is not judged
    counts as non-relevant.
    """
    reader, config = training.reader, training.reader.config
    rng = np.random.default_rng(seed)
    learned, held_out = _split(relevant_pairs(training.judged), config.held_out, rng)
    rate = config.learning_rate or RATES[name]
    with deferred():  # JAX's callbacks bear no exception
        ranker = make_ranker(name, reader.table.shape[1], config, seed)
        state = optax.adam(rate).init(ranker)
        unseen = _triples(training, np.tile(held_out, (_DRAWS, 1)), rng)  # the same in all epochs
        best = Trained(ranker, 0, _mean_loss(ranker, training, unseen))
        for epoch in range(1, config.max_epochs + 1):
            for batch in _batches(training, _triples(training, learned, rng)):
                check()
                ranker, state = _step(ranker, state, batch, rate)
            loss = _mean_loss(ranker, training, unseen)
            progress(f"train {RANKERS[name]}, epochs", epoch, config.max_epochs)
            if loss < best.loss:
                best = Trained(ranker, epoch, loss)
            if epoch - best.epoch >= config.patience or best.loss <= 0:
                break
    progress(f"train {RANKERS[name]}, epochs", config.max_epochs, config.max_epochs)
    return best


def _hinge(ranker: Ranker, batch: Batch) -> jax.Array:
    """Return float[], of batches of a relevant document and one that is not."""
    scores = ranker(batch)
    return hinge_with_sparsity(scores[:, 0], scores[:, 1], jnp.zeros(()), 0.0)


_loss = jax.jit(_hinge)


@partial(jax.jit, static_argnames="rate")
def _step(ranker: Ranker, state: Any, batch: Batch, rate: float) -> tuple[Ranker, Any]:
    change, state = optax.adam(rate).update(jax.grad(_hinge)(ranker, batch), state)
    return optax.apply_updates(ranker, change), state


def _mean_loss(ranker: Ranker, training: Training, triples: np.ndarray) -> float:
    """Return the mean hinge; 0 where there is no triple."""
    losses = []
    for batch in _batches(training, triples):
        check()
        losses.append(float(_loss(ranker, batch)))
    return float(np.mean(losses)) if losses else 0.0


def _split(
    pairs: np.ndarray, share: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs to learn from, and those of a ``share`` of the queries, at least one.

    A single query is both.
    """
    queries = np.unique(pairs[:, 0])
    some = rng.permutation(queries)[: max(1, round(share * len(queries)))]
    held_out = np.isin(pairs[:, 0], some)
    return pairs[~held_out if len(queries) > 1 else held_out], pairs[held_out]


def _triples(training: Training, pairs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return int64[m, 3]: in random order as many of ``pairs`` as an epoch takes, each with a
    document that its query found and that is not relevant.
    """
    drawn = np.full(len(pairs), -1, np.int64)
    for query in np.unique(pairs[:, 0]).tolist():
        docs, grades = training.judged.judged_of(query)
        found = training.found[query][training.found[query] >= 0]
        others = found[~np.isin(found, docs[grades > 0])]
        own = pairs[:, 0] == query
        if len(others):
            drawn[own] = rng.choice(others, own.sum())
    order = rng.permutation(np.flatnonzero(drawn >= 0))
    some = order[: training.reader.config.pairs_per_epoch]
    return np.column_stack([pairs, drawn])[some]


def _batches(training: Training, triples: np.ndarray) -> Iterator[Batch]:
    """Yield ``triples`` in steps; the last is filled up with the first ones, so that shapes are
    few.
    """
    reader, size = training.reader, training.reader.config.pairs_per_step
    for some in np.resize(triples, (-(-len(triples) // size), size, 3)):
        width = reader.width(int(reader.lengths(some[:, 1:]).max(initial=1)))
        yield reader.batch(training.queries[some[:, 0]], some[:, 1:], width)
