"""What commands print of numbers that would mislead by themselves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tdv_lucene.cli.common import megabytes
from tdv_lucene.cli.learn import _first_ten, _held_back, _judged, _moved
from tdv_lucene.cli.prune import _fidelity, _say, _validated


@pytest.mark.parametrize(
    ("size", "expected"),
    [(2557, "0.00256"), (0, "0"), (281_838, "0.282"), (22_600_000, "22.6"),
     (99_960_000, "100"), (1_234_567_890, "1,234.6")],
)  # fmt: skip
def test_megabytes_tell_small_indexes_apart(size: int, expected: str) -> None:
    assert megabytes(size) == expected


def test_learning_tells_the_second_point_and_what_holds_others_back() -> None:
    def point(reduction: float, ndcg: float, recall: float) -> dict[str, Any]:
        ends = {"nDCG@5": (ndcg, 0.004), "R@1000": (recall, 0.01)}
        return {
            "reduction": reduction,
            "measures": {"nDCG@5": 0.5 + ndcg, "R@1000": 0.9 + recall},
            "full": {"nDCG@5": 0.5, "R@1000": 0.9},
            "difference": {
                name: {"mean": mean, "ci95": [mean - half, mean + half]}
                for name, (mean, half) in ends.items()
            },
            "judged": {"judged": 0.25, "nDCG@10 of judged": 0.6 + reduction / 10},
        }

    points = [point(0.0, 0.02, 0.0), point(0.3, 0.01, -0.1), point(0.45, -0.2, -0.2)]
    first_ten = {"reduction": 0.3, "mean": 0.005, "ci95": [-0.001, 0.011]}
    values: Any = SimpleNamespace(
        points=points, measure="nDCG@5",
        manifest={"full": points[0], "recommended_reduction": 0.0, "first_ten": first_ten},
    )  # fmt: skip
    told = " ".join(_first_ten(values))
    assert "--reduction 0.3" in told and "R@1000 changes by -0.100 ±0.010" in told
    assert "a change of +0.005" in told and "-0.001 to +0.011" in told
    recall, ndcg = sorted(_held_back(values))
    assert "nDCG@5" in ndcg and ndcg.endswith(": 45%.")
    assert "R@1000" in recall and recall.endswith(": 30%, 45%.")
    shares, condensed = _judged(values)
    assert "full-tuned 25%, 0% dropped 25%" in shares and "30% dropped 0.6300" in condensed
    values.manifest = {"full": {}, "recommended_reduction": 0.0}
    assert not [*_first_ten(values), *_judged(values)]


def test_how_far_learning_moved_from_its_prior_and_what_that_is_worth() -> None:
    parameters = {"k1": 1.5, "b": 0.4, "mu": 1000.0}
    gain = {"measure": "nDCG@5", "mean": 0.0123, "interval": (-0.001, 0.0256)}
    prior = {"name": "made", "parameters": parameters, "lead": None, "values": 1e-8, "gain": gain}

    def told(values: float, k1: float, gain: dict[str, Any] = gain) -> str:
        made = SimpleNamespace(
            manifest={"model": "bm25", "lead": None}, parameters={**parameters, "k1": k1}
        )
        return _moved({**prior, "values": values, "gain": gain}, made)

    assert "kept the prior made" in told(1e-8, 1.5)
    said = told(0.25, 3.0)
    assert "k1 1.5 -> 3, TDVs by 0.25" in said and "+0.0123 of nDCG@5" in said
    assert "-0.0010 to +0.0256" in said
    assert "interval" not in told(0.25, 1.5, {**gain, "interval": None})


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


def test_agreement_is_no_aim_where_the_scale_is_chosen_by_how_it_ranks() -> None:
    measured = {"overlap_at_10": 0.501, "posting_bytes": 77_200.0}
    told = _fidelity("tfidf", measured)
    assert "not to agree" in told and "0.501" in told and "0.0772 MB" in told
    assert not any("not to agree" in _fidelity(model, measured) for model in ("bm25", "any"))
