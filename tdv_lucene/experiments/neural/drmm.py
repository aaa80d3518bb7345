"""DRMM: a deep relevance matching model on histograms of word similarities.

Source: Guo, Fan, Ai and Croft, "A Deep Relevance Matching Model for Ad-hoc Retrieval", CIKM 2016.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp

from .batch import Batch
from .config import NeuralConfig
from .layers import (
    BINS,
    both_there,
    dense,
    exact_matches,
    masked_softmax,
    match_histograms,
    unit,
)

_HIDDEN = 5


class Drmm(eqx.Module):
    """score = sum over query terms of g_l tanh(v . tanh(W h_l + a) + b).

    h_l are log-count histograms, g the softmax over the query's terms of w idf or w . x (the
    paper's two gates), with the term's vector x.

    Attributes
    ----------
    gate : float[] or float[E]
    """

    hidden: eqx.nn.Linear
    output: eqx.nn.Linear
    gate: jax.Array
    gating: str = eqx.field(static=True)

    def __init__(self, dimensions: int, config: NeuralConfig, key: jax.Array) -> None:
        first, second = jax.random.split(key)
        self.hidden = eqx.nn.Linear(BINS, _HIDDEN, key=first)
        self.output = eqx.nn.Linear(_HIDDEN, 1, key=second)
        self.gate = jnp.ones(()) if config.gating == "idf" else jnp.zeros(dimensions)
        self.gating = config.gating

    def __call__(self, batch: Batch) -> jax.Array:
        """Return float[B, C]."""
        cosines = jnp.einsum("ble,bcne->bcln", unit(batch.query_vectors), unit(batch.doc_vectors))
        exact = exact_matches(batch.query, batch.docs)
        histograms = match_histograms(cosines, exact, both_there(batch.query, batch.docs))
        hidden = jnp.tanh(dense(self.hidden, histograms))
        matched = jnp.tanh(dense(self.output, hidden))[..., 0]
        by_idf = self.gating == "idf"
        logits = self.gate * batch.idf if by_idf else batch.query_vectors @ self.gate
        gates = masked_softmax(logits, batch.query >= 0)
        return (gates[:, None] * matched).sum(axis=-1)
