"""Conv-KNRM: soft matches of n-grams of all lengths, counted by kernels.

Source: Dai, Xiong, Callan and Liu, "Convolutional Neural Networks for Soft-Matching N-Grams in
Ad-hoc Search", WSDM 2018. There the score is a tanh, of features 0.01 log x. Here both are as in
MatchZoo, with which the TDV paper ran it: a score without bounds, of log(1 + x).
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .config import NeuralConfig
from .layers import KERNELS, Batch, Dense, convolve, draw_normal, pool_kernels, unit

_LENGTHS = (1, 2, 3)


class ConvKnrm(eqx.Module):
    """score = w . phi + b, phi the kernels' features of each pair of n-gram lengths.

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
