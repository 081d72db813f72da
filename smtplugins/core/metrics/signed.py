"""Tests on the differences of paired values: the sign test and the signed-rank test (Wilcoxon 1945)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

EXACT = 25
"""The most differences for which Wilcoxon's test is exact."""


def differences(base: NDArray[Any], system: NDArray[Any]) -> NDArray[Any]:
    """System minus base, in whole multiples of the smallest difference that is not a rounding error.

    Mathematically equal scores can differ in their last digit; such differences must not be counted or ranked.
    """
    largest = max(float(np.abs(base).max(initial=0.0)), float(np.abs(system).max(initial=0.0)))
    return np.rint((system - base) / (largest * 1e-11)) if largest else np.zeros(len(base))


def sign_p(differences: NDArray[Any]) -> float:
    """One-tailed p-value: the probability of at least as many positive signs by coin tosses. Zeros are dropped."""
    above, below = int((differences > 0).sum()), int((differences < 0).sum())
    if above == 0:
        return 1.0
    from scipy.special import bdtrc

    return float(bdtrc(above - 1, above + below, 0.5))


def wilcoxon_p(differences: NDArray[Any]) -> float:
    """Two-tailed p-value; zeros are dropped, ties get the mean of their ranks.

    Up to 25 differences the p-value is exact, also with ties; above, it comes from the normal distribution, with the
    corrections for ties and continuity.
    """
    kept = differences[differences != 0]
    if len(kept) == 0:
        return 1.0
    _, places, sizes = np.unique(np.abs(kept), return_inverse=True, return_counts=True)
    # Twice the mean rank of each group of ties: a whole number.
    twice = (2 * np.cumsum(sizes) - sizes + 1)[places]
    positive = int(twice[kept > 0].sum())
    if len(kept) <= EXACT:
        return _exact(twice.tolist(), positive)
    count = len(kept)
    mean = count * (count + 1) / 4
    variance = count * (count + 1) * (2 * count + 1) / 24 - float((sizes.astype(float) ** 3 - sizes).sum()) / 48
    distance = max(abs(positive / 2 - mean) - 0.5, 0.0)
    return math.erfc(distance / math.sqrt(2 * variance))


def _exact(ranks: list[int], positive: int) -> float:
    """The share of sign assignments whose sum of positive ranks is at least as extreme, on either side."""
    ways: list[int] = [1]
    for rank in ranks:
        longer = ways + [0] * rank
        for total, number in enumerate(ways):
            longer[total + rank] += number
        ways = longer
    tail = min(sum(ways[: positive + 1]), sum(ways[positive:]))
    return min(1.0, float(2 * tail / 2 ** len(ranks)))
