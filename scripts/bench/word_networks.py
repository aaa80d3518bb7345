"""Networks that know words: their vectors, and the training on all English collections at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from prior_collections import Judged
from prior_network import RECIPE, ROUNDS, STATISTICS, Part, network_part

from tdv_lucene import extract_matrix
from tdv_lucene.core import losses
from tdv_lucene.core.scoring import score_batch, weighted_statistics
from tdv_lucene.core.tdv import Features, flat_start
from tdv_lucene.embedding.term_vectors import TermVectors
from tdv_lucene.learning.candidates import Lists
from tdv_lucene.learning.listwise import plain_start
from tdv_lucene.learning.training_task import Collection, Task, batches, term_features
from tdv_lucene.matrix.term_statistics import standard_statistic
from tdv_lucene.ranking import Array, Similarity

SEED, DIMENSIONS, EVERY, EPOCHS, WORDS, HIDDEN = 0, 64, 4, 2, 70_000, 16
"""Vectors are trained on one document of four. So many words, with a byte a dimension, and their
names are the 5 MB that could be shipped."""


class Network(NamedTuple):
    """ReLU(w . statistics + b + u . vector), or + o . tanh(H vector) with a hidden layer.

    Attributes
    ----------
    of_statistics : float32[S]
    bias : float32[]
    of_vector : float32[K] or float32[hidden]
    hidden : float32[K, hidden] or None
    """

    of_statistics: Array
    bias: Array
    of_vector: Array
    hidden: Array | None


class Design(NamedTuple):
    """What a network knows, 1 or 0, and the l2 of what belongs to vectors."""

    name: str
    statistics: float
    vectors: float
    l2: float
    hidden: bool = False

    @property
    def label(self) -> str:
        return f"{self.name} {self.l2:g}" if self.vectors else self.name


DESIGNS = (
    Design("statistics", 1, 0, 1.0),
    *(Design("both", 1, 1, l2) for l2 in (0.1, 1.0)),
    *(Design("both, two layers", 1, 1, l2, hidden=True) for l2 in (0.01, 0.1)),
    Design("vectors", 0, 1, 0.1),
)

Words = tuple[list[str], np.ndarray]
"""Words, and a vector of each, float32[W, K]."""


def word_vectors(work: Path, made: Path) -> Words:
    """Return the words of the table, index terms of wiki165k, and float32[W, K], from the file
    ``made`` if it exists, which else is written."""
    if not made.exists():
        _train_words(work, made)
    held = np.load(made)
    return held["words"].tolist(), held["vectors"]


def _train_words(work: Path, made: Path) -> None:
    from gensim.models import Word2Vec

    index = work / "wiki165k" / "index-with-positions"
    with TemporaryDirectory() as folder:
        matrix = extract_matrix(index, Path(folder) / "matrix", tokens=True)
        lines, sequences, terms = Path(folder) / "words.txt", matrix.sequences, matrix.vocabulary
        assert sequences is not None
        words = np.array([term.decode() for term in terms.terms], object)
        with open(lines, "w", encoding="utf-8") as file:
            for start, end in zip(sequences.indptr[:-1:EVERY], sequences.indptr[1::EVERY]):
                file.write(" ".join(words[sequences.terms[start:end]]) + "\n")
        model = Word2Vec(
            corpus_file=str(lines), vector_size=DIMENSIONS, sg=1, epochs=EPOCHS, seed=SEED,
            workers=1,
        )  # fmt: skip
    kept = model.wv.index_to_key[:WORDS]
    np.savez(made, words=np.array(kept), vectors=model.wv.vectors[: len(kept)])


def features_of(judged: Judged, words: Words) -> Features:
    """The prior's statistics of every term, and the vectors of terms in the table, both
    standardised on the collection."""
    matrix = judged.problem.matrix
    found = matrix.vocabulary.find(word.encode() for word in words[0])
    order = np.argsort(found)[np.count_nonzero(found < 0) :]
    vectors = TermVectors(matrix.vocabulary.sha256, found[order], words[1][order], {})
    columns = [standard_statistic(matrix, name) for name in STATISTICS]
    known = term_features(matrix, vectors, "vectors")
    return known._replace(statistics=np.column_stack(columns).astype(np.float32))


def values_of(network: Network, features: Features) -> jax.Array:
    """Return float32[V], the output of the network's unit."""
    known = features.vectors
    if network.hidden is not None:
        known = jnp.tanh(known @ network.hidden)
    sums = features.statistics @ network.of_statistics + network.bias
    return jax.nn.relu(sums.at[features.vector_terms].add(known @ network.of_vector))


