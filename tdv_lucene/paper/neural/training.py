"""Training of re-rankers, and what they read of a collection.

Pairwise hinge over (query, relevant, non-relevant), Adam, until the loss of held-out queries stops
falling.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import jax
import numpy as np
import optax

from ...evaluation.topics import Qrels
from ...interruption import check, deferred
from ...matrix.term_document_matrix import TermDocumentMatrix, TokenSequences
from ...matrix.term_vectors import TermVectors
from ...progress import Progress, silent
from ...ranking import SearchParameters
from ...ranking.functions import bm25_idf
from ...simulation.problem import Problem
from ...simulation.retrieval import Queries
from ..method import hinge
from ..recipes import Triples
from . import RANKERS
from .layers import Batch
from .rankers import POOLED, RATES, NeuralConfig, Ranker, make_ranker

_KEY = 20161024  # of the vectors of terms that have none: the same in training and at search
_QUERY_STEP = 8
_DRAWS = 4
"""Non-relevant documents for each relevant one of a held-out query: these queries are few, and one
document should not decide."""


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads from a collection the first terms of queries and documents, and their vectors."""

    matrix: TermDocumentMatrix
    vectors: TermVectors
    config: NeuralConfig

    @cached_property
    def table(self) -> np.ndarray:
        """float32[V, E]: the word vectors, all of length sqrt(E).

        A term without one gets a random vector, always the same: it matches only itself.
        """
        terms, size = self.matrix.shape[0], self.vectors.vectors.shape[1]
        table = np.array(jax.random.normal(jax.random.key(_KEY), (terms, size)))
        table[self.vectors.terms] = self.vectors.vectors
        lengths = np.sqrt((table**2).sum(axis=1, keepdims=True))
        return table * (np.sqrt(size) / np.maximum(lengths, 1e-12)).astype(np.float32)

    @cached_property
    def idf(self) -> np.ndarray:
        """float32[V]: Lucene's of BM25."""
        doc_freq = np.asarray(self.matrix.doc_freq, np.float64)
        return bm25_idf(doc_freq, self.matrix.doc_count).astype(np.float32)

    @property
    def sequences(self) -> TokenSequences:
        assert self.matrix.sequences is not None  # open_matrix(tokens=True) has them
        return self.matrix.sequences

    def queries(self, texts: Mapping[str, Sequence[str]]) -> np.ndarray:
        """Return int32[Q, L]: the terms of analysed texts, without those no document has.

        L is the longest query's length, up to ``query_terms``, rounded up to a multiple of eight.
        """
        found = [self.matrix.vocabulary.find(tokens) for tokens in texts.values()]
        found = [terms[terms >= 0][: self.config.query_terms] for terms in found]
        longest = max((len(terms) for terms in found), default=0)
        width = min(self.config.query_terms, -(-max(longest, 1) // _QUERY_STEP) * _QUERY_STEP)
        padded = np.full((len(found), width), -1, np.int32)
        for row, terms in zip(padded, found):
            row[: len(terms)] = terms
        return padded

    def lengths(self, documents: np.ndarray) -> np.ndarray:
        """Return int64[n]: the number of terms read of each of ``documents``."""
        indptr = self.sequences.indptr
        return np.minimum(indptr[documents + 1] - indptr[documents], self.config.doc_terms)

    def width(self, longest: int) -> int:
        """Return the padded length, one of four, for documents of up to ``longest`` terms."""
        whole = self.config.doc_terms // POOLED
        steps = sorted({max(1, -(-whole * part // 5)) for part in (1, 2, 3, 5)})
        return next(step * POOLED for step in steps if step * POOLED >= longest)

    def batch(self, queries: np.ndarray, documents: np.ndarray, width: int) -> Batch:
        """Return the batch of ``documents`` int[B, C] for queries int32[B, L] of terms.

        A document of -1 is padding, and empty. Documents are cut or padded to ``width`` terms.
        """
        docs = self.sequences.heads(np.maximum(documents, 0).ravel(), width)
        docs = docs.reshape(*documents.shape, width)
        docs[documents < 0] = -1
        idf = np.where(queries >= 0, self.idf[np.maximum(queries, 0)], 0).astype(np.float32)
        return Batch(queries, self._vectors(queries), idf, docs, self._vectors(docs))

    def _vectors(self, terms: np.ndarray) -> np.ndarray:
        found = np.take(self.table, np.maximum(terms, 0), axis=0)
        found[terms < 0] = 0
        return found


class Training(NamedTuple):
    """Q judged queries, with triples of what BM25 with Anserini's parameters finds first."""

    reader: Reader
    judged: Queries
    queries: np.ndarray  # int32[Q, L]: terms, padded with -1
    triples: Triples


class Trained(NamedTuple):
    """A re-ranker after ``epoch``, with the held-out queries' loss."""

    ranker: Ranker
    epoch: int
    loss: float


def judged_training(
    matrix: TermDocumentMatrix, vectors: TermVectors, config: NeuralConfig,
    tokens: Mapping[str, Sequence[str]], qrels: Qrels,
) -> Training:  # fmt: skip
    """Return a ranker's training data: the judged queries, and what BM25 finds for them."""
    reader = Reader(matrix, vectors, config)
    problem = Problem.of(matrix, tokens, qrels, vectors, "bm25", SearchParameters())
    texts = {query: tokens[query] for query in problem.queries.ids}
    triples = Triples(problem, config.depth)
    return Training(reader, problem.queries, reader.queries(texts), triples)


def train(name: str, training: Training, seed: int, progress: Progress = silent) -> Trained:
    """Return the re-ranker after the epoch with the smallest held-out loss.

    A share of the queries is held out, and only the others are learned from. Epoch 0 is the random
    start, and ``patience`` epochs without a smaller loss end training. A non-relevant document is
    drawn uniformly from the first stage's, which are to be re-ranked; unjudged ones are
    non-relevant.
    """
    reader, config = training.reader, training.reader.config
    rng = np.random.default_rng(seed)
    learned, held_out = _split(training.triples.pairs, config.held_out, rng)
    rate = config.learning_rate or RATES[name]
    with deferred():  # JAX's callbacks tolerate no exception
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
    return hinge(ranker(batch))


_loss = jax.jit(_hinge)


@partial(jax.jit, static_argnames="rate")
def _step(ranker: Ranker, state: Any, batch: Batch, rate: float) -> tuple[Ranker, Any]:
    change, state = optax.adam(rate).update(jax.grad(_hinge)(ranker, batch), state)
    return optax.apply_updates(ranker, change), state


def _mean_loss(ranker: Ranker, training: Training, triples: np.ndarray) -> float:
    """Return the mean hinge; 0 without triples."""
    losses = []
    for batch in _batches(training, triples):
        check()
        losses.append(float(_loss(ranker, batch)))
    return float(np.mean(losses)) if losses else 0.0


def _split(
    pairs: np.ndarray, share: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs to learn from and those of a ``share`` of the queries, at least one.

    A single query is both.
    """
    queries = np.unique(pairs[:, 0])
    chosen = rng.permutation(queries)[: max(1, round(share * len(queries)))]
    held_out = np.isin(pairs[:, 0], chosen)
    return pairs[~held_out if len(queries) > 1 else held_out], pairs[held_out]


def _triples(training: Training, pairs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return int64[m, 3]: up to ``pairs_per_epoch`` of the pairs in random order, each with a
    non-relevant document that its query found.
    """
    pairs = pairs[np.isin(pairs[:, 0], training.triples.of(pairs[:, 0])[:, 0])]
    chosen = rng.permutation(pairs)[: training.reader.config.pairs_per_epoch]
    return np.column_stack([chosen, training.triples.negatives(chosen[:, 0], rng)])


def _batches(training: Training, triples: np.ndarray) -> Iterator[Batch]:
    """Yield ``triples`` in steps, the last filled up with the first ones for few shapes."""
    reader, size = training.reader, training.reader.config.pairs_per_step
    for step in np.resize(triples, (-(-len(triples) // size), size, 3)):
        width = reader.width(int(reader.lengths(step[:, 1:]).max(initial=1)))
        yield reader.batch(training.queries[step[:, 0]], step[:, 1:], width)
