"""The re-rankers against plain NumPy, in which texts have no padding at all."""

from __future__ import annotations

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tdv_lucene.paper.neural import RANKERS
from tdv_lucene.paper.neural.layers import KERNELS, WIDTHS, Batch, match_histograms
from tdv_lucene.paper.neural.rankers import POOLED, NeuralConfig, make_ranker, score

pytestmark = pytest.mark.slow

DIMENSIONS, TERMS = 6, 12
CONFIG = NeuralConfig(query_terms=5, doc_terms=2 * POOLED, filters=4, units=3)
RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(TERMS, DIMENSIONS)).astype(np.float32)
IDF = RNG.uniform(0.5, 8, TERMS).astype(np.float32)
QUERIES = [[3, 7, 3], [1], []]
DOCS = [[[3, 4, 7, 3, 0], [5]], [[1, 1, 2], [*range(TERMS), 1, 1, 1]], [[4, 2], []]]


def batch_of(queries, docs, length: int = 5, width: int = 2 * POOLED, junk: int = 0) -> Batch:
    """Texts padded to ``length`` and ``width``."""
    query = np.full((len(queries), length), -1, np.int32)
    terms = np.full((len(docs), len(docs[0]), width), -1, np.int32)
    for row, own in enumerate(queries):
        query[row, : len(own)] = own
    for row, of_query in enumerate(docs):
        for column, own in enumerate(of_query):
            terms[row, column, : len(own)] = own
    table = np.concatenate([TABLE, np.zeros((1, DIMENSIONS), np.float32)])
    idf = np.concatenate([IDF, np.zeros(1, np.float32)])
    return Batch(query, table[query], idf[query], terms, table[terms])


@cache
def ranker_of(name: str):
    return make_ranker(name, DIMENSIONS, CONFIG, 1)


def cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    def units(rows: np.ndarray) -> np.ndarray:
        return rows / np.sqrt((rows**2).sum(axis=1, keepdims=True) + 1e-12)

    return units(one) @ units(other).T


def plain_histogram(query: list[int], doc: list[int]) -> np.ndarray:
    found = np.zeros((len(query), 30))
    for row, term in enumerate(query):
        for other in doc:
            if other == term:
                found[row, 29] += 1
            else:
                cosine = cosines(TABLE[[term]], TABLE[[other]])[0, 0]
                found[row, min(int((cosine + 1) / 2 * 29), 28)] += 1
    return np.log(1 + found)


def plain_convolution(rows: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """One n-gram after the other."""
    found = np.zeros((len(rows), kernel.shape[2]))
    for start in range(len(rows)):
        for place in range(len(kernel)):
            if start + place < len(rows):
                found[start] += rows[start + place] @ kernel[place]
    return found


def plain_kernels(similarities: np.ndarray) -> np.ndarray:
    features = np.zeros(11)
    for kernel, (mu, sigma) in enumerate(zip(KERNELS, WIDTHS)):
        for row in similarities:
            near = np.exp(-((row - mu) ** 2) / (2 * sigma**2)).sum()
            features[kernel] += np.log1p(near)
    return features


def plain_dense(linear, values: np.ndarray) -> np.ndarray:
    return np.asarray(linear.weight) @ values + np.asarray(linear.bias)


def plain_drmm(ranker, query, doc) -> float:
    histogram = plain_histogram(query, doc)
    logits = np.array([float(ranker.gate) * IDF[term] for term in query])
    gates = np.exp(logits) / np.exp(logits).sum()
    total = 0.0
    for row, gate in zip(histogram, gates):
        hidden = np.maximum(plain_dense(ranker.hidden, row), 0)
        total += gate * plain_dense(ranker.output, hidden)[0]
    return total


def plain_conv_knrm(ranker, query, doc) -> float:
    def ngrams(terms):
        return [
            np.maximum(plain_convolution(TABLE[terms], np.asarray(k)) + np.asarray(b), 0)
            for k, b in zip(ranker.kernels, ranker.biases)
        ]

    asked, found = ngrams(query), ngrams(doc)
    features = [plain_kernels(cosines(one, other)) for one in asked for other in found]
    return plain_dense(ranker.output, np.concatenate(features))[0]


def plain_duet(ranker, query, doc) -> float:
    own, units = ranker.local, CONFIG.units
    hidden = np.asarray(own.gather_bias, np.float64).copy()
    for row, term in enumerate(query):
        matches = np.array([float(other == term) for other in doc])
        seen = np.tanh(matches @ np.asarray(own.window)[: len(doc)] + np.asarray(own.bias))
        hidden += seen @ np.asarray(own.gather)[row]
    hidden = np.tanh(plain_dense(own.hidden, np.tanh(hidden)))
    local = plain_dense(own.output, hidden)[0]

    own = ranker.distributed
    asked = np.zeros(units)
    if query:
        rows = plain_convolution(TABLE[query], np.asarray(own.query_kernel))
        asked = np.tanh(rows + np.asarray(own.query_bias)).max(axis=0)
    asked = np.tanh(plain_dense(own.query_dense, asked))
    rows = plain_convolution(TABLE[doc], np.asarray(own.doc_kernel))
    rows = np.tanh(rows + np.asarray(own.doc_bias))
    hidden = np.asarray(own.gather_bias, np.float64).copy()
    for number, start in enumerate(range(0, len(doc), POOLED)):
        found = np.tanh(plain_dense(own.doc_dense, rows[start : start + POOLED].max(axis=0)))
        hidden += (asked * found) @ np.asarray(own.gather)[number]
    return local + plain_dense(own.output, np.tanh(hidden))[0]


PLAIN = {"drmm": plain_drmm, "duet": plain_duet, "conv-knrm": plain_conv_knrm}


def test_another_term_of_the_same_vector_is_no_exact_match() -> None:
    query, docs = np.array([[3]]), np.array([[[3, 4]]])
    found = np.asarray(match_histograms(jnp.ones((1, 1, 1, 2)), query, docs))
    np.testing.assert_allclose(found[0, 0, 0, 28:], np.log([2, 2]), rtol=1e-6)


@pytest.mark.parametrize("name", RANKERS)
def test_scores_are_those_of_numpy(name: str) -> None:
    ranker = _moved(ranker_of(name))
    found = np.asarray(score(ranker, batch_of(QUERIES, DOCS)))
    for row, query in enumerate(QUERIES[:2]):
        for column, doc in enumerate(DOCS[row]):
            expected = PLAIN[name](ranker, query, doc)
            np.testing.assert_allclose(found[row, column], expected, rtol=2e-4, atol=1e-5)
    assert np.isfinite(found).all(), "an empty query and an empty document have a score"


def _moved(ranker):
    """All weights away from their start, so that none is 0."""
    import equinox as eqx

    arrays, rest = eqx.partition(ranker, eqx.is_inexact_array)
    leaves, tree = jax.tree.flatten(arrays)
    noise = [0.3 * RNG.normal(size=leaf.shape).astype(np.float32) for leaf in leaves]
    moved = [jnp.asarray(np.asarray(leaf) + by) for leaf, by in zip(leaves, noise)]
    return eqx.combine(jax.tree.unflatten(tree, moved), rest)


def test_an_empty_text_has_a_finite_gradient() -> None:
    import equinox as eqx

    gradient_of = eqx.filter_jit(eqx.filter_grad(lambda ranker, batch: ranker(batch).sum()))
    for name in RANKERS:
        gradient = gradient_of(ranker_of(name), batch_of(QUERIES, DOCS))
        leaves = jax.tree.leaves(eqx.filter(gradient, eqx.is_inexact_array))
        assert all(np.isfinite(leaf).all() for leaf in leaves), name