class Weights(NamedTuple):
    """What gradients change: as in ``prior.py`` every collection has a temperature of its own."""

    network: Network
    log_temperature: Array


_ADAM = optax.scale_by_adam()


@partial(jax.jit, static_argnames="similarity")
def _update(
    now: Weights, state: Any, task: Collection, lists: Lists, similarity: Similarity,
    knows: tuple[float, float, float], rate: Array,
) -> tuple[Weights, Any]:  # fmt: skip
    statistics, vectors, l2 = knows

    def objective(some: Weights) -> jax.Array:
        network = some.network
        used = network._replace(
            of_statistics=network.of_statistics * statistics, of_vector=network.of_vector * vectors
        )
        values = values_of(used, task.features)
        counts = task.doc_freq, task.total_term_freq, task.doc_count
        scores = score_batch(similarity, values, lists.batch, weighted_statistics(values, *counts))
        temperature = jnp.exp(some.log_temperature)
        loss = losses.LOSSES[RECIPE.loss](scores, lists.gains, lists.where, temperature)
        of_words = jax.tree.leaves((network.of_vector, network.hidden))
        penalty = RECIPE.l2 * (network.of_statistics**2).sum()
        found: jax.Array = loss + penalty + l2 * sum((part**2).sum() for part in of_words)
        return found

    change, state = _ADAM.update(jax.grad(objective)(now), state, now)
    return jax.tree.map(lambda old, step: old - rate * step, now, change), state


class Training:
    """A network in training on all collections but ``without``."""

    def __init__(self, design: Design, without: str, collections: int) -> None:
        self.design, self.without, self.steps = design, without, 0
        total = ROUNDS * collections
        self.rate = optax.cosine_decay_schedule(RECIPE.learning_rate, total, alpha=0.1)
        hidden = None
        if design.hidden:
            drawn = np.random.default_rng(SEED).normal(size=(DIMENSIONS, HIDDEN))
            hidden = jnp.asarray(drawn / np.sqrt(10), jnp.float32)
        width = HIDDEN if design.hidden else DIMENSIONS
        self.network = Network(jnp.zeros(len(STATISTICS)), jnp.ones(()), jnp.zeros(width), hidden)
        self.temperatures: dict[str, Array] = {}
        self.state = _ADAM.init(Weights(self.network, jnp.zeros(())))

    def step(self, name: str, task: Task, lists: Lists, start: Array) -> None:
        """Learn from a batch of the collection ``name``."""
        if name == self.without:
            return
        now = Weights(self.network, self.temperatures.get(name, start))
        knows = self.design.statistics, self.design.vectors, self.design.l2
        now, self.state = _update(
            now, self.state, task.collection, lists, task.problem.similarity, knows,
            self.rate(self.steps),
        )  # fmt: skip
        self.network, self.temperatures[name] = now
        self.steps += 1


def part_of(judged: Judged, words: Words) -> Part:
    """Today's part of a collection, with vectors."""
    part = network_part(judged)
    features = jax.tree.map(jnp.asarray, features_of(judged, words))
    collection = part.task.collection._replace(features=features, start=flat_start(features))
    return part._replace(task=part.task._replace(collection=collection))


def train_all(parts: dict[str, Part], trainings: Sequence[Training]) -> None:
    """A step on each collection in turn; all trainings see the same batches."""
    rng = np.random.default_rng(SEED)
    lists = {name: batches(part.task, part.queries, rng) for name, part in parts.items()}
    starts = {}
    for name, (task, _) in parts.items():
        starts[name] = plain_start(
            task.problem.similarity, RECIPE, task.collection, next(lists[name])
        ).log_temperature
    for number in range(ROUNDS):
        for name, (task, _) in parts.items():
            batch = jax.tree.map(jnp.asarray, next(lists[name]))
            for training in trainings:
                training.step(name, task, batch, starts[name])
        print("round", number, flush=True)
