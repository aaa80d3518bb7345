"""Term values as whole multiples of 1 / scale: shared by learning and by pruning."""

from __future__ import annotations

import numpy as np


def whole_multiples(values: np.ndarray, scale: float | None) -> np.ndarray:
    """Return float32[V] ``values`` rounded to multiples of 1 / scale, at least one; 0 stays 0.

    A scaled frequency is then a whole number times tf, and no posting of a kept term is lost.
    Rounding each product instead changes how documents with the same term compare: on wiki165k at
    45 %, with as many bytes, it agreed less with real-valued scoring (overlap of the ten best at
    scale 3: .924 and .939; at 4: .942 and .951). ``scale`` None leaves the values as they are.
    """
    values = np.asarray(values, np.float32)
    if scale is None:
        return values
    multiples = np.maximum(np.rint(values.astype(np.float64) * scale), 1)
    return np.where(values > 0, multiples / scale, 0).astype(np.float32)


def whole_multiples_above(values: np.ndarray, scale: float | None) -> np.ndarray:
    """Return float32[V] :func:`whole_multiples` of those from 1 / scale on, the others as given.

    Where single postings go, a value below 1 / scale is a common term's that kept only its large
    frequencies: their products still differ when rounded, and 1 / scale would be far too much.
    """
    values = np.asarray(values, np.float32)
    if scale is None:
        return values
    return np.where(values * np.float32(scale) < 1, values, whole_multiples(values, scale))
