"""The re-rankers - DRMM, DUET and Conv-KNRM - and every number they and their training use.

The numbers are from their papers or chosen for speed. None was tuned on a collection that is
reported; learning rates and the number of query terms were chosen on lisa and time.
"""

from __future__ import annotations

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from . import check_rankers, layers

POOLED = 10
"""Terms in a pooling window of DUET: a tenth of the document, as in its paper (100 of 1000)."""

RATES = {"drmm": 3e-2, "duet": 3e-3, "conv-knrm": 3e-3}
"""Learning rates, with the smallest mean held-out loss on lisa and time of .003, .01 and .03
(DRMM), .001 and .003 (DUET) and .001, .003 and .01 (Conv-KNRM)."""


@dataclass(frozen=True)
class NeuralConfig:
    """Settings of re-rankers and their training."""

    query_terms: int = 32  # longer queries and documents are cut
    doc_terms: int = 100  # a multiple of POOLED
    filters: int = 64  # of Conv-KNRM, for each length of n-gram; its paper with search logs has 128
    units: int = 32  # filters and hidden units of DUET; its paper with very many queries has 300
    depth: int = 1000  # documents of the first stage that non-relevant ones are drawn from
    pairs_per_step: int = 32
    pairs_per_epoch: int = 1024
    learning_rate: float | None = None  # None for that of RATES
    held_out: float = 0.2  # share of the training queries whose loss decides when to stop
    max_epochs: int = 200  # far beyond what training takes
    patience: int = 5  # epochs without a smaller loss before stopping


_WORDS = 3  # in the convolutions of DUET's distributed model
_SMALL_DUET = 0.3  # scale of its first output weights: exact matches count more at first


class Local(eqx.Module):
    """DUET's model of exact matches: the positions in the document of each query term.

    At first a match counts the same at every position: with random weights, a thousand judged
    queries do not teach that.
    """

    window: jax.Array  # float[doc_terms, F]: a convolution over the whole document per query term
    bias: jax.Array
    gather: jax.Array  # float[query_terms, F, F]: the first full layer, by position in the query
    gather_bias: jax.Array
    hidden: layers.Dense
    output: layers.Dense

    def __init__(self, config: NeuralConfig, rng: np.random.Generator) -> None:
        units = config.units
        # A term occurs a few times in a document: that many inputs are not 0.
        window = layers.draw_normal(rng, (1, units), 4)
        self.window = jnp.repeat(window, config.doc_terms, axis=0)
        self.bias = jnp.zeros(units)
        gather = layers.draw_normal(rng, (1, units, units), 4 * units)
        self.gather = jnp.repeat(gather, config.query_terms, axis=0)
        self.gather_bias = jnp.zeros(units)
        self.hidden = layers.Dense(units, units, rng)
        self.output = layers.Dense(units, 1, rng)

    def __call__(self, batch: layers.Batch) -> jax.Array:
        matches = layers.exact_matches(batch.query, batch.docs).astype(jnp.float32)
        seen = jnp.tanh(matches @ self.window[: batch.docs.shape[-1]] + self.bias)
        seen = jnp.where((batch.query >= 0)[:, None, :, None], seen, 0)
        gathered = jnp.einsum("bclf,lfg->bcg", seen, self.gather[: batch.query.shape[-1]])
        hidden = jnp.tanh(gathered + self.gather_bias)
        hidden = jnp.tanh(self.hidden(hidden))
        return self.output(hidden)[..., 0]


class Distributed(eqx.Module):
    """DUET's model of word vectors: the query's vector times that of each window."""

    query_kernel: jax.Array  # float[3, E, F], as doc_kernel
    query_bias: jax.Array
    query_dense: layers.Dense
    doc_kernel: jax.Array
    doc_bias: jax.Array
    doc_dense: layers.Dense
    gather: jax.Array  # float[windows, F, F]: the first full layer, by window
    gather_bias: jax.Array
    output: layers.Dense

    def __init__(self, dimensions: int, config: NeuralConfig, rng: np.random.Generator) -> None:
        units = config.units
        shape, windows = (_WORDS, dimensions, units), config.doc_terms // POOLED
        self.query_kernel = layers.draw_normal(rng, shape, _WORDS * dimensions)
        self.query_bias = jnp.zeros(units)
        self.query_dense = layers.Dense(units, units, rng)
        self.doc_kernel = layers.draw_normal(rng, shape, _WORDS * dimensions)
        self.doc_bias = jnp.zeros(units)
        self.doc_dense = layers.Dense(units, units, rng)
        self.gather = layers.draw_normal(rng, (windows, units, units), windows * units)
        self.gather_bias = jnp.zeros(units)
        self.output = layers.Dense(units, 1, rng, _SMALL_DUET)

    def __call__(self, batch: layers.Batch) -> jax.Array:
        asked = jnp.tanh(layers.convolve(batch.query_vectors, self.query_kernel) + self.query_bias)
        asked = jnp.tanh(self.query_dense(layers.masked_max(asked, batch.query >= 0)))
        there = batch.docs.reshape(*batch.docs.shape[:-1], -1, POOLED) >= 0
        found = jnp.tanh(layers.convolve(batch.doc_vectors, self.doc_kernel) + self.doc_bias)
        found = layers.masked_max(found.reshape(*there.shape, -1), there)
        found = jnp.tanh(self.doc_dense(found))
        found = jnp.where(there.any(axis=-1)[..., None], found, 0)
        product = asked[:, None, None] * found
        gathered = jnp.einsum("bcwf,wfg->bcg", product, self.gather[: product.shape[2]])
        return self.output(jnp.tanh(gathered + self.gather_bias))[..., 0]


