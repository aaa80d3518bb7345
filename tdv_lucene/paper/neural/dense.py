"""Weights, and the full layer that all re-rankers have."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


def draw_normal(rng: np.random.Generator, shape: tuple[int, ...], inputs: int) -> jax.Array:
    """Return float32 weights whose sum over so many ``inputs`` has a variance of 1.

    NumPy draws them: JAX would compile each shape, for seconds.
    """
    return jnp.asarray(rng.normal(size=shape) / inputs**0.5, jnp.float32)


class Dense(eqx.Module):
    """A full layer on the last axis.

    Attributes
    ----------
    weight : float[outputs, inputs]
    bias : float[outputs]
    """

    weight: jax.Array
    bias: jax.Array

    def __init__(self, inputs: int, outputs: int, rng: np.random.Generator) -> None:
        self.weight = draw_normal(rng, (outputs, inputs), inputs)
        self.bias = jnp.zeros(outputs)

    def __call__(self, values: jax.Array) -> jax.Array:
        """Return float[..., outputs] of float[..., inputs]."""
        return values @ self.weight.T + self.bias
