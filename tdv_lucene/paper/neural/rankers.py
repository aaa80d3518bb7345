"""The re-rankers by name: DRMM and Conv-KNRM, and DUET of :mod:`.duet`."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from . import check_name
from .config import NeuralConfig
from .duet import Duet
from .layers import (
    BINS,
    KERNELS,
    Batch,
    Dense,
    convolve,
    draw_normal,
    masked_softmax,
    match_histograms,
    pool_kernels,
    unit,
)

_HIDDEN = 5
_SMALL = 0.1
"""Of the first weights: a text has tens of terms in the bins around 0, and what these add would
drown its exact matches."""

_LENGTHS = (1, 2, 3)


class Drmm(eqx.Module):
    """A deep relevance matching model on histograms of word similarities.

    score = sum over query terms of g_l (v . ReLU(W h_l + a) + b). h_l are log-count histograms,
    g the softmax over the query's terms of w idf (of the paper's two gates the one without word
    vectors).

    Source: Guo, Fan, Ai and Croft, "A Deep Relevance Matching Model for Ad-hoc Retrieval", CIKM
    2016. There the units are tanh. Here they are as in MatchZoo, with which the TDV paper ran it:
    ReLU and a score without bounds. Between bounds that a margin of 1 already fills, the best
    documents of a thousand come to score the same.

    Attributes
    ----------
    gate : float[]
    """

    hidden: Dense
    output: Dense
    gate: jax.Array

    def __init__(self, dimensions: int, config: NeuralConfig, rng: np.random.Generator) -> None:
        self.hidden = Dense(BINS, _HIDDEN, rng, _SMALL, bias=1)  # every unit is above 0
        self.output = Dense(_HIDDEN, 1, rng)
        self.gate = jnp.ones(())

    def __call__(self, batch: Batch) -> jax.Array:
        """Return float[B, C]."""
        cosines = jnp.einsum("ble,bcne->bcln", unit(batch.query_vectors), unit(batch.doc_vectors))
        histograms = match_histograms(cosines, batch.query, batch.docs)
        matched = self.output(jax.nn.relu(self.hidden(histograms)))[..., 0]
        gates = masked_softmax(self.gate * batch.idf, batch.query >= 0)
        return (gates[:, None] * matched).sum(axis=-1)


class ConvKnrm(eqx.Module):
    """Soft matches of n-grams of all lengths, counted by kernels.

    score = w . phi + b, phi the kernels' features of each pair of n-gram lengths.

    Source: Dai, Xiong, Callan and Liu, "Convolutional Neural Networks for Soft-Matching N-Grams in
    Ad-hoc Search", WSDM 2018. There the score is a tanh, of features 0.01 log x. Here both are as
    in MatchZoo, with which the TDV paper ran it: a score without bounds, of log(1 + x).

    Attributes
    ----------
    kernels : tuple of float[h, E, F]
    biases : tuple of float[F]
    output : Linear of 9 * 11 features
    """

    kernels: tuple[jax.Array, ...]
    biases: tuple[jax.Array, ...]
    output: Dense

    def __init__(self, dimensions: int, config: NeuralConfig, rng: np.random.Generator) -> None:
        self.kernels = tuple(
            draw_normal(rng, (length, dimensions, config.filters), length * dimensions)
            for length in _LENGTHS
        )
        self.biases = tuple(jnp.zeros(config.filters) for _ in _LENGTHS)
        self.output = Dense(len(_LENGTHS) ** 2 * len(KERNELS), 1, rng)

    def __call__(self, batch: Batch) -> jax.Array:
        """Return float[B, C]."""
        asked, found = self._ngrams(batch.query_vectors), self._ngrams(batch.doc_vectors)
        there = batch.query >= 0, batch.docs >= 0
        features = [
            pool_kernels(jnp.einsum("blf,bcnf->bcln", one, other), *there)
            for one in asked
            for other in found
        ]
        phi = jnp.concatenate(features, axis=-1)
        return self.output(phi)[..., 0]

    def _ngrams(self, vectors: jax.Array) -> list[jax.Array]:
        """Return float[..., N, F] of each length: vectors of n-grams, of length 1 for cosines.

        One begins at every term; behind the end of the text it goes on with zeros.
        """
        return [
            unit(jax.nn.relu(convolve(vectors, kernel) + bias))
            for kernel, bias in zip(self.kernels, self.biases)
        ]


Ranker = Drmm | Duet | ConvKnrm
"""Called with a batch it returns float[B, C], finite also for an empty query or document. All its
leaves are weights, float32."""

_KINDS: dict[str, type[Ranker]] = {"drmm": Drmm, "duet": Duet, "conv-knrm": ConvKnrm}


def make_ranker(name: str, dimensions: int, config: NeuralConfig, seed: int) -> Ranker:
    """Return an untrained re-ranker for word vectors of ``dimensions`` numbers.

    Raises :class:`TdvError` when there is none of that name.
    """
    check_name(name)
    return _KINDS[name](dimensions, config, np.random.default_rng(seed))


def count_parameters(ranker: Ranker) -> int:
    """Return how many numbers training fits."""
    return sum(leaf.size for leaf in jax.tree.leaves(ranker))


@jax.jit
def score(ranker: Ranker, batch: Batch) -> jax.Array:
    """Return float[B, C]; compiled once for each kind and shape, whatever the weights."""
    return ranker(batch)
