"""What commands print of numbers that would mislead by themselves."""

from __future__ import annotations

from typing import Any

import pytest

from tdv_lucene.cli.common import megabytes
from tdv_lucene.cli.prune import _say, _validated


@pytest.mark.parametrize(
    ("size", "expected"),
    [(2557, "0.00256"), (0, "0"), (281_838, "0.282"), (22_600_000, "22.6"),
     (99_960_000, "100"), (1_234_567_890, "1,234.6")],
)  # fmt: skip
def test_megabytes_tell_small_indexes_apart(size: int, expected: str) -> None:
    assert megabytes(size) == expected


@pytest.mark.parametrize(
    ("pruned", "said"), [(0.495, "loses 1.0 % of nDCG@5"), (0.55, "loses no nDCG@5 (+10.0 %)")]
)
def test_a_gain_is_not_told_as_a_negative_loss(pruned, said):
    chosen = {
        "reduction": 0.6, "loss": 1 - pruned / 0.5, "loss_at_most": 0.016, "max_loss": 0.02,
        "measures": {"nDCG@5": pruned}, "full": {"nDCG@5": 0.5}, "measure": "nDCG@5",
    }  # fmt: skip
    assert said in _validated(chosen)


@pytest.mark.parametrize("dropped, told", [(0, "2"), (3, "2 in segments that stayed")])
def test_deletions_in_segments_that_were_pruned_again_are_not_told_as_none(dropped, told, capsys):
    drift = {
        "documents": 9, "documents_learned": 10, "mean_length": 3.0, "mean_length_learned": 3.0,
        "moved": 0.0, "unseen_terms": 0, "unseen_postings": 0.0, "is_due": False,
    }  # fmt: skip
    report: dict[str, Any] = {
        "updated": True, "exceeded": False, "drift": drift, "reduction": 0.3,
        "requested_reduction": 0.3, "segments": 4, "segments_added": dropped,
        "segments_dropped": dropped, "segments_foreign": 0, "deletions": 2,
    }  # fmt: skip
    _say(report, as_json=False)
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["deletions"] == told
