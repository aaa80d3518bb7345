"""What the arrays of term values may hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ..errors import TdvError


def _finite_from_0(array: np.ndarray) -> bool:
    return bool(np.isfinite(array).all() and np.all(array >= 0))


_ADMISSIBLE: dict[str, tuple[str, str, Callable[[np.ndarray], bool]]] = {
    "doc_freq": ("iu", "whole numbers from 0", _finite_from_0),
    "total_term_freq": ("iu", "whole numbers from 0", _finite_from_0),
    "weights": ("f", "finite and not negative", _finite_from_0),
    "priority": ("f", "numbers, none of them NaN", lambda array: not bool(np.isnan(array).any())),
    "posting_priority": (
        "f", "finite and above 0", lambda array: _finite_from_0(array) and bool(np.all(array > 0))
    ),
    "posting_factors": ("f", "finite and not negative", _finite_from_0),
}  # fmt: skip
"""Of every array: kinds of dtype, what its numbers must be in words, and whether they are."""


def check_arrays(arrays: Mapping[str, np.ndarray | None], terms: int, factors: int) -> None:
    """Check shapes and numbers of the arrays there are; ``posting_factors`` has ``factors`` rows.

    Raises :class:`TdvError` when one is not as it must be.
    """
    for name, found in arrays.items():
        if found is None:
            continue
        expected = (factors, terms) if name == "posting_factors" else (terms,)
        if found.shape != expected:
            raise TdvError(
                f"term values: '{name}' has shape {found.shape}, expected {expected}: "
                "the folder is damaged or of an earlier version; learn it again"
            )
        kind, legal, holds = _ADMISSIBLE[name]
        if found.dtype.kind not in kind or not holds(np.asarray(found)):
            raise TdvError(
                f"term values: '{name}' must be {legal}; the folder is damaged or was edited: "
                "learn it again"
            )
