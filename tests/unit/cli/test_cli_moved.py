"""What ``learn`` says of the prior it started from."""

from __future__ import annotations

from types import SimpleNamespace

from tdv_lucene.cli.learn import _moved

PRIOR = {
    "name": "made",
    "parameters": {"k1": 1.5, "b": 0.4, "mu": 1000.0},
    "lead": None,
    "values": 0.0,
    "gain": {"measure": "nDCG@5", "mean": 0.0, "interval": None},
}


def _values(**parameters: float) -> SimpleNamespace:
    return SimpleNamespace(
        manifest={"model": "bm25", "lead": None}, parameters={**PRIOR["parameters"], **parameters}
    )


def test_a_prior_that_stays_is_told() -> None:
    assert "Learning kept the prior made" in _moved(PRIOR, _values())
    assert "Learning kept the prior made" in _moved({**PRIOR, "values": 1e-8}, _values())


def test_what_moved_and_its_worth_are_told() -> None:
    gain = {"measure": "nDCG@5", "mean": 0.0123, "interval": (-0.001, 0.0256)}
    told = _moved({**PRIOR, "values": 0.25, "gain": gain}, _values(k1=3.0))
    assert "k1 1.5 -> 3, TDVs by 0.25" in told
    assert "+0.0123 of nDCG@5 (95 % interval -0.0010 to +0.0256)" in told
    one = {**gain, "interval": None}
    assert "interval" not in _moved({**PRIOR, "values": 0.25, "gain": one}, _values())
