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

from .config import NeuralConfig
from .layers import (
    BINS,
    Batch,
    Dense,
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

    h_l are log-count histograms, g the softmax over the query's terms of w idf (of
    the paper's two gates the one without word vectors).

    Attributes
    ----------
    gate : float[]
    """

    hidden: Dense
    output: Dense
    gate: jax.Array

    def __init__(self, dimensions: int, config: NeuralConfig, rng: np.random.Generator) -> None:
        drawn = Dense(BINS, _HIDDEN, rng)
        start = (drawn.weight * _SMALL, jnp.ones(_HIDDEN))  # every unit is above 0
        self.hidden = eqx.tree_at(lambda layer: (layer.weight, layer.bias), drawn, start)
        self.output = Dense(_HIDDEN, 1, rng)
        self.gate = jnp.ones(())

    def __call__(self, batch: Batch) -> jax.Array:
        """Return float[B, C]."""
        cosines = jnp.einsum("ble,bcne->bcln", unit(batch.query_vectors), unit(batch.doc_vectors))
        exact = exact_matches(batch.query, batch.docs)
        histograms = match_histograms(cosines, exact, both_there(batch.query, batch.docs))
        matched = self.output(jax.nn.relu(self.hidden(histograms)))[..., 0]
        gates = masked_softmax(self.gate * batch.idf, batch.query >= 0)
        return (gates[:, None] * matched).sum(axis=-1)
