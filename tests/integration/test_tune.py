"""Tuned parameters in norms: what they cannot hold is not written as if they did."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lucene_indexes import Doc
from tiny_collection import TINY_TEXTS

from tdv_lucene import TdvError, tune_index
from tdv_lucene.ranking import Baking
from tdv_lucene.searching import tune as searching_tune

pytestmark = pytest.mark.jvm

TOPICS = {"q1": "quick fox", "q2": "index postings", "q3": "lazy dogs"}
QRELS = {"q1": {"d1": 1, "d0": 0}, "q2": {"d6": 1, "d4": 1}, "q3": {"d2": 1, "d0": 0}}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "tuned"


def test_a_field_without_norms_is_refused(make_index, out: Path) -> None:
    docs = [Doc(f"d{i}", text.split()) for i, text in enumerate(TINY_TEXTS)]
    index = make_index([docs], norms="none")
    for given in ((None, None), (TOPICS, QRELS)):
        with pytest.raises(TdvError, match="has no norms"):
            tune_index(index, *given, out)
    assert not out.exists()


def test_qrels_of_another_collection_are_refused_before_tuning(
    tiny_index: Path, out: Path, monkeypatch
) -> None:
    monkeypatch.setattr(searching_tune, "tune_parameters", lambda *_, **__: pytest.fail("tuned"))
    qrels = {"q1": {"other-1": 1}, "q2": {"other-2": 1}}
    with pytest.raises(TdvError, match="share no document"):
        tune_index(tiny_index, TOPICS, qrels, out)
    assert not out.exists()


def _tried(monkeypatch, *tried: tuple[float, float, float]) -> None:
    table = [{"k1": k1, "b": b, "nDCG@5": found} for k1, b, found in tried]
    monkeypatch.setattr(searching_tune, "tune_parameters", lambda *_, **__: (None, table))


def test_the_best_that_norms_can_hold_is_taken_and_the_better_one_named(
    tiny_index: Path, out: Path, monkeypatch, caplog
) -> None:
    """For k1 .9 and b .4 no length norm is below .54: with k1 .5 nearly all were."""
    _tried(monkeypatch, (0.9, 0.4, 0.2), (0.5, 0.2, 0.5), (2.0, 0.4, 0.3), (0.5, 0.8, 0.4))
    made = tune_index(tiny_index, TOPICS, QRELS, out)
    assert made["baked"] == {"k1": 2.0, "b": 0.4} and made["norms"]["beyond"] == 0
    assert "cannot hold k1 0.5, b 0.2" in caplog.text and "k1 2, b 0.4" in caplog.text
    caplog.clear()
    _tried(monkeypatch, (0.9, 0.4, 0.2), (2.0, 0.4, 0.3))
    tune_index(tiny_index, TOPICS, QRELS, out, overwrite=True)
    assert "cannot hold" not in caplog.text


def test_where_norms_hold_none_it_is_refused(tiny_index: Path, out: Path, monkeypatch) -> None:
    _tried(monkeypatch, (0.9, 0.4, 0.2), (2.0, 0.8, 0.3))
    for given in ((TOPICS, QRELS), (None, None)):
        with pytest.raises(TdvError, match="cannot hold"):
            tune_index(tiny_index, *given, out, search_as="9,0.1")
    assert not out.exists()


def test_how_far_norms_are_off_is_what_the_index_says(
    tiny_index: Path, out: Path, monkeypatch
) -> None:
    """Predicted from lengths, and counted when it is written."""
    monkeypatch.setattr(searching_tune, "_MOST_OFF", 1.0)
    _tried(monkeypatch, (0.5, 0.2, 0.5))
    norms = tune_index(tiny_index, TOPICS, QRELS, out)["norms"]
    lengths = np.array([len(text.split()) for text in TINY_TEXTS])
    predicted = Baking((0.5, 0.2), (0.9, 0.4)).mean_off(lengths)
    assert norms["beyond"] == len(lengths)
    assert predicted == pytest.approx(norms["mean_off"], rel=1e-6)
