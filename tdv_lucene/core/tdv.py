"""From a term's features to its discrimination value: tdv = ReLU(w . x + b) (paper, eq. 7)."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from ..ranking import Array


class Features(NamedTuple):
    """Features of ``V`` terms in two blocks: x = (statistics, vector).

    Attributes
    ----------
    statistics : float32[V, S]
        Known for every term.
    vector_terms : int32[R]
        The terms that have a vector, each once.
    vectors : float32[R, K]
        A term without one has the zero vector: most terms of a large vocabulary are too rare to
        have a vector, and storing their zeros would multiply memory and time.
    """

    statistics: Array
    vector_terms: Array
    vectors: Array

    @property
    def width(self) -> tuple[int, int]:
        """(S, K)."""
        return self.statistics.shape[1], self.vectors.shape[1]


class Linear(NamedTuple):
    """The shallow network's parameters, w in the two blocks of :class:`Features`.

    Attributes
    ----------
    of_statistics : float32[S]
    of_vector : float32[K]
    bias : float32[]
    """

    of_statistics: Array
    of_vector: Array
    bias: Array


def flat_start(features: Features) -> Linear:
    """Return w = 0 and b = 1: every term value is 1, so training starts at the plain model."""
    statistics, vector = features.width
    return Linear(jnp.zeros(statistics), jnp.zeros(vector), jnp.ones(()))


@jax.jit
def term_values(parameters: Linear, features: Features) -> jax.Array:
    """Return float32[V] term values, exactly 0 where the unit is off."""
    from_vector = features.vectors @ parameters.of_vector
    known = features.statistics @ parameters.of_statistics + parameters.bias
    return jax.nn.relu(known.at[features.vector_terms].add(from_vector))


def squared_length(parameters: Linear) -> jax.Array:
    """Return |w|^2; the bias is free."""
    length: jax.Array = (parameters.of_statistics**2).sum() + (parameters.of_vector**2).sum()
    return length
