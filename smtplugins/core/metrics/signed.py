"""Tests on the differences of paired values: the sign test, and signed ranks (Wilcoxon 1945)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXACT = 25
"""Up to so many differences Wilcoxon's test is exact."""


def differences(base: NDArray[Any], system: NDArray[Any]) -> NDArray[Any]:
    """What the system has more, as whole multiples of the least difference that is not taken for an error of rounding.

    Scores that are the same on paper can differ in their last digit, which is no difference to count or to rank.
    """
    import numpy as np

    largest = max(float(np.abs(base).max(initial=0.0)), float(np.abs(system).max(initial=0.0)))
    return np.rint((system - base) / (largest * 1e-11)) if largest else np.zeros(len(base))


def sign_p(differences: NDArray[Any]) -> float:
    """One-tailed: how likely at least as many positive differences are by the toss of a coin. Zeros are dropped."""
    above, below = int((differences > 0).sum()), int((differences < 0).sum())
    if above == 0:
        return 1.0
    from scipy.special import bdtrc

    return float(bdtrc(above - 1, above + below, 0.5))


def wilcoxon_p(differences: NDArray[Any]) -> float:
    """Two-tailed, zeros dropped, equal sizes at the mean of their ranks.

    Up to 25 differences the p-value is exact, whether sizes are equal or not; above that it comes from the normal
    distribution, with the corrections for equal sizes and for continuity.
    """
    import numpy as np

    kept = differences[differences != 0]
    if len(kept) == 0:
        return 1.0
    _, places, sizes = np.unique(np.abs(kept), return_inverse=True, return_counts=True)
    # Twice the mean rank of each group of equals: a whole number.
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
    """The share of all signs whose sum of positive ranks is as far out, on either side."""
    ways: list[int] = [1]
    for rank in ranks:
        longer = ways + [0] * rank
        for total, number in enumerate(ways):
            longer[total + rank] += number
        ways = longer
    tail = min(sum(ways[: positive + 1]), sum(ways[positive:]))
    return min(1.0, float(2 * tail / 2 ** len(ranks)))
