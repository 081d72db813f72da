"""Resampled sums and p-values: drawn as numpy draws them in one go, as enumeration expects them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from smtplugins.core.metrics import resampling


def table(segments: int, columns: int = 3, seed: int = 1) -> NDArray[np.float64]:
    return np.random.default_rng(seed).integers(0, 20, size=(segments, columns)).astype(float)


@pytest.mark.parametrize("block", [1, 777, 1 << 21])
@pytest.mark.parametrize("segments", [1, 3, 50, 77])
def test_bootstrap_sums_are_those_of_indices(segments: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "_BLOCK", block)
    stats = table(segments)
    drawn = np.random.default_rng(5).choice(segments, size=(40, segments), replace=True)
    assert (resampling.bootstrap_sums(stats, 40, 5) == stats[drawn].sum(axis=1)).all()
    assert segments == 1 or (resampling.bootstrap_sums(stats, 40, 6) != stats[drawn].sum(axis=1)).any()


@pytest.mark.parametrize("block", [1, 777, 1 << 21])
@pytest.mark.parametrize("segments", [1, 3, 50, 77])
def test_swapped_sums_are_those_of_coins(segments: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "_BLOCK", block)
    stats = table(segments)
    coins = np.random.default_rng(5).integers(2, size=(100, segments), dtype=bool)
    assert (resampling.swapped_sums(stats, 100, 5) == coins @ stats).all()


@pytest.mark.parametrize("taken", [1, 2, 3])
def test_every_choice_of_rows_is_as_likely(taken: int) -> None:
    # One column for each row, so that sums say which rows were taken.
    pool = np.stack([np.eye(4)])
    sums = resampling.regrouped_sums(pool, taken, 6000, 3)
    assert set(sums.sum(axis=1)) == {taken}
    choices, counts = np.unique(sums, axis=0, return_counts=True)
    assert len(choices) == len(list(itertools.combinations(range(4), taken)))
    assert counts == pytest.approx(6000 / len(choices), rel=0.1)


def test_segments_are_regrouped_apart() -> None:
    pool = table(5 * 4).reshape(5, 4, 3)
    sums = resampling.regrouped_sums(pool, 2, 4000, 3)
    assert sums.mean(axis=0) == pytest.approx(pool.sum(axis=(0, 1)) / 2, rel=0.01)
    # Half of what is there, drawn without replacement: variances of segments add up.
    expected = sum(4 * (rows.var(axis=0, ddof=1) / 4) for rows in pool)
    assert sums.var(axis=0) == pytest.approx(expected, rel=0.1)


def test_interval_cuts_both_tails() -> None:
    scores = np.arange(1001.0)
    assert resampling.interval(scores) == pytest.approx((25.0, 975.0))
    assert resampling.interval(scores[::-1], 0.5) == pytest.approx((250.0, 750.0))


def test_systems_that_never_differ_are_no_discovery() -> None:
    scores = np.array([31.0, 29.5, 30.25])
    assert resampling.bootstrap_p(scores, scores.copy(), 0.0) == 1.0


def test_bootstrap_p_is_small_for_a_clear_difference_and_never_zero() -> None:
    rng = np.random.default_rng(1)
    base = rng.normal(size=999)
    assert resampling.bootstrap_p(base, base + 10 + 0.1 * rng.normal(size=999), 10.0) == 1 / 1000
    assert resampling.bootstrap_p(base, base + rng.normal(size=999), 0.0) > 0.3


def test_randomisation_counts_what_is_greater_or_the_same_split() -> None:
    first, second = np.array([3.0, 2.0, 1.0, 5.0]), np.array([1.0, 2.0, 3.0, 1.0])
    nothing = np.zeros(4, dtype=bool)
    assert resampling.randomisation_p(first, second, -2.0, nothing) == 2 / 5
    assert resampling.randomisation_p(first, second, 2.0, np.array([True, False, True, False])) == 4 / 5
    assert resampling.randomisation_p(first, first, 0.0, ~nothing) == 1
