"""Sign test and signed ranks against scipy and enumeration."""

from __future__ import annotations

import itertools
from math import comb
from typing import Any

import numpy as np
import pytest

from smtplugins.core.metrics import signed


@pytest.fixture(scope="module")
def stats() -> Any:
    """``scipy.stats``, imported by the process that runs these tests alone: it takes 0.5 s."""
    import scipy.stats

    return scipy.stats


def integers(seed: int, size: int, spread: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(-spread, spread + 2, size=size).astype(float)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [1, 2, 7, 30, 3000])
def test_sign_test_is_scipys(seed: int, size: int, stats: Any) -> None:
    values = integers(seed, size, 4)
    above, below = int((values > 0).sum()), int((values < 0).sum())
    expected = stats.binomtest(above, above + below, alternative="greater").pvalue if above + below else 1.0
    assert signed.sign_p(values) == pytest.approx(expected, rel=1e-10)
    if size <= 30:
        tail = sum(comb(above + below, k) for k in range(above, above + below + 1))
        assert signed.sign_p(values) == pytest.approx(tail / 2 ** (above + below))


def test_sign_test_asks_for_better() -> None:
    better = np.array([1.0, 2, 3, 1, 0, 1])
    assert signed.sign_p(better) == 1 / 32
    assert signed.sign_p(-better) == 1
    assert signed.sign_p(np.zeros(9)) == 1
    assert signed.sign_p(np.ones(5000)) < 1e-300


@pytest.mark.parametrize("size", [1, 2, 5, 10, 24, 25])
def test_few_without_ties_as_scipys_exact(size: int, stats: Any) -> None:
    for seed in range(5):
        values = np.random.default_rng(seed).normal(0.2, 1, size=size)
        assert signed.wilcoxon_p(values) == pytest.approx(stats.wilcoxon(values, method="exact").pvalue, rel=1e-12)


@pytest.mark.parametrize("size", [1, 3, 8, 11])
@pytest.mark.parametrize("spread", [1, 3])
def test_few_with_ties_as_enumeration(size: int, spread: int, stats: Any) -> None:
    for seed in range(4):
        values = integers(seed, size, spread)
        kept = values[values != 0]
        ranks = stats.rankdata(np.abs(kept))
        real = ranks[kept > 0].sum()
        sums = [np.dot(signs, ranks) for signs in itertools.product((0, 1), repeat=len(kept))]
        tail = min(sum(value <= real for value in sums), sum(value >= real for value in sums))
        assert signed.wilcoxon_p(values) == pytest.approx(min(1, 2 * tail / len(sums)) if len(kept) else 1)


@pytest.mark.parametrize("size", [60, 200, 5000])
@pytest.mark.parametrize("spread", [2, 30, 10**9])
def test_many_as_scipys_approximation_with_its_corrections(size: int, spread: int, stats: Any) -> None:
    for seed in range(3):
        values = integers(seed, size, spread)
        assert (values != 0).sum() > signed.EXACT
        expected = stats.wilcoxon(values, zero_method="wilcox", correction=True, method="asymptotic").pvalue
        assert signed.wilcoxon_p(values) == pytest.approx(expected, rel=1e-9)


def test_exact_and_approximate_meet(stats: Any) -> None:
    values = integers(3, 26, 10**6)
    assert signed.wilcoxon_p(values) == pytest.approx(stats.wilcoxon(values, method="exact").pvalue, abs=0.01)
    assert signed.wilcoxon_p(np.zeros(40)) == 1
    balanced = np.array([1.0, -1.0] * 20)
    assert signed.wilcoxon_p(balanced) == 1


def test_errors_of_rounding_are_no_differences() -> None:
    base = np.array([0.1 + 0.2, 30.0, 12.5, 0.0])
    system = np.array([0.3, 30.0 + 4e-15, 12.75, 0.0])
    assert (signed.differences(base, system) != 0).tolist() == [False, False, True, False]
    small = signed.differences(np.array([1e-9, 3e-9]), np.array([2e-9, 2e-9]))
    assert np.sign(small).tolist() == [1, -1]
    assert abs(small[0]) == abs(small[1])
    assert (signed.differences(np.zeros(3), np.zeros(3)) == 0).all()
