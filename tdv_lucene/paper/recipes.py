"""The paper's recipe, literal and tuned: from judged queries to TDVs.

*Literal* has the constants of the paper's implementation. *Tuned* chooses what the text leaves open
by inner folds of the training queries, by the paper's own claim: postings are dropped, and nDCG@5
and R@1000 are not lower than those of the baseline it states, the full index with the standard
parameters. A training on all inner folds but one is stopped at more and more zeros, and each stop
is measured on that one. The most zeros that keep the measures are taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..interruption import check, deferred
from ..learning.selection import first_of_the_best
from ..learning.train import padded_terms
from ..learning.tune import choose_parameters, tuning_queries
from ..matrix.term_document_matrix import TermDocumentMatrix
from ..matrix.term_statistics import STATISTICS, residual_idf, standard_statistic
from ..matrix.term_vectors import TermVectors
from ..progress import Progress, silent
from ..ranking import SearchParameters
from ..simulation.problem import Problem
from ..simulation.retrieval import MEASURES as MEASURED
from ..simulation.scoring import Batch, Features, Linear, term_values
from ..values.posting_rule import constants_of
from ..values.term_values import TermValues, unvalidated_values
from .method import Collection, Weights, as_linear, best_temperature, compiled, whitened
from .published import MEASURES

_COLUMNS = [MEASURED.index(name) for name in MEASURES]
_CALIBRATED_ON = 1024  # triples that the temperature is chosen on
_LOOKED_AT_EVERY = 2  # steps; the zeros grow by one or two percent of the postings in so many
_SAME_ZEROS = 0.02  # shares of the postings that differ by less are about the same

Judged = tuple[Mapping[str, Sequence[str]], Mapping[str, Mapping[str, int]]]
"""Analysed topics and qrels."""


@dataclass(frozen=True)
class PaperRecipe:
    """The paper's training: batch-wise statistics, l1-based idf, hinge and l1, Adam."""

    name = "paper"
    pairs_per_step: int = 32  # (query, relevant, non-relevant) triples
    learning_rate: float = 1e-3
    sparsity: float = 1e-5  # lambda
    max_epochs: int = 100
    patience: int = 10  # epochs without a better training nDCG@5 before stopping


@dataclass(frozen=True)
class TunedRecipe:
    """The paper's training, with its open choices made by inner folds.

    On other queries about as much recall is lost as on those that choose, so ``kept_recall`` asks
    for half of the 1 % that may be lost. Negatives from ``anywhere`` cost what no longer matches.
    """

    name = "tuned"
    sparsities: tuple[float, ...] = (0.5, 0.8)  # lambda
    powers: tuple[float, ...] = (0.0, 1.0)  # of TDVs above 0: all 1, or as learned
    targets: tuple[float, ...] = (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)  # ascending
    share_of_statistics: float = 0.25  # length of a term's statistics, where its vector's is 1
    inner_folds: int = 3  # at least 2
    measured: int = 400  # training queries to measure by, at most
    kept_recall: float = 0.995  # share of the baseline's R@1000 that must be left
    candidates: int = 1000  # of the baseline's first documents, to draw negatives from
    anywhere: float = 0.5  # share of negatives from all documents
    pairs_per_step: int = 64
    max_steps: int = 200
    learning_rate: float = 2e-2


class Setting(NamedTuple):
    """What inner folds choose, see :class:`TunedRecipe`."""

    sparsity: float
    power: float
    target: float


class Stop(NamedTuple):
    """The TDVs float32[V] where a target share of zeros was passed, and the share dropped."""

    target: float
    dropped: float
    values: np.ndarray


class Tried(NamedTuple):
    """A setting, the mean share it drops, and float64[n, 2] of the measured queries."""

    setting: Setting
    dropped: float
    measured: np.ndarray


def learn_by_paper(
    matrix: TermDocumentMatrix,
    judged: Judged,
    model: str,
    recipe: PaperRecipe | TunedRecipe,
    vectors: TermVectors,
    seed: int = 0,
    progress: Progress = silent,
) -> TermValues:
    """Learn TDVs as the paper does, literally or tuned, as the ``recipe`` is."""
    matrix.require_postings("learning")
    problem = Problem.of(matrix, *judged, vectors, model, SearchParameters())
    problem.require_queries()
    with deferred():  # JAX's callbacks tolerate no exception
        if isinstance(recipe, TunedRecipe):
            return _learn_tuned(problem, recipe, seed, progress)
        return _learn_literally(problem, recipe, seed, progress)


