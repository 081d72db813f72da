"""The minimiser, against scipy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, rosen, rosen_der

from smtplugins.core.learn.minimising import Space, minimise

SEEDS = st.integers(0, 10**9)


def anywhere(width: int) -> Space:
    return Space(np.ones(width, dtype=bool), np.full(width, -np.inf), np.full(width, np.inf))


@given(SEEDS)
@settings(max_examples=25)
def test_minimise_with_penalties_and_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(6, 4))
    matrix, aim = half.T @ half + 0.1 * np.eye(4), rng.normal(size=4)

    def objective(weights: Any) -> tuple[float, Any]:
        return float((weights - aim) @ matrix @ (weights - aim) / 2), matrix @ (weights - aim)

    free = np.array([True, True, False, True])
    space = Space(free, np.array([-np.inf, 0.2, -np.inf, -np.inf]), np.array([np.inf, np.inf, np.inf, -0.1]))
    start, l1, l2 = np.array([0.5, 0.5, 0.7, -0.5]), 0.3, 0.2
    minimum = minimise(objective, start, space, l1=l1, l2=l2, iterations=500, tolerance=1e-14)
    assert minimum.weights[2] == 0.7 and minimum.weights[1] >= 0.2 and minimum.weights[3] <= -0.1

    def whole(parts: Any) -> float:
        weights = np.array([parts[0], parts[1], 0.7, parts[2]])
        return objective(weights)[0] + l1 * np.abs(parts).sum() + l2 / 2 * parts @ parts

    other = minimize(
        whole, start[free], method="Nelder-Mead", bounds=[(None, None), (0.2, None), (None, -0.1)],
        options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 20000, "maxfev": 20000},
    )  # fmt: skip
    assert minimum.value == pytest.approx(whole(minimum.weights[free]))
    assert minimum.value <= other.fun + 1e-8


def test_a_penalty_on_sums_leaves_weights_out() -> None:
    aim = np.array([1.0, 0.05, -2.0])

    def objective(weights: Any) -> tuple[float, Any]:
        return float((weights - aim) @ (weights - aim) / 2), weights - aim

    minimum = minimise(objective, np.zeros(3), anywhere(3), l1=0.1)
    np.testing.assert_allclose(minimum.weights, [0.9, 0.0, -1.9], atol=1e-6)


def test_a_valley_that_bends() -> None:
    start = np.array([-1.2, 1.0, 0.5, -0.7])
    minimum = minimise(lambda at: (rosen(at), rosen_der(at)), start, anywhere(4), iterations=500, tolerance=1e-15)
    np.testing.assert_allclose(minimum.weights, 1.0, atol=1e-5)
    assert minimum.iterations < 100
    kept = Space(np.ones(4, dtype=bool), np.full(4, -2.0), np.array([0.5, 2.0, 0.3, 2.0]))
    bounded = minimise(lambda at: (rosen(at), rosen_der(at)), start, kept, iterations=500, tolerance=1e-15)
    other = minimize(
        rosen, start, jac=rosen_der, method="L-BFGS-B", bounds=list(zip(kept.low, kept.high, strict=True)),
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 1000},
    )  # fmt: skip
    assert bounded.value <= other.fun + 1e-8


def test_an_edge_is_passed() -> None:
    def objective(at: Any) -> tuple[float, Any]:
        value = abs(at[0] - at[1] ** 2) + 0.1 * (at[1] - 3) ** 2
        side = np.sign(at[0] - at[1] ** 2)
        return float(value), np.array([side, -2 * side * at[1] + 0.2 * (at[1] - 3)])

    minimum = minimise(objective, np.array([4.0, 0.5]), anywhere(2), iterations=300, tolerance=0.0)
    assert minimum.value < 1e-3


def test_many_weights_with_a_penalty_on_sums() -> None:
    rng = np.random.default_rng(3)
    aim = rng.normal(size=5000) * (rng.random(5000) < 0.1)

    def objective(weights: Any) -> tuple[float, Any]:
        return float(((weights - aim) ** 2 * (1 + np.arange(5000) % 7)).sum()) / 2, (weights - aim) * (
            1 + np.arange(5000) % 7
        )

    minimum = minimise(objective, np.zeros(5000), anywhere(5000), l1=0.2, iterations=300, tolerance=1e-13)
    scale = 1 + np.arange(5000) % 7
    np.testing.assert_allclose(minimum.weights, np.sign(aim) * np.maximum(np.abs(aim) - 0.2 / scale, 0), atol=1e-4)
    assert np.count_nonzero(minimum.weights) <= np.count_nonzero(aim)
