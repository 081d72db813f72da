"""Lengths of steps, and features by their size."""

from __future__ import annotations

import math

import numpy as np
import pytest

from smtplugins.plugins.umt.learning.updates import Scale, squares_of, update_of


def test_lengths_of_steps() -> None:
    def length(name: str, margin: float, norm: float, gain: float) -> float:
        return update_of(name, rate=0.5, c=2.0, scale=10.0)(margin, norm, gain)

    assert length("perceptron", -3.0, 4.0, 0.1) == 0.5
    # PA: the margin is 1 afterwards. PA-I: ten times the gain, if the step is no longer than c.
    assert length("pa", -3.0, 4.0, 0.1) * 4 - 3 == 1
    assert length("pa", 1.5, 4.0, 0.1) == 0
    assert length("mira", -3.0, 4.0, 0.1) * 4 - 3 == 1
    assert length("mira", -30.0, 4.0, 0.1) == 2.0
    assert length("mira", 1.5, 4.0, 0.1) == 0
    for margin in (-7.0, -6.0, -0.1, 0.0, 5.0):
        step = length("aggressive", margin, 4.0, 0.1)
        assert step >= 0.5 and step % 0.5 == 0 and margin + 4 * step > 0
        assert step == 0.5 or margin + 4 * (step - 0.5) <= 0


def test_logistic_steps_follow_the_expected_reward() -> None:
    width, gain, little = 2.0, 3.0, 1e-6

    def expected(margin: float) -> float:
        return gain / (1 + math.exp(-margin / width))

    update = update_of("logistic", rate=0.5, c=1.0, scale=1.0, width=width)
    for margin in (-9.0, -1.0, 0.0, 0.5, 4.0):
        slope = (expected(margin + little) - expected(margin - little)) / (2 * little)
        assert update(margin, 1.0, gain) == pytest.approx(0.5 * 4 * width * slope, rel=1e-5)
    assert update(0.0, 1.0, gain) == 0.5 * gain
    assert update(1e6, 1.0, gain) == update(-1e6, 1.0, gain) == 0.0


class TestScale:
    def test_mean_squares_of_each_feature(self) -> None:
        scale = Scale.blank(2)
        none = np.zeros(2)
        assert scale.along(np.array([0, 1]), np.array([2.0, 8.0]), none, 2).tolist() == [0.5, 0.125]
        # Feature 3 is new; feature 0 has the mean square (4 + 16) / 2, whatever came of the others.
        assert scale.along(np.array([0, 3]), np.array([4.0, -0.5]), none, 4).tolist() == [0.4, -2.0]

    def test_what_cancels_out_but_for_rounding_stays_small(self) -> None:
        ids, one, other = np.array([7]), np.array([30.0]), np.array([30.0 - 1e-14])
        sides = squares_of(ids, (ids, one)) + squares_of(ids, (ids, other))
        assert abs(Scale.blank(8).along(ids, one - other, sides, 8)[0]) < 1e-12

    def test_squares_of_a_row(self) -> None:
        row = np.array([1, 4, 6]), np.array([3.0, -2.0, 5.0])
        assert squares_of(np.array([0, 1, 5, 6, 9]), row).tolist() == [0.0, 9.0, 0.0, 25.0, 0.0]
        assert squares_of(np.array([2]), (np.zeros(0, dtype=np.int64), np.zeros(0))).tolist() == [0.0]
