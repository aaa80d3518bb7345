"""The core's tests run with JAX's strict rules."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import pytest


@pytest.fixture(autouse=True)
def _nothing_is_promoted_in_silence() -> Iterator[None]:
    """No dtype and no rank. Only here: optax's Adam multiplies its step count by a float.

    ``jax_debug_nans`` stays off, for optax masks padding by NaNs that it takes out again.
    """
    with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
        yield
