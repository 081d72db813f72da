"""Parts of learners, against enumeration, differences of values, and scipy on dense matrices."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from smtplugins.core.learn.objectives import (
    FeatureRows,
    ListRisk,
    difference,
    mean_of_gains,
    pair_loss,
    score_of_sums,
    simplex_step,
)

SEEDS = st.integers(0, 10**9)


def random_rows(rng: Any, dense: bool, rows: int = 7, width: int = 4) -> tuple[FeatureRows, Any]:
    table = np.round(rng.normal(size=(rows, width)), 2)
    if not dense:
        table[rng.random(table.shape) < 0.5] = 0
    order = rng.permutation(width)
    ids, values, offsets = [], [], [0]
    for row in table:
        kept = [i for i in order if dense or row[i]]
        ids += kept
        values += [row[i] for i in kept]
        offsets.append(len(ids))
    return FeatureRows(np.array(offsets), np.array(ids, dtype=np.int32), np.array(values, dtype=float), width), table


def differences(objective: Any, at: Any) -> Any:
    steps = 1e-6 * np.eye(len(at))
    return np.array([(objective(at + step)[0] - objective(at - step)[0]) / 2e-6 for step in steps])


@given(SEEDS, st.booleans())
@settings(max_examples=60)
def test_rows_are_those_of_a_table(seed: int, dense: bool) -> None:
    rng = np.random.default_rng(seed)
    rows, table = random_rows(rng, dense)
    weights, mass = rng.normal(size=4), rng.normal(size=7)
    assert (rows.table is not None) >= dense
    np.testing.assert_allclose(rows.scores(weights), table @ weights, atol=1e-12)
    np.testing.assert_allclose(rows.part_scores(2, 5, weights), table[2:5] @ weights, atol=1e-12)
    np.testing.assert_allclose(rows.sums(mass), mass @ table, atol=1e-12)
    ids, values = difference(rows.row(1), rows.row(4))
    assert list(ids) == sorted(ids) and np.all(values != 0)
    between = np.zeros(4)
    between[ids] = values
    np.testing.assert_allclose(between, table[1] - table[4], atol=1e-12)
    taken = rows.take(np.array([6, 0, 0]))
    np.testing.assert_allclose(taken.scores(weights), table[[6, 0, 0]] @ weights, atol=1e-12)


@given(SEEDS, st.booleans())
@settings(max_examples=40)
def test_gradient_of_pair_loss(seed: int, dense: bool) -> None:
    rng = np.random.default_rng(seed)
    rows, table = random_rows(rng, dense)
    better, worse = rng.integers(0, 7, 5), rng.integers(0, 7, 5)
    loss, at = pair_loss(rows, better, worse), rng.normal(size=4)
    value, slopes = loss(at)
    assert value == pytest.approx(np.log1p(np.exp(-(table[better] - table[worse]) @ at)).sum())
    np.testing.assert_allclose(slopes, differences(loss, at), atol=1e-6)
    far, _ = loss(1e4 * at)
    assert np.isfinite(far)


@given(SEEDS, st.booleans(), st.sampled_from([0.0, 0.3]))
@settings(max_examples=60)
def test_risk_of_lists_is_that_of_all_ways_to_choose(seed: int, corpus: bool, temperature: float) -> None:
    rng = np.random.default_rng(seed)
    rows, table = random_rows(rng, bool(seed % 2))
    lists, scale = np.array([0, 3, 4, 7]), 1.7
    stats, at = rng.uniform(1, 5, size=(7, 3)), rng.normal(size=4)

    def score(sums: Any) -> Any:
        return 100 * sums[..., 0] / (sums[..., 1] + sums[..., 2])

    gains = score(stats) / 100
    worth = score_of_sums(stats, score, 100.0) if corpus else mean_of_gains(gains, 3)
    objective = ListRisk(rows, lists, worth).objective(scale, temperature)
    value, slopes = objective(at)

    masses = np.exp(scale * table @ at)
    wanted, sums, entropy = 0.0, np.zeros(3), 0.0
    ways = list(itertools.product(range(3), range(3, 4), range(4, 7)))
    shares = np.array([masses[list(way)].prod() for way in ways])
    shares /= shares.sum()
    for way, share in zip(ways, shares, strict=True):
        sums += share * stats[list(way)].sum(axis=0)
        wanted += share * gains[list(way)].mean()
        entropy -= share * np.log(share)
    wanted = score(sums) / 100 if corpus else wanted
    # The entropy of independent choices is the sum of theirs.
    assert value == pytest.approx(-wanted - temperature * entropy / 3, abs=1e-10)
    np.testing.assert_allclose(slopes, differences(objective, at), atol=2e-6)


@given(SEEDS)
@settings(max_examples=40)
def test_step_with_several_constraints_is_the_best_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, losses, total = rng.normal(size=(3, 2)), rng.normal(size=3), float(rng.uniform(0.1, 2))
    gram = rows @ rows.T
    point = simplex_step(gram, losses, total)
    assert np.all(point >= 0) and point.sum() <= total + 1e-12

    def value(duals: Any) -> float:
        return float(losses @ duals - duals @ gram @ duals / 2)

    other = minimize(
        lambda duals: -value(duals), np.full(3, total / 4), method="SLSQP", bounds=[(0, None)] * 3,
        constraints=[{"type": "ineq", "fun": lambda duals: total - duals.sum()}], options={"ftol": 1e-12},
    )  # fmt: skip
    assert value(point) >= -other.fun - 1e-7
