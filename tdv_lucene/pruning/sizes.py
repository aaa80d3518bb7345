"""The reduction that keeps within a number of bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import TdvError

LARGEST_REDUCTION = 0.95
"""The most that is tried to meet a size."""

_CLOSE = 0.99  # of the bytes allowed: near enough
_ENOUGH = 0.98  # the same if the size was predicted
_PASSABLE = 0.95  # and if the prediction was wrong: each index that is written takes long
_FINE = 0.002  # differences of reductions that are not told apart
_FORESEEN_TRIES = 2
_TRIES = 12


def foreseen_bytes(points: Sequence[Mapping[str, Any]]) -> Callable[[float], float] | None:
    """Return a function from reduction to predicted bytes, by lines between the points, the last of
    which goes on; None if nothing was predicted."""
    known = sorted((p["reduction"], p["index_bytes"]) for p in points if "index_bytes" in p)
    if len(known) < 2:
        return None
    reductions, sizes = zip(*known)

    def at(reduction: float) -> float:
        if reduction <= reductions[-1]:
            return float(np.interp(reduction, reductions, sizes))
        slope = (sizes[-1] - sizes[-2]) / (reductions[-1] - reductions[-2])
        return float(sizes[-1] + slope * (reduction - reductions[-1]))

    return at


def reduction_within_bytes(
    bytes_at: Callable[[float], int],
    max_bytes: int,
    *,
    fixed_bytes: int = 0,
    foreseen: Callable[[float], float] | None = None,
) -> float:
    """Return the smallest reduction found whose index has at most ``max_bytes``.

    Every size is that of an index that was really written, so the one returned fits. It is the
    smallest to within 1 % of the bytes allowed, or 0.002 of reduction; to within 5 % of the bytes
    if sizes were ``foreseen``.

    ``bytes_at`` a reduction are those of the index, which is written; they fall as it grows.
    ``fixed_bytes`` stay whatever is dropped; without ``foreseen`` the first guess starts from them.
    ``foreseen`` is what ``bytes_at`` is expected to return. Then one index is written, a second if
    the first does not fit or is more than 2 % too small, and more only if what was foreseen is
    wrong in shape, as for an index that has changed since.

    Raises :class:`TdvError` when even ``LARGEST_REDUCTION`` does not fit.
    """
    known: dict[float, int] = {}
    aim, close = (1 + _CLOSE) / 2 * max_bytes, _PASSABLE if foreseen else _CLOSE

    def write(reduction: float) -> int:
        known[reduction] = bytes_at(reduction)
        return known[reduction]

    if foreseen is not None:
        tried, error = np.linspace(0, LARGEST_REDUCTION, 951).tolist(), 1.0  # .001 apart
        for _ in range(_FORESEEN_TRIES):
            guess = next((r for r in tried if error * foreseen(r) <= aim), LARGEST_REDUCTION)
            size = write(guess)
            if size <= max_bytes and (size >= _ENOUGH * max_bytes or guess == 0):
                break
            error = size / foreseen(guess)
    high = 1.0  # never written: where the line of the guesses ends
    for number in range(_TRIES):
        fitting = [reduction for reduction, size in known.items() if size <= max_bytes]
        too_large = [reduction for reduction, size in known.items() if size > max_bytes]
        if LARGEST_REDUCTION in too_large:
            raise TdvError(
                f"with {LARGEST_REDUCTION:.0%} of the postings dropped, the most that is tried, "
                f"the index has {known[LARGEST_REDUCTION]:,} bytes, and not the {max_bytes:,} "
                f"asked for: pass a larger max_bytes, or a reduction above {LARGEST_REDUCTION:g}"
            )
        high = min(fitting, default=1.0)
        high_bytes = known.get(high, fixed_bytes)
        if fitting and (high == 0 or high_bytes >= close * max_bytes):
            break
        if not too_large:
            write(0.0)
            continue
        low = max(too_large)
        if fitting and high - low <= _FINE:
            break
        # By turns along the line between the two sizes and in the middle, so that no curve stalls.
        share = (known[low] - aim) / max(1, known[low] - high_bytes) if number % 3 < 2 else 0.5
        guess = low + share * (high - low)
        guess = min(max(guess, low + _FINE / 2), high - _FINE / 2, LARGEST_REDUCTION)
        write(guess if fitting or number < _TRIES - 2 else LARGEST_REDUCTION)
    return high
