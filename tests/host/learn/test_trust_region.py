"""Distances of weights, the line to learnt ones, and how decodings change the radius."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtplugins.host.learn.trust_region import RADIUS, Course, Scales, Way, distance

NAMES = ("a", "b", "c")
ALIKE = Scales(dict.fromkeys(NAMES, 1.0), dict.fromkeys(NAMES, 1.0))


def by_name(*values: float) -> dict[str, float]:
    return dict(zip(NAMES, values, strict=True))


def test_distance_is_of_directions_in_the_unit_that_makes_it_longest() -> None:
    units = np.array([[1.0, 1.0], [0.0, 1.0]])
    weights = np.array([1.0, 0.5])
    assert distance(weights, 7 * weights, units) == 0
    assert distance(weights, -weights, units) == pytest.approx(2)
    across = np.array([-0.5, 1.0])
    assert distance(weights, across, units) == pytest.approx(math.sqrt(2))
    # In the second unit, only the second feature counts, and its sign is the same.
    assert distance(weights, across, units[1:]) == 0
    assert distance(weights, 0 * weights, units) == distance(weights, np.array([1.0, 0.0]), units) == 2


weights = st.lists(st.floats(-5, 5).filter(lambda x: abs(x) > 0.01), min_size=3, max_size=3)


@given(weights, weights, weights, st.floats(0.05, 1.3))
def test_a_way_goes_as_far_as_the_radius(
    base: list[float], learnt: list[float], spread: list[float], radius: float
) -> None:
    scales = Scales(by_name(*map(abs, spread)), by_name(1, 2, 3))
    for scaled in (True, False):
        way = Way(by_name(*base), by_name(*learnt), scales, scaled=scaled)
        share = way.share(radius)
        assert 0 <= share <= 1
        assert way.distance(share) <= radius + 1e-6
        if share < 1:
            assert way.distance(share) == pytest.approx(radius, abs=1e-5)
        weights = np.array(list(way.weights(share).values()))
        if scaled:
            units = np.array(list(scales.spread.values()))
            assert np.linalg.norm(weights * units) == pytest.approx(float(np.linalg.norm(np.array(base) * units)))
        elif share == 1:
            assert weights == pytest.approx(np.array(learnt))


def test_weights_of_features_that_do_not_vary_stay() -> None:
    scales = Scales({"a": 1.0, "b": 1.0, "same": 0.0}, {"a": 1.0, "b": 1.0, "same": 40.0})
    way = Way({"a": 1.0, "b": 1.0, "same": 0.5, "absent": 2.0}, {"a": 1.0, "b": 0.9, "same": -3.0, "new": 4.0}, scales)
    weights = way.weights(way.share(1.0))
    assert (weights["same"], weights["absent"], weights["new"]) == (0.5, 2.0, 4.0)
    assert weights["b"] < weights["a"]


def test_without_weights_there_is_no_distance() -> None:
    way = Way({}, by_name(1, 2, 3), ALIKE)
    assert way.share(0.1) == 1
    assert way.weights(1.0) == by_name(1, 2, 3)


def course(*decoded: tuple[float, float], reach: float = RADIUS, higher: bool = True) -> Course:
    """A course that decoded at 40, then at what each pair says, with the lists' promise."""
    made = Course(reach, higher)
    made.add(40.0, by_name(1, 1, 1), 1.0)
    for promised, score in decoded:
        made.expect(promised, made.radius)
        made.add(score, by_name(score, 1, 1), 1.0)
    return made


def test_what_falls_short_narrows_the_radius_and_what_holds_widens_it_again() -> None:
    assert course((42, 41.5)).radius == RADIUS
    assert course((42, 40.2)).radius == RADIUS / 2
    assert course((42, 3)).radius == RADIUS / 2
    assert course((42, 3), (41, 39)).radius == RADIUS / 4
    assert course((42, 3), (41, 40.9)).radius == RADIUS
    errors = course((38, 60), higher=False)
    assert errors.radius == RADIUS / 2
    assert errors.best == by_name(1, 1, 1)
    unlimited = course((42, 41), reach=math.inf)
    assert not unlimited.limited
    assert course((42, 3), reach=math.inf).limited is False  # half of all is still all


def test_from_weights_that_decode_badly_there_is_no_limit() -> None:
    made = Course(RADIUS, True, lambda score: score / 100)
    for score, radius, hopeless in ((0.5, math.inf, True), (4.0, math.inf, False), (12.0, RADIUS, False)):
        made.expect(5.0, 1.4)
        made.add(score, by_name(score, 1, 1), 1.0)
        assert (made.radius, made.hopeless) == (radius, hopeless)


def test_steps_begin_at_the_best_decoding() -> None:
    made = course((42, 41), (42, 12), (42, 30))
    assert made.at == 1
    assert made.best == by_name(41, 1, 1)
    assert not made.collapsed
    assert course((42, 12), (42, 30)).collapsed
    assert not course((42, 12), (42, 39)).collapsed
    assert not course().collapsed


def test_a_fall_is_told() -> None:
    made = course()
    made.expect(42.0, 0.2)
    assert made.add(39.5, {}, 1.0) == ""
    made.expect(42.0, 0.2)
    assert made.add(12.0, {}, 1.0) == "; far below the best (40), returning to its weights"


def test_lists_that_hold_what_there_is_widen_it_beyond_the_first() -> None:
    made = course((42, 41))
    assert not made.widen()
    made.expect(42.0, made.radius)
    made.add(40.0, {}, 0.05)
    assert made.radius == 2 * RADIUS
    assert made.widen()
    assert made.radius == 4 * RADIUS
    while made.widen():
        assert made.radius < 3
    made.expect(42.0, 0.2)
    made.add(41.9, {}, 1.0)
    assert made.radius == RADIUS


def test_before_anything_is_gained_a_search_that_finds_nothing_may_look_further() -> None:
    assert course((42, 39)).widen()
    assert not course((42, 41)).widen()


def test_features_that_vary() -> None:
    scales: Mapping[str, float] = {"x": 0.0, "b": 2.0, "a": 1.0}
    assert Scales(scales, scales).varying == ["a", "b"]


def test_two_small_gains_in_a_row_are_slow() -> None:
    def slow(*scores: float, least: float = 0.001, higher: bool = True, known: bool = True) -> bool:
        made = Course(RADIUS, higher, lambda score: abs(score) / 100 if known else math.nan, least)
        for score in scores:
            made.expect(score, 0.1)
            made.add(score if higher else -score, {}, 1.0)
        return made.slow

    assert not slow(40, 41)
    assert not slow(40, 41, 41.05)
    assert slow(40, 41, 41.05, 41.09)
    assert slow(40, 41, 39, 12)
    assert slow(40, 41, 41.05, 41.09, higher=False)
    assert not slow(40, 41, 41.05, 41.11)
    assert not slow(40, 41, 41.05, 41.05, 41.2)
    assert slow(40, 39.95, 40.02)
    assert slow(40, 40.05, 40.06, 40.07)
    # Nothing was gained yet: the region narrows until something is.
    assert not slow(40, 12, 30, 39)
    assert not slow(40, 40.05, 39)
    assert not slow(40, 41, 41, 41, least=0.0)
    assert not slow(40, 41, 41, 41, known=False)
