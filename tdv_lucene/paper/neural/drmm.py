"""DRMM: a deep relevance matching model on histograms of word similarities.

Source: Guo, Fan, Ai and Croft, "A Deep Relevance Matching Model for Ad-hoc Retrieval", CIKM 2016.
There the units are tanh. Here they are as in MatchZoo, with which the TDV paper ran it: ReLU and
a score without bounds. Between bounds that a margin of 1 already fills, the best documents of a
thousand come to score the same.
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
_SMALL = 0.1
"""Of the first weights: a text has tens of terms in the bins around 0, and what these add would
drown its exact matches."""


class Drmm(eqx.Module):
    """score = sum over query terms of g_l (v . ReLU(W h_l + a) + b).

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
        drawn = Dense(BINS, _HIDDEN, rng)
        start = (drawn.weight * _SMALL, jnp.ones(_HIDDEN))  # every unit is above 0
        self.hidden = eqx.tree_at(lambda layer: (layer.weight, layer.bias), drawn, start)
        self.output = Dense(_HIDDEN, 1, rng)
        self.gate = jnp.ones(()) if config.gating == "idf" else jnp.zeros(dimensions)
        self.gating = config.gating

    def __call__(self, batch: Batch) -> jax.Array:
        """Return float[B, C]."""
        cosines = jnp.einsum("ble,bcne->bcln", unit(batch.query_vectors), unit(batch.doc_vectors))
        exact = exact_matches(batch.query, batch.docs)
        histograms = match_histograms(cosines, exact, both_there(batch.query, batch.docs))
        matched = self.output(jax.nn.relu(self.hidden(histograms)))[..., 0]
        by_idf = self.gating == "idf"
        logits = self.gate * batch.idf if by_idf else batch.query_vectors @ self.gate
        gates = masked_softmax(logits, batch.query >= 0)
        return (gates[:, None] * matched).sum(axis=-1)
