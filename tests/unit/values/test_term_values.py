"""Term values on disk: what is admitted, what is refused, and that nothing changes on the way."""

from __future__ import annotations

import numpy as np
import pytest

from tdv_lucene import TdvError, TermValues
from tdv_lucene.vocabulary import ByteStrings, Vocabulary

POINT = {
    "reduction": 0.0,
    "removed": 0.0,
    "measures": {"nDCG@5": 0.5, "R@1000": 0.9},
    "full": {"nDCG@5": 0.4, "R@1000": 0.9},
    "scale": 4,
    "scales": [],
}


def make_values(manifest_=None, **changes) -> TermValues:
    vocabulary = Vocabulary("contents", ByteStrings.of([b"a", b"b", b"\xff", b"\xff\x00"]))
    manifest = {
        "field": "contents",
        "vocabulary_sha256": vocabulary.sha256,
        "model": "bm25",
        "parameters": {"k1": 0.9, "b": 0.4, "mu": 1000.0},
        "points": [POINT, {**POINT, "reduction": 0.5, "scale": 2}],
        "recommended_reduction": 0.5,
    }
    arrays = {
        "doc_freq": np.array([40, 30, 20, 10]),
        "total_term_freq": np.array([80, 60, 40, 20]),
        "weights": np.array([0.5, 1, 2, 0], np.float32),
        "priority": np.array([1, 2, 3, 4], np.float32),
    }
    return TermValues(vocabulary, manifest=manifest_ or manifest, **{**arrays, **changes})


def test_round_trip(tmp_path):
    made = make_values()
    made.save(tmp_path / "V")
    read = TermValues.load(tmp_path / "V")
    assert list(read.vocabulary.terms) == list(made.vocabulary.terms)
    for name in ("doc_freq", "total_term_freq", "weights", "priority"):
        np.testing.assert_array_equal(getattr(read, name), getattr(made, name))
    assert read.points == made.points and read.parameters == made.parameters


def test_the_nearest_point_gives_the_scale_and_the_recommendation_is_the_default():
    values = make_values()
    assert values.at_reduction(0.1).scale == 4
    recommended = values.at_reduction(values.recommended_reduction)
    assert recommended.scale == 2 and recommended.reduction == 0.5
    assert recommended.tdv.tolist() == [0.0, 1.0, 2.0, 0.0]
    assert recommended.nearest["reduction"] == 0.5


RULE = {"factors_at": [0.0, 0.5], "whole_terms": 0.0, "fixed": 0.5, "per_token": 0.1,
        "by_postings": True, "reductions": [0.0, 0.99], "thresholds": [0.0, 0.5]}  # fmt: skip


def with_rule(rule=RULE, **changes) -> TermValues:
    manifest = {**make_values().manifest, "posting_rule": rule, "unit": "posting"}
    given = {"posting_priority": np.ones(4, np.float32),
             "posting_factors": np.ones((2, 4), np.float32)}  # fmt: skip
    return make_values(manifest_=manifest, **{**given, **changes})


def test_an_edited_manifest_is_refused(tmp_path):
    with_rule().save(tmp_path / "V")
    path = tmp_path / "V" / "manifest.json"
    path.write_text(path.read_text().replace('"k1": 0.9', '"k1": 0.8'))
    with pytest.raises(TdvError, match="manifest.json was edited"):
        TermValues.load(tmp_path / "V")


def test_values_that_are_no_numbers_are_not_saved(tmp_path):
    weights = np.array([1, np.nan, 1, 1], np.float32)
    with pytest.raises(TdvError, match="weights.npy would hold numbers that are none"):
        make_values(weights=weights).save(tmp_path / "V")
    assert not list(tmp_path.iterdir())
