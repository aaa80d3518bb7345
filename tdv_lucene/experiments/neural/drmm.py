"""DRMM: a deep relevance matching model on histograms of word similarities.

Source: Guo, Fan, Ai and Croft, "A Deep Relevance Matching Model for Ad-hoc Retrieval", CIKM 2016.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .batch import Batch
from .config import NeuralConfig
from .dense import Dense
from .layers import (
    BINS,
    both_there,
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

    hidden: Dense
    output: Dense
    gate: jax.Array
    gating: str = eqx.field(static=True)

    def __init__(self, dimensions: int, config: NeuralConfig, rng: np.random.Generator) -> None:
        self.hidden = Dense(BINS, _HIDDEN, rng)
        self.output = Dense(_HIDDEN, 1, rng)
        self.gate = jnp.ones(()) if config.gating == "idf" else jnp.zeros(dimensions)
        self.gating = config.gating

    def __call__(self, batch: Batch) -> jax.Array:
        """Return float[B, C]."""
        cosines = jnp.einsum("ble,bcne->bcln", unit(batch.query_vectors), unit(batch.doc_vectors))
        exact = exact_matches(batch.query, batch.docs)
        histograms = match_histograms(cosines, exact, both_there(batch.query, batch.docs))
        hidden = jnp.tanh(self.hidden(histograms))
        matched = jnp.tanh(self.output(hidden))[..., 0]
        by_idf = self.gating == "idf"
        logits = self.gate * batch.idf if by_idf else batch.query_vectors @ self.gate
        gates = masked_softmax(logits, batch.query >= 0)
        return (gates[:, None] * matched).sum(axis=-1)
