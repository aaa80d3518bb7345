"""The paper's recipe: its ranking functions, its loss, its training, and TDVs learned by it.

Statistics are those of the documents of one half batch (the relevant or the non-relevant ones), as
in the paper's implementation. Two departures from the printed equations allow a query term that
occurs in no document of the half batch (l1 = 0): eq. (3) divides by l1 + 1, eq. (6) by mu p + 1.
Eq. (10) is read with S' in its denominator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from ..embedding.term_vectors import TermVectors
from ..errors import TdvError
from ..interruption import check, deferred
from ..learning.learn import values_of
from ..learning.scale import ScaleChoice, faithful_scale
from ..learning.train import padded_terms
from ..learning.tune import tuning_queries
from ..learning.validate import FullIndex, Learned, measure_full, validate_points
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..progress import Progress, silent
from ..ranking import Array, SearchParameters
from ..simulation.problem import FoldProblems, Problem, PrunedByFold, TermScores
from ..simulation.retrieval import Queries
from ..simulation.scoring import Batch, Features, Linear, doc_lengths, term_values
from ..values.losses import Recommended
from ..values.posting_rule import REDUCTIONS
from ..values.term_values import TermValues


class BatchStatistics(NamedTuple):
    """Statistics of one half batch: l1(S'_{t,:}) over its documents by term, and float[] of all."""

    l1: Array
    max_l1: Array
    total_tokens: Array
    avg_doc_len: Array

    @property
    def idf(self) -> Array:
        """Eq. (3): log((max l1 + 1) / (l1 + 1)), never negative."""
        return jnp.log((self.max_l1 + 1) / (self.l1 + 1))


@dataclass(frozen=True)
class PaperTfIdf:
    """Eq. (9)."""

    def term_scores(self, tf: Array, doc_len: Array, statistics: BatchStatistics) -> Array:
        del doc_len
        return tf * statistics.idf


@dataclass(frozen=True)
class PaperBm25:
    """Eq. (10), with the factor (k1 + 1) that Lucene leaves out."""

    k1: float = 0.9
    b: float = 0.4

    def term_scores(self, tf: Array, doc_len: Array, statistics: BatchStatistics) -> Array:
        length_norm = 1 - self.b + self.b * doc_len / statistics.avg_doc_len
        return statistics.idf * tf * (self.k1 + 1) / (tf + self.k1 * length_norm)


@dataclass(frozen=True)
class PaperDirichlet:
    """Eq. (11) in its first form: |q| log(alpha_d) once, over matching terms or not."""

    mu: float = 1000.0

    def term_scores(self, tf: Array, doc_len: Array, statistics: BatchStatistics) -> Array:
        p = statistics.l1 / statistics.total_tokens
        return jnp.log1p(tf / (1 + self.mu * p)) - jnp.log1p(doc_len / self.mu)


PaperSimilarity = PaperTfIdf | PaperBm25 | PaperDirichlet
"""A ranking function as the sum over query terms of ``query_tf * term_scores``: float[...], of a
term in a document, in the broadcast shape of the arguments."""

SIMILARITIES: dict[str, PaperSimilarity] = {
    "bm25": PaperBm25(), "qld": PaperDirichlet(), "tfidf": PaperTfIdf()
}  # fmt: skip
"""The ranking functions that the paper learns by, with Anserini's parameters."""


@dataclass(frozen=True)
class PaperRecipe:
    """The paper's training: batch-wise statistics, l1-based idf, hinge and l1, Adam."""

    name = "paper"
    pairs_per_step: int = 32  # (query, relevant, non-relevant) triples
    learning_rate: float = 1e-3
    sparsity: float = 1e-5  # lambda, within [0, 1]
    max_epochs: int = 100
    patience: int = 10  # epochs without a better training nDCG@5 before stopping
    folds: int = 5
    reductions: tuple[float, ...] = REDUCTIONS  # 0 drops only terms with a learned TDV of 0

    def __post_init__(self) -> None:
        if not 0 <= self.sparsity <= 1:
            raise TdvError(f"sparsity (lambda) must lie within [0, 1], got {self.sparsity}")


def learn_by_paper(
    matrix: TermDocumentMatrix,
    topics: Mapping[str, Sequence[str]],
    qrels: Mapping[str, Mapping[str, int]],
    *,
    model: str,
    recipe: PaperRecipe,
    vectors: TermVectors,
    seed: int = 0,
    progress: Progress = silent,
) -> TermValues:
    """Learn TDVs as the paper does, from all documents, with Anserini's k1, b and mu.

    One training per fold gives the held-out measures, one on all queries the TDVs. w sees the
    vectors as they are, neither centred nor scaled, and nothing else. Terms with a TDV of 0 are
    dropped, which is the reduction recommended; larger reductions also drop the terms with the
    smallest TDVs. Parameters and errors are those of :func:`tdv_lucene.learn_term_values`.
    """
    matrix.require_postings("learning")
    rng = np.random.default_rng(seed)
    with deferred():  # JAX's callbacks tolerate no exception
        problem = Problem.of(matrix, topics, qrels, vectors, model, SearchParameters())
        problem.require_queries()
        folds = problem.folds(recipe.folds, rng)
        everything = np.arange(len(problem.queries))
        none = jnp.zeros((matrix.shape[0], 0))
        known = jnp.asarray(vectors.terms), jnp.asarray(vectors.vectors)
        features = Features(none, *known)
        trainings, most = [*folds, everything[:0]], recipe.max_epochs
        trained = []
        for number, held_out in enumerate(trainings):

            def epoch_done(epoch: int, before: int = number * most) -> None:
                # The training before may have stopped early.
                progress("train, epochs", before + epoch, len(trainings) * most)

            queries = np.setdiff1d(everything, held_out)
            linear, epoch = train(problem, features, recipe, queries, rng, epoch_done)
            values = np.asarray(term_values(linear, features))
            trained.append((values, epoch, linear))
        *of_folds, (final, _, _) = trained
        full = measure_full(problem, folds, tuning_queries(problem, seed), progress)
        learned = validate_zeros(
            FoldProblems.same(problem, folds), final, [values for values, *_ in of_folds], folds,
            full, recipe.reductions, faithful_scale, progress,
        )  # fmt: skip
    for report, (_, epoch, linear) in zip(learned.folds, of_folds):
        w, b = linear.of_vector.tolist(), float(linear.bias)
        report["network"] = {"epoch": epoch, "w_vector": w, "b": b}
    return values_of(learned, recipe, seed)


def validate_zeros(
    problems: FoldProblems,
    final: np.ndarray,
    of_folds: Sequence[np.ndarray],
    folds: Sequence[np.ndarray],
    full: FullIndex,
    reductions: tuple[float, ...],
    choose_scale: ScaleChoice,
    progress: Progress,
) -> Learned:
    """Measure TDVs whose zeros drop their terms; no more than the zeros is recommended.

    ``final`` float32[V] are those of all queries, ``of_folds`` those of each fold's training.
    Larger ``reductions`` also drop the terms with the smallest TDVs.
    """
    scored = [TermScores(values, values) for values in of_folds]
    pruned = PrunedByFold(problems, TermScores(final, final), scored, folds, 0.0, "term")
    learned = validate_points(pruned, full, reductions, choose_scale, progress)
    return learned._replace(recommended=Recommended(0.0, None))


def train(
    problem: Problem, features: Features, recipe: PaperRecipe, train_queries: np.ndarray,
    rng: np.random.Generator, epoch_done: Callable[[int], None],
) -> tuple[Linear, int]:  # fmt: skip
    """Return the parameters after the epoch with the best training nDCG@5, and that epoch.

    Epoch 0 is the random start, so the best is at least as good as that on the training queries.
    """

    def training_ndcg() -> float:
        """Rank the whole collection with Lucene's formula, which is what searches will use."""
        values = np.asarray(term_values(linear, features))
        measured = problem.measure(problem.rows.weighted(values), train_queries)
        return float(measured[:, 0].mean())

    optimizer, update = _compiled(SIMILARITIES[problem.model], recipe)
    pairs = relevant_pairs(problem.queries)
    pairs = pairs[np.isin(pairs[:, 0], train_queries)]
    terms = padded_terms(problem.queries)
    linear = glorot_start(jax.random.key(int(rng.integers(2**31))), features)
    state = optimizer.init(linear)
    best, best_epoch, best_ndcg = linear, 0, training_ndcg()
    for epoch in range(1, recipe.max_epochs + 1):
        order, size = rng.permutation(len(pairs)), recipe.pairs_per_step
        for chosen in np.split(order, range(size, len(order), size)):
            check()
            halves = _halves(problem, pairs[chosen], terms, rng)
            linear, state = update(linear, state, features, *halves)
        ndcg = training_ndcg()
        epoch_done(epoch)
        if ndcg > best_ndcg:
            best, best_epoch, best_ndcg = linear, epoch, ndcg
        if epoch - best_epoch >= recipe.patience:
            break
    return jax.tree.map(np.asarray, best), best_epoch


def glorot_start(key: jax.Array, features: Features) -> Linear:
    """Return the paper's start: w Glorot-uniform over the features and one unit, b = 1."""
    statistics, vector = features.width
    bound = (6 / (statistics + vector + 1)) ** 0.5
    w = jax.random.uniform(key, (statistics + vector,), minval=-bound, maxval=bound)
    return Linear(w[:statistics], w[statistics:], jnp.ones(()))


def relevant_pairs(queries: Queries) -> np.ndarray:
    """Return int64[n, 2]: each query with each of its relevant documents that the index holds."""
    numbers = np.repeat(np.arange(len(queries)), np.diff(queries.judged_indptr))
    return np.stack([numbers, queries.judged_docs], axis=1)[queries.grades > 0]


def draw_negatives(
    queries: Queries, chosen: np.ndarray, documents: int, rng: np.random.Generator
) -> np.ndarray:
    """Return int64[B]: for each chosen query a judged non-relevant document, or any document of the
    collection if it has none."""
    drawn = rng.integers(documents, size=len(chosen))
    for row, query in enumerate(chosen.tolist()):
        docs, grades = queries.judged_of(query)
        if (grades <= 0).any():
            drawn[row] = rng.choice(docs[grades <= 0])
    return drawn


def _halves(
    problem: Problem, pairs: np.ndarray, terms: tuple[np.ndarray, np.ndarray], rng: Any
) -> tuple[Batch, Batch]:
    """Return the relevant and the non-relevant half of a batch, ``C`` = 1."""
    queries, positives = pairs.T
    query_terms, query_tf = terms[0][queries], terms[1][queries]
    negatives = draw_negatives(problem.queries, queries, problem.matrix.shape[1], rng)

    def half(docs: np.ndarray) -> Batch:
        tf = problem.rows.term_freqs(docs, query_terms)
        return problem.rows.batch(query_terms, query_tf, docs[:, None], tf[:, None])

    return half(positives), half(negatives)


@lru_cache(maxsize=4)
def _compiled(similarity: PaperSimilarity, recipe: PaperRecipe) -> tuple[Any, Any]:
    """Return (optimizer, update), compiled once for all folds."""
    optimizer = optax.adam(recipe.learning_rate)

    def objective(
        linear: Linear, features: Features, positive: Batch, negative: Batch
    ) -> jax.Array:
        values = term_values(linear, features)
        better, worse = (score_half(similarity, values, half) for half in (positive, negative))
        l1 = sum((half.entry_tf * values[half.entry_terms]).sum() for half in (positive, negative))
        return hinge_with_sparsity(better, worse, l1, recipe.sparsity)

    @jax.jit
    def update(
        linear: Linear, state: Any, features: Features, positive: Batch, negative: Batch
    ) -> tuple[Any, Any]:
        gradient = jax.grad(objective)(linear, features, positive, negative)
        change, state = optimizer.update(gradient, state, linear)
        return optax.apply_updates(linear, change), state

    return optimizer, update


def batch_statistics(tdvs: Array, batch: Batch) -> BatchStatistics:
    """Return the statistics of the batch's own documents; ids are those of ``tdvs``."""
    weighted = batch.entry_tf * tdvs[batch.entry_terms]
    l1 = jax.ops.segment_sum(weighted, batch.entry_terms, tdvs.shape[0])
    return BatchStatistics(l1, l1.max(), l1.sum(), doc_lengths(tdvs, batch).mean())


def score_half(similarity: PaperSimilarity, tdvs: Array, batch: Batch) -> jax.Array:
    """Return float32[B] scores of each query with its one document (``C`` is 1)."""
    statistics = batch_statistics(tdvs, batch)
    of_query = statistics._replace(l1=statistics.l1[batch.query_terms])
    weighted_tf = batch.tf[:, 0] * tdvs[batch.query_terms]
    lengths = doc_lengths(tdvs, batch)
    scores = similarity.term_scores(weighted_tf, lengths, of_query)
    summed: jax.Array = (scores * batch.query_tf).sum(axis=-1)
    return summed


def hinge_with_sparsity(
    positive: Array, negative: Array, l1_of_pairs: Array, sparsity: float
) -> jax.Array:
    """Return the paper's objective (eq. 12-13): (1 - lambda) hinge + lambda l1.

    ``positive`` and ``negative`` are float[B], scores of the documents of each triple.
    ``l1_of_pairs`` is the *sum* over the batch of l1(S'_d+) + l1(S'_d-), while the hinge is a
    *mean*: as in the paper's implementation, so that its lambda keeps its meaning.
    """
    hinge = optax.losses.hinge_loss(positive - negative, jnp.ones_like(positive)).mean()
    loss: jax.Array = (1 - sparsity) * hinge + sparsity * l1_of_pairs
    return loss