class Duet(eqx.Module):
    """A local model of exact matches and a distributed one of word vectors, summed.

    Source: Mitra, Diaz and Craswell, "Learning to Match using Local and Distributed Representations
    of Text for Web Search", WWW 2017. Differences: frozen word vectors replace n-graphs of
    characters, layers are smaller (:class:`NeuralConfig`), documents are read up to ``doc_terms``,
    pooling windows do not overlap, there is no dropout, and all positions of a text begin with the
    same weights.
    """

    local: Local
    distributed: Distributed

    def __init__(self, dimensions: int, config: NeuralConfig, rng: np.random.Generator) -> None:
        self.local = Local(config, rng)
        self.distributed = Distributed(dimensions, config, rng)

    def __call__(self, batch: layers.Batch) -> jax.Array:
        return self.local(batch) + self.distributed(batch)


_HIDDEN = 5  # units of DRMM
_SMALL = 0.1  # scale of its first weights: else tens of terms in bins around 0 hide exact matches
_LENGTHS = (1, 2, 3)  # of Conv-KNRM's n-grams


class Drmm(eqx.Module):
    """A deep relevance matching model on histograms of word similarities.

    score = sum over query terms of g_l (v . ReLU(W h_l + a) + b). h_l are log-count histograms,
    g the softmax over the query's terms of w idf (the one of the paper's two gates without word
    vectors).

    Source: Guo, Fan, Ai and Croft, "A Deep Relevance Matching Model for Ad-hoc Retrieval", CIKM
    2016. There the units are tanh. Here they are as in MatchZoo, with which the TDV paper ran it:
    ReLU and a score without bounds. Within bounds that a margin of 1 already fills, the best
    documents of a thousand get the same score.
    """

    hidden: layers.Dense
    output: layers.Dense
    gate: jax.Array

    def __init__(self, dimensions: int, config: NeuralConfig, rng: np.random.Generator) -> None:
        # By the bias every unit is above 0.
        self.hidden = layers.Dense(layers.BINS, _HIDDEN, rng, _SMALL, bias=1)
        self.output = layers.Dense(_HIDDEN, 1, rng)
        self.gate = jnp.ones(())

    def __call__(self, batch: layers.Batch) -> jax.Array:
        cosines = jnp.einsum(
            "ble,bcne->bcln", layers.unit(batch.query_vectors), layers.unit(batch.doc_vectors)
        )
        histograms = layers.match_histograms(cosines, batch.query, batch.docs)
        matched = self.output(jax.nn.relu(self.hidden(histograms)))[..., 0]
        gates = layers.masked_softmax(self.gate * batch.idf, batch.query >= 0)
        return (gates[:, None] * matched).sum(axis=-1)


class ConvKnrm(eqx.Module):
    """Counts soft matches of n-grams of all lengths by kernels.

    score = w . phi + b, phi the kernels' features of each pair of n-gram lengths.

    Source: Dai, Xiong, Callan and Liu, "Convolutional Neural Networks for Soft-Matching N-Grams in
    Ad-hoc Search", WSDM 2018. There the score is a tanh, of features 0.01 log x. Here both are as
    in MatchZoo, with which the TDV paper ran it: a score without bounds, of log(1 + x).
    """

    kernels: tuple[jax.Array, ...]  # float[h, E, F]
    biases: tuple[jax.Array, ...]  # float[F]
    output: layers.Dense  # of 9 * 11 features

    def __init__(self, dimensions: int, config: NeuralConfig, rng: np.random.Generator) -> None:
        self.kernels = tuple(
            layers.draw_normal(rng, (length, dimensions, config.filters), length * dimensions)
            for length in _LENGTHS
        )
        self.biases = tuple(jnp.zeros(config.filters) for _ in _LENGTHS)
        self.output = layers.Dense(len(_LENGTHS) ** 2 * len(layers.KERNELS), 1, rng)

    def __call__(self, batch: layers.Batch) -> jax.Array:
        asked, found = self._ngrams(batch.query_vectors), self._ngrams(batch.doc_vectors)
        there = batch.query >= 0, batch.docs >= 0
        features = [
            layers.pool_kernels(jnp.einsum("blf,bcnf->bcln", one, other), *there)
            for one in asked
            for other in found
        ]
        phi = jnp.concatenate(features, axis=-1)
        return self.output(phi)[..., 0]

    def _ngrams(self, vectors: jax.Array) -> list[jax.Array]:
        """Return unit vectors float[..., N, F] of n-grams of each length, one per term."""
        return [
            layers.unit(jax.nn.relu(layers.convolve(vectors, kernel) + bias))
            for kernel, bias in zip(self.kernels, self.biases)
        ]


Ranker = Drmm | Duet | ConvKnrm
"""Maps a batch to float[B, C], finite even for an empty query or document; leaves are float32."""

_KINDS: dict[str, type[Ranker]] = {"drmm": Drmm, "duet": Duet, "conv-knrm": ConvKnrm}


def make_ranker(name: str, dimensions: int, config: NeuralConfig, seed: int) -> Ranker:
    """Return an untrained re-ranker for word vectors of ``dimensions`` numbers."""
    check_rankers([name])
    return _KINDS[name](dimensions, config, np.random.default_rng(seed))


@jax.jit
def score(ranker: Ranker, batch: layers.Batch) -> jax.Array:
    """Return float[B, C]; compiled once for each kind and shape, whatever the weights."""
    return ranker(batch)
