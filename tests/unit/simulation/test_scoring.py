"""Losses and the discrimination values: extremes, masks, gradients free of NaN."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tdv_lucene.simulation.scoring import (
    Features,
    Linear,
    calibrated_temperature,
    flat_start,
    listwise,
    term_values,
)


@pytest.fixture(autouse=True)
def _nothing_is_promoted_in_silence() -> Iterator[None]:
    """No dtype and no rank. Only here: optax's Adam multiplies its step count by a float.

    ``jax_debug_nans`` stays off, for optax masks padding by NaNs that it takes out again.
    """
    with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
        yield


FEATURES = Features(
    np.array([[1.0, 0.0], [0.0, 1.0], [-2.0, 0.0]], np.float32),
    np.array([2], np.int32),
    np.array([[0.5, 0.5, 0.0]], np.float32),
)


def test_listwise_is_the_cross_entropy_of_the_shares():
    scores, gains = jnp.array([[2.0, 1.0, 0.0]]), jnp.array([[2.0, 1.0, 0.0]])
    where = jnp.ones((1, 3), bool)
    log_share = np.log(np.exp([1, 0.5, 0]) / np.exp([1, 0.5, 0]).sum())
    expected = -(2 / 3 * log_share[0] + 1 / 3 * log_share[1])
    assert float(listwise(scores, gains, where, 2.0)) == pytest.approx(expected, rel=1e-5)


def test_padding_changes_nothing_even_when_infinite():
    where = jnp.array([[True, True, False]])
    short = listwise(jnp.array([[1.0, 2.0]]), jnp.array([[1.0, 0.0]]), where[:, :2], 1.0)
    padded = listwise(jnp.array([[1.0, 2.0, 1e9]]), jnp.array([[1.0, 0.0, 5.0]]), where, 1.0)
    assert float(short) == pytest.approx(float(padded))


@pytest.mark.parametrize("scores", [[0.0, 0.0], [1e4, -1e4], [-1e4, 1e4]])
@pytest.mark.parametrize("where", [[True, True], [True, False], [False, False]])
@pytest.mark.parametrize("gains", [[1.0, 0.0], [0.0, 0.0]])
def test_gradients_are_finite(scores, where, gains):
    def loss(x):
        return listwise(x[None], jnp.array([gains]), jnp.array([where]), 0.5)

    gradient = jax.grad(loss)(jnp.array(scores))
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("gap", [0.1, 10.0])
def test_temperature_follows_the_scale_of_the_scores(gap):
    rng = np.random.default_rng(0)
    gains = (rng.random((50, 20)) < 0.1).astype(np.float32)
    scores = jnp.asarray(gap * (gains + rng.normal(size=gains.shape)), jnp.float32)
    where = np.ones(gains.shape, bool)
    found = calibrated_temperature(scores, gains, where)
    at = [float(listwise(scores, gains, where, t)) for t in (found / 2, found, found * 2)]
    assert at[1] < at[0] and at[1] < at[2]
    assert 0.3 * gap < found < 3 * gap


def test_values_start_at_one_and_are_exactly_zero_where_off():
    start = flat_start(FEATURES)
    np.testing.assert_array_equal(term_values(start, FEATURES), [1, 1, 1])
    learned = Linear(jnp.array([1.0, 0.5]), jnp.array([2.0, 2.0, 9.0]), jnp.array(1.0))
    # 1 + 1, 1 + 0.5, 1 - 2 + 1 + 1
    np.testing.assert_allclose(term_values(learned, FEATURES), [2, 1.5, 1.0])
    off = learned._replace(of_vector=jnp.array([0.0, -2.0, 0.0]))
    assert term_values(off, FEATURES)[2] == 0.0
