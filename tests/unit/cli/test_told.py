"""What commands say of figures that would mislead by themselves."""

from __future__ import annotations

from typing import Any

import pytest

from tdv_lucene.cli.prune import _fidelity
from tdv_lucene.cli.update import _say

DRIFT = {
    "documents": 9, "documents_learned": 10, "mean_length": 3.0, "mean_length_learned": 3.0,
    "moved": 0.0, "unseen_terms": 0, "unseen_postings": 0.0, "is_due": False,
}  # fmt: skip


@pytest.mark.parametrize("dropped, told", [(0, "2"), (3, "2 in segments that stayed")])
def test_deletions_in_segments_that_were_pruned_again_are_not_told_as_none(dropped, told, capsys):
    report: dict[str, Any] = {
        "updated": True, "exceeded": False, "drift": DRIFT, "reduction": 0.3,
        "requested_reduction": 0.3, "segments": 4, "segments_added": dropped,
        "segments_dropped": dropped, "segments_foreign": 0, "deletions": 2,
    }  # fmt: skip
    _say(report, as_json=False)
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["deletions"] == told


def test_agreement_is_no_aim_where_the_scale_is_chosen_by_how_it_ranks():
    measured = {"overlap_at_10": 0.501, "rbo_at_10": 0.488, "posting_bytes": 77_200.0}
    told = _fidelity("tfidf", measured)
    assert "not to agree" in told and "0.501" in told and "0.0772 MB" in told
    for model in ("bm25", "any"):
        assert _fidelity(model, measured).startswith("\nRounded against unrounded frequencies")
