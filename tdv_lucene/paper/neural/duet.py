"""DUET: a local model of exact matches and a distributed one of word vectors, summed.

Source: Mitra, Diaz and Craswell, "Learning to Match using Local and Distributed Representations of
Text for Web Search", WWW 2017. Differences: words with frozen vectors stand in place of n-graphs of
characters, layers are smaller (:class:`.config.NeuralConfig`), documents are read up to
``doc_terms``, pooling windows do not overlap, there is no dropout, and all places of a text begin
with the same weights.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .config import POOLED, NeuralConfig
from .layers import Batch, Dense, convolve, draw_normal, exact_matches, masked_max

_WORDS = 3  # of the distributed model's convolutions
_SMALL = 0.3
"""Of the distributed model's first output weights: exact matches begin by saying more."""


class Local(eqx.Module):
    """On the matrix of exact matches: where in the document each query term stands.

    A match begins by counting the same wherever it stands. With random weights for each place, a
    thousand judged queries do not teach that it does.

    Attributes
    ----------
    window : float[doc_terms, F]
        One convolution over the whole document, for each term of the query.
    gather : float[query_terms, F, F]
        The first full layer, by place in the query.
    """

    window: jax.Array
    bias: jax.Array
    gather: jax.Array
    gather_bias: jax.Array
    hidden: Dense
    output: Dense

    def __init__(self, config: NeuralConfig, rng: np.random.Generator) -> None:
        units = config.units
        # A term occurs a few times in a document: that many inputs are not 0.
        window = draw_normal(rng, (1, units), 4)
        self.window = jnp.repeat(window, config.doc_terms, axis=0)
        self.bias = jnp.zeros(units)
        gather = draw_normal(rng, (1, units, units), 4 * units)
        self.gather = jnp.repeat(gather, config.query_terms, axis=0)
        self.gather_bias = jnp.zeros(units)
        self.hidden = Dense(units, units, rng)
        self.output = Dense(units, 1, rng)

    def __call__(self, batch: Batch) -> jax.Array:
        """Return float[B, C]."""
        matches = exact_matches(batch.query, batch.docs).astype(jnp.float32)
        seen = jnp.tanh(matches @ self.window[: batch.docs.shape[-1]] + self.bias)
        seen = jnp.where((batch.query >= 0)[:, None, :, None], seen, 0)
        gathered = jnp.einsum("bclf,lfg->bcg", seen, self.gather[: batch.query.shape[-1]])
        hidden = jnp.tanh(gathered + self.gather_bias)
        hidden = jnp.tanh(self.hidden(hidden))
        return self.output(hidden)[..., 0]


class Distributed(eqx.Module):
    """On word vectors: the query's one vector times that of each window of the document.

    Attributes
    ----------
    query_kernel, doc_kernel : float[3, E, F]
    gather : float[windows, F, F]
        The first full layer, by window.
    """

    query_kernel: jax.Array
    query_bias: jax.Array
    query_dense: Dense
    doc_kernel: jax.Array
    doc_bias: jax.Array
    doc_dense: Dense
    gather: jax.Array
    gather_bias: jax.Array
    output: Dense

    def __init__(self, dimensions: int, config: NeuralConfig, rng: np.random.Generator) -> None:
        units = config.units
        shape, windows = (_WORDS, dimensions, units), config.doc_terms // POOLED
        self.query_kernel = draw_normal(rng, shape, _WORDS * dimensions)
        self.query_bias = jnp.zeros(units)
        self.query_dense = Dense(units, units, rng)
        self.doc_kernel = draw_normal(rng, shape, _WORDS * dimensions)
        self.doc_bias = jnp.zeros(units)
        self.doc_dense = Dense(units, units, rng)
        self.gather = draw_normal(rng, (windows, units, units), windows * units)
        self.gather_bias = jnp.zeros(units)
        self.output = Dense(units, 1, rng, _SMALL)

    def __call__(self, batch: Batch) -> jax.Array:
        """Return float[B, C]."""
        asked = jnp.tanh(convolve(batch.query_vectors, self.query_kernel) + self.query_bias)
        asked = jnp.tanh(self.query_dense(masked_max(asked, batch.query >= 0)))
        there = batch.docs.reshape(*batch.docs.shape[:-1], -1, POOLED) >= 0
        found = jnp.tanh(convolve(batch.doc_vectors, self.doc_kernel) + self.doc_bias)
        found = masked_max(found.reshape(*there.shape, -1), there)
        found = jnp.tanh(self.doc_dense(found))
        found = jnp.where(there.any(axis=-1)[..., None], found, 0)
        product = asked[:, None, None] * found
        gathered = jnp.einsum("bcwf,wfg->bcg", product, self.gather[: product.shape[2]])
        return self.output(jnp.tanh(gathered + self.gather_bias))[..., 0]


class Duet(eqx.Module):
    """score = local + distributed."""

    local: Local
    distributed: Distributed

    def __init__(self, dimensions: int, config: NeuralConfig, rng: np.random.Generator) -> None:
        self.local = Local(config, rng)
        self.distributed = Distributed(dimensions, config, rng)

    def __call__(self, batch: Batch) -> jax.Array:
        """Return float[B, C]."""
        return self.local(batch) + self.distributed(batch)
