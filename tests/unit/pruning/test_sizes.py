"""Reductions from a number of bytes."""

from __future__ import annotations

import pytest

from tdv_lucene.errors import TdvError
from tdv_lucene.pruning.sizes import foreseen_bytes, reduction_within_bytes


class Index:
    """Bytes fall with the reduction, not quite along a line; counts how often it is written."""

    def __init__(self, fixed: int = 2_000_000, curve: float = 1.3) -> None:
        self.fixed, self.curve, self.tries = fixed, curve, []

    def __call__(self, reduction: float) -> int:
        self.tries.append(reduction)
        return self.fixed + int(30_000_000 * (1 - reduction) ** self.curve)


@pytest.mark.parametrize("curve", [0.6, 1.0, 1.3, 3.0])
@pytest.mark.parametrize("limit", [10_000_000, 20_000_000, 31_999_999])
def test_the_smallest_reduction_that_fits(curve, limit):
    index = Index(curve=curve)
    reduction = reduction_within_bytes(index, limit, fixed_bytes=2_000_000)
    assert reduction in index.tries and index(reduction) <= limit
    near = index(reduction) >= 0.99 * limit or index(reduction - 0.003) > limit
    assert near and len(index.tries) <= 12


@pytest.mark.parametrize(
    "foreseen", [lambda r: 3e7 * (1 - r / 2), lambda r: 9e7, lambda r: 1e6, lambda r: 6e7 - 5e7 * r]
)
@pytest.mark.parametrize("limit", [4_000_000, 9_000_000, 25_000_000])
def test_a_prediction_that_is_wrong_in_shape_drops_little_more_than_needed(foreseen, limit):
    index = Index()
    reduction = reduction_within_bytes(index, limit, foreseen=foreseen)
    assert reduction in index.tries and 0.95 * limit <= index(reduction) <= limit
    assert len(index.tries) <= 8


def test_what_is_foreseen_to_fit_is_written_whole():
    index = Index()
    assert reduction_within_bytes(index, 40_000_000, foreseen=Index()) == 0
    assert index.tries == [0]


def test_sizes_are_foreseen_between_and_behind_the_points():
    sizes = ((0.0, 40), (0.5, 20), (0.7, 10))
    known = [{"reduction": r, "index_bytes": size} for r, size in sizes]
    at = foreseen_bytes(known)
    assert [at(r) for r in (0, 0.25, 0.5, 0.6, 0.8)] == pytest.approx([40, 30, 20, 15, 5])
    assert foreseen_bytes([{"reduction": 0.45}, *known[:1]]) is None


def test_a_size_out_of_reach_names_the_smallest():
    with pytest.raises(TdvError, match=r"95% .* 2,\d{3},\d{3} bytes, .*max_bytes.*reduction"):
        reduction_within_bytes(Index(), 2_000_000, fixed_bytes=2_000_000)


def test_steps_in_size_still_end():
    """Ten terms of a tenth each: between them nothing changes."""

    def bytes_at(reduction):
        return 100 - 10 * int(reduction * 10 + 1e-9)

    reduction = reduction_within_bytes(bytes_at, 55)
    assert bytes_at(reduction) == 50 and reduction <= 0.502