def _learn_literally(
    problem: Problem, recipe: PaperRecipe, seed: int, progress: Progress
) -> TermValues:
    """Learn TDVs with the constants of the paper's implementation, and Anserini's k1, b and mu.

    w sees the vectors as they are, neither centred nor scaled. The parameters are those after the
    epoch with the best training nDCG@5, ranked by Lucene's formula; epoch 0 is the random start.
    """
    rng = np.random.default_rng(seed)
    features = literal_features(problem.matrix, problem.vectors)
    triples = Triples(problem)
    numbers = problem.parameters.values()
    init, step, _ = compiled(problem.model, recipe.learning_rate, literal=True)
    linear = glorot_start(jax.random.key(int(rng.integers(2**31))), features)
    state, weights = init(linear), Weights(recipe.sparsity)
    best = 0, _measure(problem, _tdv(linear, features))[:, 0].mean(), linear
    for epoch in range(1, recipe.max_epochs + 1):
        order, size = rng.permutation(len(triples.pairs)), recipe.pairs_per_step
        for chosen in np.split(order, range(size, len(order), size)):
            check()
            batch = triples.batch(triples.pairs[chosen], rng)
            linear, state = step(linear, state, features, numbers, batch, None, weights)
        ndcg = _measure(problem, _tdv(linear, features))[:, 0].mean()
        progress("train, epochs", epoch, recipe.max_epochs)
        if ndcg > best[1]:
            best = epoch, ndcg, linear
        if epoch - best[0] >= recipe.patience:
            break
    chosen_epoch, _, linear = best
    return zeros_dropped(problem, _tdv(linear, features), recipe, seed, epoch=chosen_epoch)


def _learn_tuned(
    problem: Problem, recipe: TunedRecipe, seed: int, progress: Progress
) -> TermValues:
    """Learn TDVs with what the paper leaves open chosen by inner folds.

    First k1 and b, or mu, are chosen for the full index, then the setting (see :func:`choose`);
    then the network is trained on all queries. Where no zeros keep the measures, all TDVs are 1.
    """
    rng = np.random.default_rng(seed)
    folds = problem.folds(recipe.inner_folds, rng)
    tuned = choose_parameters(problem, folds, tuning_queries(problem, seed), progress)
    triples = Triples(problem, recipe.candidates, recipe.anywhere)
    features = tuned_features(problem.matrix, problem.vectors, recipe.share_of_statistics)
    setting, tried = choose(tuned, features, triples, folds, recipe, seed, progress)
    values, chosen = np.ones(problem.matrix.shape[0], np.float32), {}
    if setting is not None:
        chosen = {"chosen": setting._asdict()}
        targets = tuple(each for each in recipe.targets if each <= setting.target)
        longer = replace(recipe, targets=targets, max_steps=2 * recipe.max_steps)
        rng = np.random.default_rng([seed, len(recipe.sparsities) * recipe.inner_folds])
        for stop in train_to_zeros(
            tuned[0], features, triples, np.arange(len(problem.queries)), longer,
            setting.sparsity, rng,
        ):  # fmt: skip
            values = stop.values  # in the end the last, also before the target
        values = to_power(values, setting.power)
    return zeros_dropped(tuned[0], values, recipe, seed, **chosen, tried=tried)


def zeros_dropped(
    problem: Problem, values: np.ndarray, recipe: Any, seed: int, **found: Any
) -> TermValues:
    """Return TDVs float32[V] whose zeros, and nothing else, are dropped.

    Frequencies are rounded as finely as pruning allows, or not at all if every TDV is 0 or 1.
    """
    whole = bool(np.isin(values, (0, 1)).all())
    scale = 1.0 if whole else float(max(constants_of(problem.model).scales))
    return unvalidated_values(
        problem.matrix, values, values, None, reductions=(0.0,), scale=scale, recommended=0.0,
        model=problem.model, parameters=problem.parameters, seed=seed,
        recipe={"name": recipe.name, **asdict(recipe), **found},
        vectors=dict(problem.vectors.origin),
    )  # fmt: skip


def without_learning(values: TermValues, matrix: TermDocumentMatrix, by_ridf: bool) -> TermValues:
    """Return TDVs of 1 with the search parameters of learned ``values``.

    Nothing is dropped, or ``by_ridf`` as many postings, of the terms of the lowest residual idf.
    """
    kept = np.ones(matrix.shape[0], np.float32)
    if by_ridf:
        doc_freq = np.asarray(matrix.doc_freq, np.float64)
        order = np.argsort(residual_idf(matrix), kind="stable")
        kept[order[np.cumsum(doc_freq[order]) <= doc_freq[values.weights == 0].sum()]] = 0
    parameters = SearchParameters().with_values(
        {name: value for name, value in values.manifest["parameters"].items() if value}
    )
    return unvalidated_values(
        matrix, kept, kept, None, reductions=(0.0,), scale=1.0, recommended=0.0,
        model=values.model, parameters=parameters,
        recipe={"name": "ridf" if by_ridf else "full"},
    )  # fmt: skip


