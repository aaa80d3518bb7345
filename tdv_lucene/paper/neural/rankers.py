"""The re-rankers by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import equinox as eqx
import jax
import numpy as np

from . import check_name
from .config import NeuralConfig
from .conv_knrm import ConvKnrm
from .drmm import Drmm
from .duet import Duet
from .layers import Batch

_KINDS: dict[str, Callable[..., Any]] = {"drmm": Drmm, "duet": Duet, "conv-knrm": ConvKnrm}


class Ranker(Protocol):
    """An Equinox module that scores documents."""

    def __call__(self, batch: Batch) -> jax.Array:
        """Return float[B, C]; finite also for an empty query or document."""
        ...


def make_ranker(name: str, dimensions: int, config: NeuralConfig, seed: int) -> Ranker:
    """Return an untrained re-ranker for word vectors of ``dimensions`` numbers.

    Raises :class:`TdvError` when there is none of that name.
    """
    check_name(name)
    return _KINDS[name](dimensions, config, np.random.default_rng(seed))


def count_parameters(ranker: Ranker) -> int:
    """Return how many numbers training fits."""
    return sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(ranker, eqx.is_inexact_array)))


score = eqx.filter_jit(lambda ranker, batch: ranker(batch))
"""Compiled once for each kind and shape, whatever the weights."""
