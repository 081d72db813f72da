"""l2-regularised log-linear models against scipy, the online SVM against its dual, pruning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from smtplugins.plugins.bitree.boosting.examples import Examples, Problem
from smtplugins.plugins.bitree.boosting.linear import Linear, fit_loglinear, fit_online_svm


def made(seed: int, rows: int = 60, atoms: int = 12, classes: int = 3) -> tuple[Problem, Any]:
    """A problem, and its rows as a matrix with the atom that is always true."""
    draw = np.random.default_rng(seed)
    matrix = draw.random((rows, atoms)) < 0.3
    matrix[:, atoms // 2] = False
    names = tuple(f"f{i}" for i in range(atoms))
    lines = [[names[i] for i in np.flatnonzero(row)] for row in matrix]
    problem = Problem("word", Examples.of(lines, names), draw.integers(0, classes, rows), tuple("abcdefgh"[:classes]))
    return problem, np.hstack([matrix, np.ones((rows, 1))]).astype(float)


def dense(model: Linear, row: int, atoms: int) -> Any:
    found = np.zeros(atoms + 1)
    found[model.atoms] = model.weights[row, :-1]
    found[-1] = model.weights[row, -1]
    return found


@pytest.mark.parametrize("penalty", [0.03, 0.5, 4.0])
def test_the_optimum_is_that_of_scipy(penalty: float) -> None:
    problem, matrix = made(1)
    model = fit_loglinear(problem, penalty, tolerance=1e-9)
    for row in range(3):
        sign = np.where(problem.classes == row, 1.0, -1.0)

        def risk(weights: Any, sign: Any = sign) -> tuple[float, Any]:
            margin = sign * (matrix @ weights)
            slope = matrix.T @ (-sign / (1 + np.exp(margin)))
            return np.logaddexp(0, -margin).sum() + penalty * weights @ weights, slope + 2 * penalty * weights

        best = minimize(risk, np.zeros(13), jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9})
        own = dense(model, row, 12)
        assert risk(own)[0] <= best.fun + 1e-9
        assert own == pytest.approx(best.x, abs=1e-5)
        assert np.abs(risk(own)[1]).max() < 1e-6


def test_a_start_near_by_leads_to_the_same_optimum() -> None:
    problem, _ = made(2)
    whole = fit_loglinear(problem, 0.3, tolerance=1e-10)
    near = fit_loglinear(problem, 0.3, start=fit_loglinear(problem, 1.0), tolerance=1e-10)
    assert near.weights == pytest.approx(whole.weights, abs=1e-7)


@pytest.mark.parametrize("cost", [0.05, 0.7, 5.0])
def test_passes_of_the_svm_lead_to_the_optimum_of_its_dual(cost: float) -> None:
    problem, matrix = made(3)
    model, count = fit_online_svm(problem, cost, passes=3000, tolerance=1e-10, finish=1000)
    vectors = 0
    for row in range(3):
        sign = np.where(problem.classes == row, 1.0, -1.0)
        product = (matrix * sign[:, None]) @ (matrix * sign[:, None]).T
        dual = minimize(
            lambda shares, product=product: (shares @ product @ shares / 2 - shares.sum(), product @ shares - 1),
            np.zeros(60),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, cost)] * 60,
            options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 20000, "maxfun": 100000},
        )
        own = dense(model, row, 12)
        primal = own @ own / 2 + cost * np.maximum(0, 1 - sign * (matrix @ own)).sum()
        assert primal == pytest.approx(-dual.fun, rel=1e-5)
        assert own == pytest.approx(matrix.T @ (sign * dual.x), abs=1e-3)
        vectors += int((sign * (matrix @ own) < 1 - 1e-6).sum())
    assert vectors <= count <= 180


def test_one_pass_of_the_svm_learns_what_can_be_learnt() -> None:
    draw = np.random.default_rng(5)
    names = tuple(f"f{i}" for i in range(30))
    rows, classes = [], []
    for _ in range(400):
        label = int(draw.integers(2))
        rows.append([f"f{i}" for i in np.flatnonzero(draw.random(30) < np.where(np.arange(30) % 2 == label, 0.4, 0.1))])
        classes.append(label)
    examples = Examples.of(rows, names)
    problem = Problem("w", examples.take(np.arange(300)), np.array(classes[:300]), ("a", "b"))
    model, _ = fit_online_svm(problem, 0.1)
    again, _ = fit_online_svm(problem, 0.1)
    assert np.array_equal(model.weights, again.weights)
    right = model.scores(examples.take(np.arange(300, 400))).argmax(axis=1) == np.array(classes[300:])
    assert right.mean() > 0.9


def test_scores_are_sums_of_known_atoms() -> None:
    problem, matrix = made(6)
    model = fit_loglinear(problem, 0.5)
    assert 6 not in model.atoms
    wanted = np.stack([matrix @ dense(model, row, 12) for row in range(3)], axis=1)
    assert model.scores(problem.examples) == pytest.approx(wanted)
    names = problem.examples.atoms
    odd = Examples.of([[], ["f6"], ["f0", "f6"], [], ["f11", "f1"], []], names)
    bias = model.weights[:, -1]
    found = model.scores(odd)
    for row in (0, 1, 3, 5):
        assert found[row] == pytest.approx(bias)
    assert found[2] == pytest.approx([dense(model, row, 12)[[0, 12]].sum() for row in range(3)])
    assert found[4, 1] == pytest.approx(dense(model, 1, 12)[[1, 11, 12]].sum())
    assert model.scores(Examples.of([], names)).shape == (0, 3)


def test_pruning_keeps_the_largest_weights_of_each_class() -> None:
    model = Linear(np.array([3, 5, 9]), np.array([[1.0, -4.0, 2.0, 0.5], [0.1, 0.1, 0.1, 0.0]]))
    pruned = model.pruned(np.array([2, 1]))
    assert pruned.weights.tolist() == [[0, -4, 2, 0], [0.1, 0, 0, 0]]
    assert pruned.sizes().tolist() == [2, 1]
    assert model.sizes().tolist() == [4, 3]
    assert model.pruned(np.array([0, 99])).weights.tolist() == [[0] * 4, [0.1, 0.1, 0.1, 0.0]]


def test_what_a_solver_cannot_use_is_refused() -> None:
    from smtplugins.plugins.bitree import _bitree

    offsets, ids, classes = np.array([0, 1]), np.array([0], np.int32), np.array([0], np.int32)
    with pytest.raises(ValueError, match="expected atoms that have a weight"):
        _bitree.fit_loglinear(offsets, ids, classes, np.zeros((1, 1)), 1.0, 1e-3, 5)
    with pytest.raises(ValueError, match="expected a class for each row"):
        _bitree.fit_loglinear(offsets, ids, classes[:0], np.zeros((1, 2)), 1.0, 1e-3, 5)
    with pytest.raises(ValueError, match="expected offsets that increase"):
        _bitree.fit_loglinear(np.array([0, 2]), ids, classes, np.zeros((1, 2)), 1.0, 1e-3, 5)
    with pytest.raises(ValueError, match="a penalty and a tolerance above 0"):
        _bitree.fit_loglinear(offsets, ids, classes, np.zeros((1, 2)), 0.0, 1e-3, 5)
    with pytest.raises(ValueError, match="expected an order of existing rows"):
        _bitree.fit_online_svm(offsets, ids, classes, np.zeros((1, 2)), np.array([1], np.int32), 1.0, 0.1, 5, 1)
