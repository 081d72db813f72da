"""Holm's correction against the closed test of which it is a shortcut, and a worked example."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtplugins.core.metrics.multiplicity import holm


def closed(p_values: list[float]) -> list[float]:
    """By definition: a hypothesis is rejected if Bonferroni's test rejects every intersection that has it."""
    sets = [
        chosen for size in range(1, len(p_values) + 1) for chosen in itertools.combinations(range(len(p_values)), size)
    ]
    return [
        max(min(1.0, len(chosen) * min(p_values[j] for j in chosen)) for chosen in sets if i in chosen)
        for i in range(len(p_values))
    ]


def rejected(p_values: list[float], alpha: float) -> set[int]:
    """Holm's procedure as he words it: from the smallest p-value up, stop at the first that is not rejected."""
    order, out = sorted(range(len(p_values)), key=p_values.__getitem__), set()
    for rank, i in enumerate(order):
        if (len(p_values) - rank) * p_values[i] > alpha:
            break
        out.add(i)
    return out


def test_worked_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9, 0.4]) == [1.0, 1.0, 1.0]
    assert holm([0.02]) == [0.02]
    assert holm([]) == []


@settings(max_examples=200)
@given(st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.02, 0.05, 0.3, 1.0]) | st.floats(0, 1), min_size=1, max_size=6))
def test_holm_is_the_closed_test_of_bonferroni(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert adjusted == closed(p_values)
    assert all(p <= more <= 1 for p, more in zip(p_values, adjusted, strict=True))
    for alpha in {0.01, 0.05, *(p for p in adjusted if p < 1)}:
        assert {i for i, p in enumerate(adjusted) if p <= alpha} == rejected(p_values, alpha)
