"""Layers of the re-rankers, and the batches they score; padding changes nothing.

Shapes: ``B`` queries of ``L`` terms, ``C`` documents per query of ``N`` terms, word vectors of
``E`` numbers. Terms are numbers; the padding at the end is -1, with zeros as vectors.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...ranking import Array

BINS = 30  # bins of DRMM's histograms; the last counts exact matches only

KERNELS = np.array([1.0, 0.9, 0.7, 0.5, 0.3, 0.1, -0.1, -0.3, -0.5, -0.7, -0.9], np.float32)
WIDTHS = np.array([1e-3] + [0.1] * 10, np.float32)
"""Conv-KNRM's kernels: the first counts exact matches."""


class Batch(NamedTuple):
    """Queries with documents to score."""

    query: Array  # int32[B, L]
    query_vectors: Array  # float32[B, L, E]
    idf: Array  # float32[B, L]
    docs: Array  # int32[B, C, N]
    doc_vectors: Array  # float32[B, C, N, E]


def draw_normal(rng: np.random.Generator, shape: tuple[int, ...], inputs: int) -> jax.Array:
    """Draw float32 weights whose sum over ``inputs`` of them has a variance of 1.

    NumPy draws them: JAX would compile each shape, for seconds.
    """
    return jnp.asarray(rng.normal(size=shape) / inputs**0.5, jnp.float32)


class Dense(eqx.Module):
    """A full layer on the last axis."""

    weight: jax.Array  # float[outputs, inputs]
    bias: jax.Array  # float[outputs]

    def __init__(
        self, inputs: int, outputs: int, rng: np.random.Generator, scale: float = 1, bias: float = 0
    ) -> None:
        self.weight = draw_normal(rng, (outputs, inputs), inputs) * scale
        self.bias = jnp.full(outputs, bias, jnp.float32)

    def __call__(self, values: jax.Array) -> jax.Array:
        """Map float[..., inputs] to float[..., outputs]."""
        return values @ self.weight.T + self.bias


def unit(vectors: jax.Array) -> jax.Array:
    """Scale vectors to length 1; a zero vector stays zero, with a finite gradient."""
    return vectors * jax.lax.rsqrt((vectors**2).sum(axis=-1, keepdims=True) + 1e-12)


def exact_matches(query: jax.Array, docs: jax.Array) -> jax.Array:
    """Return bool[B, C, L, N]: whether a document has a query's term at a position."""
    terms = query[:, None, :, None]
    return (terms == docs[:, :, None, :]) & (terms >= 0)


def match_histograms(cosines: jax.Array, query: jax.Array, docs: jax.Array) -> jax.Array:
    """Return float[B, C, L, BINS]: log(1 + count) of a document's terms by cosine.

    Cosines are float[B, C, L, N]. Bin i of the first 29 holds those from -1 + 2 i / 29 on, the last
    the same term again (Guo et al. 2016, section 3.1: LCH). A cosine of 1 with another term is in
    the one before.
    """
    there = (query >= 0)[:, None, :, None] & (docs >= 0)[:, :, None, :]
    bins = jnp.clip(jnp.floor((cosines + 1) / 2 * (BINS - 1)), 0, BINS - 2).astype(jnp.int32)
    bins = jnp.where(exact_matches(query, docs), BINS - 1, bins)
    hits = (bins[..., None, :] == jnp.arange(BINS)[:, None]) & there[..., None, :]
    return jnp.log1p(hits.sum(axis=-1).astype(jnp.float32))


def masked_softmax(logits: jax.Array, there: jax.Array) -> jax.Array:
    """Return softmax over the last axis where ``there``; zeros where nothing is there."""
    shifted = jnp.where(there, logits, -jnp.inf)
    largest = jnp.where(there.any(axis=-1), shifted.max(axis=-1), 0.0)
    weights = jnp.where(there, jnp.exp(jnp.where(there, logits - largest[..., None], 0.0)), 0.0)
    return weights / jnp.maximum(weights.sum(axis=-1, keepdims=True), 1e-30)


def convolve(vectors: jax.Array, kernel: jax.Array) -> jax.Array:
    """Convolve float[..., N, E] with a kernel float[h, E, F] into float[..., N, F].

    Each term is taken with the ``h - 1`` after it, and zeros after the end.
    """
    flat = vectors.reshape(-1, *vectors.shape[-2:])
    found = jax.lax.conv_general_dilated(
        flat, kernel, (1,), [(0, len(kernel) - 1)], dimension_numbers=("NWC", "WIO", "NWC")
    )
    return found.reshape(*vectors.shape[:-1], kernel.shape[-1])


def masked_max(values: jax.Array, there: jax.Array) -> jax.Array:
    """Return float[..., F]: the maximum of float[..., N, F] over N; zeros if nothing is there."""
    largest = jnp.where(there[..., None], values, -jnp.inf).max(axis=-2)
    return jnp.where(there.any(axis=-1)[..., None], largest, 0)


def pool_kernels(
    similarities: jax.Array, query_there: jax.Array, doc_there: jax.Array
) -> jax.Array:
    """Return float[B, C, K]: soft counts of similarities float[B, C, L, N] near kernels' centres.

    The sum over document terms of exp(-(s - mu)^2 / 2 sigma^2), its log(1 + x), and the sum of
    these over query terms: MatchZoo's. With the paper's 0.01 log x (Dai et al. 2018, section 3.3)
    the output's weights must grow a hundredfold to fill a margin of 1; before that, the
    convolutions overfit few queries.
    """
    there = doc_there[:, :, None, :]
    counts = [
        jnp.where(there, jnp.exp(-(((similarities - centre) / width) ** 2) / 2), 0).sum(axis=-1)
        for centre, width in zip(KERNELS, WIDTHS)
    ]
    logs = jnp.log1p(jnp.stack(counts, axis=-1))
    return jnp.where(query_there[:, None, :, None], logs, 0).sum(axis=2)
