"""A gate a term under a budget on postings: what to keep, learned apart from what it is worth.

g_t = sigmoid((z_t - tau) / width), with tau such that the kept share of postings,
sum_t df_t g_t / sum_t df_t, is exactly the budget. Lowering all z together changes nothing, so
sparsity cannot be bought by rescaling; only the order of terms can be learned.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from .scoring import Array

_NEWTON_STEPS = 6


def budgeted_gate(z: Array, doc_freq: Array, kept: Array, start: Array, width: float) -> jax.Array:
    """Return float32[V] gates that keep the share ``kept`` of postings, differentiable in ``z``.

    Parameters
    ----------
    z : float32[V]
        Larger is kept longer.
    doc_freq : float32[V]
    kept : float
        Within (0, 1).
    start : float[]
        A threshold near the solution; the exact one is found by Newton's method.
    width : float
        How soft the gate is, in units of ``z``.

    The threshold's own dependence on ``z`` enters by the implicit function theorem:
    d tau / d z_t = df_t g_t (1 - g_t) / sum over all terms of the same.
    """
    fixed = jax.lax.stop_gradient(z)
    share = doc_freq / doc_freq.sum()

    def newton(_: int, tau: jax.Array) -> jax.Array:
        gate = jax.nn.sigmoid((fixed - tau) / width)
        excess = (share * gate).sum() - kept
        slope = (share * gate * (1 - gate)).sum() / width
        return tau + jnp.clip(excess / jnp.maximum(slope, 1e-3), -width, width)

    tau = jax.lax.fori_loop(0, _NEWTON_STEPS, newton, jnp.asarray(start, fixed.dtype))
    gate = jax.nn.sigmoid((fixed - tau) / width)
    pull = share * gate * (1 - gate)
    tau = tau + (pull * (z - fixed)).sum() / jnp.maximum(pull.sum(), 1e-12)
    return jax.nn.sigmoid((z - tau) / width)
