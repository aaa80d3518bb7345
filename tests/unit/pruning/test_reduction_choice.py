"""Reductions from a tolerated loss or a number of bytes."""

from __future__ import annotations

import pytest

from tdv_lucene.errors import TdvError
from tdv_lucene.pruning.reduction_choice import (
    parse_bytes,
    point_within_loss,
    reduction_within_bytes,
)


def points(*of: tuple[float, float]):
    """(reduction, nDCG@5) pairs; the full index has .5."""
    return [{"reduction": r, "measures": {"nDCG@5": m}, "full": {"nDCG@5": 0.5}} for r, m in of]


def test_the_largest_reduction_within_the_loss():
    path = points((0, 0.52), (0.3, 0.49), (0.45, 0.496), (0.6, 0.45))
    assert point_within_loss(path, 0.0)["reduction"] == 0
    assert point_within_loss(path, 0.01)["reduction"] == 0.45  # a share of .5, not .01 itself
    assert point_within_loss(path, 0.1)["reduction"] == 0.6


def test_where_every_point_loses_more_the_least_is_named():
    with pytest.raises(TdvError, match=r"least is 2.0%, at a reduction of 0.3.*max_loss=0.02"):
        point_within_loss(points((0.3, 0.49), (0.6, 0.4)), 0.01)


@pytest.mark.parametrize("loss", [-0.1, 1.0, float("nan")])
def test_a_loss_out_of_range_is_refused(loss):
    with pytest.raises(TdvError, match="max_loss must lie within"):
        point_within_loss(points((0, 0.5)), loss)


def test_values_never_validated_have_no_loss():
    with pytest.raises(TdvError, match="validated on held-out queries"):
        point_within_loss([{"reduction": 0.3, "measures": {}, "full": {}}], 0.01)


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


def test_what_fits_already_is_not_pruned():
    index = Index()
    assert reduction_within_bytes(index, 32_000_000) == 0 and index.tries == [0]


def test_a_size_out_of_reach_names_the_smallest():
    with pytest.raises(TdvError, match=r"95% of the postings removed it has 2,\d{3},\d{3}"):
        reduction_within_bytes(Index(), 2_000_000, fixed_bytes=2_000_000)


def test_steps_in_size_still_end():
    """Ten terms of a tenth each: between them nothing changes."""

    def bytes_at(reduction):
        return 100 - 10 * int(reduction * 10 + 1e-9)

    reduction = reduction_within_bytes(bytes_at, 55)
    assert bytes_at(reduction) == 50 and reduction <= 0.502


@pytest.mark.parametrize(
    ("text", "number"),
    [("25MB", 25_000_000), ("1.5 GiB", 1_610_612_736), ("800k", 800_000), (4096, 4096)],
)
def test_sizes_are_read(text, number):
    assert parse_bytes(text) == number


@pytest.mark.parametrize("text", ["", "MB", "-3MB", "0", "25 parrots", "1e6"])
def test_other_sizes_are_refused(text):
    with pytest.raises(TdvError, match="25MB"):
        parse_bytes(text)
