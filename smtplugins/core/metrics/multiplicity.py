"""Correct p-values for the number of tests."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values of the step-down procedure (Holm 1979), in the order of ``p_values``.

    Rejecting those that are at most alpha keeps the probability of any false rejection at alpha or below, however the
    tests depend on each other. The k-th smallest of m is multiplied by m - k + 1; none falls below a smaller one's.
    """
    adjusted = [1.0] * len(p_values)
    least = 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = least
    return adjusted
