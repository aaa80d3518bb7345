"""What one training says of every term."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Scored(NamedTuple):
    """Values and an order of terms.

    Attributes
    ----------
    weights : float32[V]
        Discrimination values.
    priority : float32[V]
        Terms with the smallest are given up first.
    """

    weights: np.ndarray
    priority: np.ndarray
