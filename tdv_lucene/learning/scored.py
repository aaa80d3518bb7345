"""What one training says of every term."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._dropping import nearest


class Scored(NamedTuple):
    """Values, for the reductions they were trained at, and the order in which terms go.

    Attributes
    ----------
    trained_at : tuple of P float
    weights : float32[P, V]
        Discrimination values of the terms that are kept.
    priority : float32[V]
        Terms with the smallest are given up first.
    """

    trained_at: tuple[float, ...]
    weights: np.ndarray
    priority: np.ndarray

    def near(self, reduction: float) -> np.ndarray:
        """Return float32[V]: the values trained nearest to ``reduction``."""
        return self.weights[nearest(self.trained_at, reduction)]
