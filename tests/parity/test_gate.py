"""The budgeted gate: keeps what it is told to keep, and its gradient knows the threshold moves."""

from __future__ import annotations

import jax
import numpy as np
import pytest
import ranking_oracle as oracle

from tdv_lucene.core.gate import budgeted_gate

RNG = np.random.default_rng(0)
Z = RNG.normal(size=40)
DOC_FREQ = RNG.zipf(1.5, 40).clip(max=500).astype(float)


@pytest.fixture
def float64():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("kept", [0.3, 0.55, 0.9])
@pytest.mark.parametrize("off_by", [-0.5, 0.0, 0.5])
def test_the_kept_share_is_the_budget(kept, off_by, float64):
    order = np.argsort(-Z)
    hard = Z[order][np.searchsorted(np.cumsum(DOC_FREQ[order]), kept * DOC_FREQ.sum())]
    gate = np.asarray(budgeted_gate(Z, DOC_FREQ, kept, hard + off_by, 0.5))
    assert (DOC_FREQ * gate).sum() / DOC_FREQ.sum() == pytest.approx(kept, abs=1e-4)
    assert (np.diff(gate[np.argsort(Z)]) >= 0).all()


def test_moving_all_terms_together_changes_nothing(float64):
    before = budgeted_gate(Z, DOC_FREQ, 0.5, 0.0, 0.5)
    np.testing.assert_allclose(budgeted_gate(Z + 0.3, DOC_FREQ, 0.5, 0.3, 0.5), before, atol=1e-6)
    total = jax.grad(lambda shift: budgeted_gate(Z + shift, DOC_FREQ, 0.5, 0.0, 0.5)[3])(0.0)
    assert abs(float(total)) < 1e-6


def test_gradient_matches_finite_differences(float64):
    weights = RNG.normal(size=40)

    def total(z):
        return (budgeted_gate(z, DOC_FREQ, 0.5, 0.0, 0.5) * weights).sum()

    expected = oracle.finite_differences(total, Z)
    np.testing.assert_allclose(jax.grad(total)(Z), expected, rtol=1e-3, atol=1e-6)
