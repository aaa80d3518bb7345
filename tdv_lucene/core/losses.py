"""The ranking loss over lists of scores, Optax's, and the temperature it starts from."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax

from ..ranking import Array


def listwise(scores: Array, gains: Array, where: Array, temperature: Array) -> jax.Array:
    """Return the mean softmax cross-entropy of candidate lists, float[].

    Parameters
    ----------
    scores, gains : float[B, C]
        Gains are not negative; each list's are normalised to sum 1, so that every query counts
        the same. A list without a positive gain contributes 0.
    where : bool[B, C]
        False marks padding.
    temperature : float[]
        Scores are divided by it. See :func:`calibrated_temperature`.
    """
    gains = jnp.where(where, gains, 0.0)
    share = gains / jnp.maximum(gains.sum(axis=-1, keepdims=True), 1e-9)
    loss: jax.Array = optax.losses.ranking_softmax_loss(scores / temperature, share, where=where)
    return loss


@jax.jit  # compiled once for all folds
def calibrated_temperature(scores: Array, gains: Array, where: Array) -> jax.Array:
    """Return the temperature at which the plain model's loss is smallest: float[], 0.01 to 1000.

    BM25 gaps of about ten make an uncalibrated softmax so sharp that shrinking all term values
    together is the steepest way down: training then collapses. Started here it does not.
    """
    temperatures = jnp.geomspace(0.01, 1000.0, 121)  # steps of a tenth: the minimum is flat
    losses = jax.lax.map(lambda t: listwise(scores, gains, where, t), temperatures)
    return temperatures[jnp.argmin(losses)]
