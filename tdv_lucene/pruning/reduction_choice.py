"""The reduction that keeps within a number of bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import TdvError, argument
from ..values.dropped_terms import nearest

LARGEST_REDUCTION = 0.95
"""The most that is tried to meet a size."""

_CLOSE = 0.99  # of the bytes allowed: near enough
_ENOUGH = 0.98  # the same if the size was predicted
_FINE = 0.002  # differences of reductions that are not told apart
_TRIES = 12


def foreseen_bytes(
    points: Sequence[Mapping[str, Any]], scale: float | None = None
) -> Callable[[float], float] | None:
    """Return a function from reduction to predicted bytes; None if nothing was predicted.

    Between two points it is a line, drawn at the scale that pruning takes there: ``scale``, or that
    of the nearest point. Beyond the last point the line goes on.
    """
    known = sorted((p for p in points if "index_bytes" in p), key=lambda p: p["reduction"])
    if len(known) < 2:
        return None
    reductions = [float(point["reduction"]) for point in known]

    def at(reduction: float) -> float:
        taken = scale or known[nearest(reductions, reduction)]["scale"]
        sizes = [_bytes_at_scale(point, taken) for point in known]
        if reduction <= reductions[-1]:
            return float(np.interp(reduction, reductions, sizes))
        slope = (sizes[-1] - sizes[-2]) / (reductions[-1] - reductions[-2])
        return sizes[-1] + slope * (reduction - reductions[-1])

    return at


def _bytes_at_scale(point: Mapping[str, Any], scale: float) -> float:
    """Return the predicted bytes at another scale than the point's, between those it tried."""
    tried = {
        entry["scale"]: entry["index_bytes"] for entry in point["scales"] if "index_bytes" in entry
    }
    if scale == point["scale"] or not tried:
        return float(point["index_bytes"])
    scales = sorted(tried)
    return float(np.interp(np.log(scale), np.log(scales), [tried[one] for one in scales]))


def reduction_within_bytes(
    bytes_at: Callable[[float], int],
    max_bytes: int,
    *,
    fixed_bytes: int = 0,
    foreseen: Callable[[float], float] | None = None,
) -> float:
    """Return the smallest reduction found whose index has at most ``max_bytes``.

    Every size is that of an index that was really written, so the one returned fits. It is the
    smallest to within 1 % of the bytes allowed, or 0.002 of reduction.

    Raises :class:`TdvError` when even ``LARGEST_REDUCTION`` does not fit.

    Parameters
    ----------
    bytes_at
        Bytes of the index at a reduction; falls as the reduction grows. Called a few times.
    fixed_bytes
        Bytes that stay whatever is dropped; without ``foreseen`` the first guess starts from them.
    foreseen
        What ``bytes_at`` is expected to return. Then one index is written, a second if the first
        does not fit or is more than 2 % too small, and more only if neither fits.
    """
    if foreseen is not None:
        found = _as_foreseen(bytes_at, max_bytes, foreseen)
        if found is not None:
            return found
    low, low_bytes = 0.0, bytes_at(0.0)
    if low_bytes <= max_bytes:
        return 0.0
    high, high_bytes = 1.0, fixed_bytes  # never written: where the line of the guesses ends
    aim = (1 + _CLOSE) / 2 * max_bytes
    for number in range(_TRIES):
        if high <= LARGEST_REDUCTION and (high_bytes >= _CLOSE * max_bytes or high - low <= _FINE):
            break
        # By turns along the line between the two sizes and in the middle, so that no curve stalls.
        share = (low_bytes - aim) / max(1, low_bytes - high_bytes) if number % 3 < 2 else 0.5
        guess = low + share * (high - low)
        guess = min(max(guess, low + _FINE / 2), high - _FINE / 2, LARGEST_REDUCTION)
        if number == _TRIES - 1 and high > LARGEST_REDUCTION:
            guess = LARGEST_REDUCTION
        size = bytes_at(guess)
        if size <= max_bytes:
            high, high_bytes = guess, size
        elif guess == LARGEST_REDUCTION:
            raise TdvError(
                f"with {LARGEST_REDUCTION:.0%} of the postings dropped, the most that is tried, "
                f"the index has {size:,} bytes, and not the {max_bytes:,} asked "
                f"for: pass a larger {argument('max_bytes')}, or a {argument('reduction')} above "
                f"{LARGEST_REDUCTION:g}"
            )
        else:
            low, low_bytes = guess, size
    return high


def _as_foreseen(
    bytes_at: Callable[[float], int], max_bytes: int, foreseen: Callable[[float], float]
) -> float | None:
    """Write one or two indexes; return the reduction of the last if it fits, else None."""
    aim, error = (1 + _CLOSE) / 2 * max_bytes, 1.0
    fitting: float | None = None
    for _ in range(2):
        tried = np.linspace(0, LARGEST_REDUCTION, 2 * round(LARGEST_REDUCTION / _FINE) + 1)
        fits = [r for r in tried.tolist() if error * foreseen(r) <= aim]
        guess = fits[0] if fits else LARGEST_REDUCTION
        size = bytes_at(guess)
        if size <= max_bytes:
            fitting = guess
            if size >= _ENOUGH * max_bytes or guess == 0:
                return guess
        error = size / foreseen(guess)
    return fitting