class Triples:
    """The triples (query, relevant document, another) of a problem.

    With a ``depth``, the other one is any that is not judged relevant among the first that the
    full index finds, or a share of times ``anywhere`` any document at all. Without, it is one
    judged not relevant, or any document for a query that has none.
    """

    def __init__(self, problem: Problem, depth: int = 0, anywhere: float = 0.0) -> None:
        self._problem, self._queries = problem, problem.queries
        self._documents, self._anywhere = problem.matrix.shape[1], anywhere
        self._terms = padded_terms(problem.queries)
        judged = [self._queries.judged_of(query) for query in range(len(self._queries))]
        pairs = [(query, doc) for query, (docs, grades) in enumerate(judged)
                 for doc in docs[grades > 0].tolist()]  # fmt: skip
        self.pairs = np.array(pairs, np.int64).reshape(-1, 2)
        if depth:
            best = problem.postings.top(problem.impacts(problem.plain), depth)
            self.others = [
                found[(found >= 0) & ~np.isin(found, docs[grades > 0])]
                for found, (docs, grades) in zip(best, judged)
            ]
        else:
            self.others = [docs[grades <= 0] for docs, grades in judged]

    def of(self, queries: np.ndarray) -> np.ndarray:
        """Return int64[n, 2]: (query, relevant document) of some ``queries`` that find others."""
        some = [query for query in queries.tolist() if len(self.others[query])]
        return self.pairs[np.isin(self.pairs[:, 0], some)]

    def negatives(self, queries: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return int64[B]: another document for each of the queries."""
        drawn = rng.integers(self._documents, size=len(queries))
        free = rng.random(len(queries)) < self._anywhere
        for row, query in enumerate(queries.tolist()):
            if len(self.others[query]) and not free[row]:
                drawn[row] = rng.choice(self.others[query])
        return drawn

    def batch(self, pairs: np.ndarray, rng: np.random.Generator) -> Batch:
        """Return the triples of some pairs int64[B, 2]."""
        queries, relevant = pairs.T
        docs = np.stack([relevant, self.negatives(queries, rng)], axis=1)
        terms = self._terms[0][queries]
        rows = self._problem.rows
        tf = np.stack([rows.term_freqs(column, terms) for column in docs.T], axis=1)
        return rows.batch(terms, self._terms[1][queries], docs, tf)


def literal_features(matrix: TermDocumentMatrix, vectors: TermVectors) -> Features:
    """Return the word vectors as they are."""
    none = jnp.zeros((matrix.shape[0], 0))
    return Features(none, jnp.asarray(vectors.terms), jnp.asarray(vectors.vectors))


def tuned_features(matrix: TermDocumentMatrix, vectors: TermVectors, share: float) -> Features:
    """Return the word vectors whitened, and the statistics of all terms, ``share`` times as long.

    A term without a word vector, most often a rare one, is known by its statistics.
    """
    known = np.column_stack([standard_statistic(matrix, name) for name in STATISTICS])
    known *= share / np.sqrt(len(STATISTICS))
    return Features(
        jnp.asarray(known, jnp.float32), jnp.asarray(vectors.terms),
        jnp.asarray(whitened(vectors.vectors)),
    )  # fmt: skip


def glorot_start(key: jax.Array, features: Features) -> Linear:
    """Return the paper's start: w Glorot-uniform over the features and one unit, b = 1."""
    size = features.width[1]
    bound = (6 / (size + 1)) ** 0.5
    w = jax.random.uniform(key, (size,), minval=-bound, maxval=bound)
    return Linear(jnp.zeros(0), w, jnp.ones(()))


def train_to_zeros(
    problem: Problem,
    features: Features,
    triples: Triples,
    queries: np.ndarray,
    recipe: TunedRecipe,
    sparsity: float,
    rng: np.random.Generator,
) -> Iterator[Stop]:
    """Yield the TDVs at each of the recipe's targets, shares of the postings, as it is passed.

    Fewer are yielded if ``recipe.max_steps`` end before. ``queries`` int64[n] are learned from.
    """
    matrix, pairs = problem.matrix, triples.of(queries)
    collection = Collection(
        jnp.asarray(matrix.total_term_freq, jnp.float32),
        jnp.asarray(matrix.doc_count, jnp.float32),
    )
    numbers = problem.parameters.values()
    init, step, differences = compiled(problem.model, recipe.learning_rate, literal=False)
    w = jnp.zeros(sum(features.width))
    if not len(pairs):
        return

    def draw(size: int) -> Batch:
        return triples.batch(pairs[rng.integers(len(pairs), size=size)], rng)

    calibrated = np.asarray(differences(w, features, numbers, draw(_CALIBRATED_ON), collection))
    weights = Weights(sparsity, best_temperature(calibrated))
    state, left = init(w), list(recipe.targets)
    postings = np.asarray(matrix.doc_freq, np.float64) / matrix.collection_postings
    for steps in range(recipe.max_steps + 1):
        check()
        if steps % _LOOKED_AT_EVERY == 0:
            values = _tdv(w, features)
            dropped = float(postings[values == 0].sum())
            while left and dropped >= left[0]:
                yield Stop(left.pop(0), dropped, values)
        if not left:
            return
        batch = draw(recipe.pairs_per_step)
        w, state = step(w, state, features, numbers, batch, collection, weights)


def choose(
    tuned: Sequence[Problem],
    features: Features,
    triples: Triples,
    folds: Sequence[np.ndarray],
    recipe: TunedRecipe,
    seed: int,
    progress: Progress = silent,
) -> tuple[Setting | None, list[dict[str, Any]]]:
    """Return the setting with the most zeros that keep nDCG@5 and R@1000 on the inner ``folds``.

    None if none keeps them. All that were tried come with it: the curve of zeros against the
    measures along each training. Everything that is trained or measured here is of the queries of
    ``tuned``, so whoever holds queries out passes a problem without them.
    """
    share = min(1.0, recipe.measured / sum(map(len, folds)))
    looked_at = [fold[: max(1, round(len(fold) * share))] for fold in folds]
    plain = tuned[0].full
    ones = np.ones(plain.matrix.shape[0], np.float32)
    standard = plain.with_parameters(SearchParameters())
    baseline = _measure(standard, ones, np.concatenate(looked_at))
    everything = np.arange(len(plain.queries))
    tried: list[Tried] = []

    def measured_at(stops: Sequence[Stop], power: float) -> np.ndarray:
        parts = zip(tuned[1:], stops, looked_at)
        return np.concatenate(
            [_measure(of, to_power(stop.values, power), some) for of, stop, some in parts]
        )

    for number, sparsity in enumerate(recipe.sparsities):
        stops = []
        for fold, (problem, held_out) in enumerate(zip(tuned[1:], folds)):
            done = number * len(folds) + fold
            progress("choose settings", done, len(recipe.sparsities) * len(folds))
            others, rng = np.setdiff1d(everything, held_out), np.random.default_rng([seed, done])
            way = train_to_zeros(problem, features, triples, others, recipe, sparsity, rng)
            stops.append(list(way))
        reached = list(zip(*stops))  # by every fold
        for power in recipe.powers:
            measured = [measured_at(at, power) for at in reached]
            # The measures change little from stop to stop, and what changes a lot is luck: each is
            # averaged with those next to it. So the choice also keeps clear of where they fall.
            for k, at in enumerate(reached):
                smooth = np.mean(measured[max(0, k - 1) : k + 2], axis=0)
                setting = Setting(sparsity, power, at[0].target)
                tried.append(Tried(setting, float(np.mean([s.dropped for s in at])), smooth))
    base = {f"baseline {name}": x for name, x in zip(MEASURES, baseline.mean(axis=0).tolist())}
    table = [
        {**each.setting._asdict(), "dropped": each.dropped,
         **dict(zip(MEASURES, each.measured.mean(axis=0).tolist())), **base}
        for each in tried
    ]  # fmt: skip
    return most_zeros(tried, baseline, recipe), table


def most_zeros(tried: Sequence[Tried], baseline: np.ndarray, recipe: TunedRecipe) -> Setting | None:
    """Return the setting that drops the most of those that keep the measures, None if none does.

    nDCG@5 is kept if its mean is not below the baseline's. Of several settings with about the same
    zeros, it is the first whose nDCG@5 the best does not significantly beat.
    """
    least = baseline.mean(axis=0) * [1, recipe.kept_recall]
    kept = [each for each in tried if (each.measured.mean(axis=0) >= least).all()]
    if not kept:
        return None
    most = max(each.dropped for each in kept)
    equal = [each for each in kept if each.dropped >= most - _SAME_ZEROS]
    return equal[first_of_the_best([each.measured[:, 0] for each in equal])].setting


def to_power(values: np.ndarray, power: float) -> np.ndarray:
    """Return float32[V]: the TDVs above 0 to a power; zeros stay."""
    return np.where(values > 0, np.maximum(values, 1e-9) ** power, 0).astype(np.float32)


def _tdv(parameters: Any, features: Features) -> np.ndarray:
    return np.asarray(term_values(as_linear(parameters, features), features))


def _measure(problem: Problem, values: np.ndarray, some: np.ndarray | None = None) -> np.ndarray:
    """Return float64[n, 2] of the real-valued index, searched with the problem's parameters."""
    return problem.measure(problem.rows.weighted(values), some)[:, _COLUMNS]
