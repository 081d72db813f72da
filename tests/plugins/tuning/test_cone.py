"""The weights within a distance: what a cone holds, how far lines stay in it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from smtplugins.host.learn.trust_region import distance
from smtplugins.plugins.tuning.cone import Cone, cones_around

from .made import SEEDS


def made(seed: int) -> tuple[np.random.Generator, Cone, np.ndarray, float]:
    rng = np.random.default_rng(seed)
    origin, unit, radius = rng.normal(size=4), np.abs(rng.normal(size=4)), rng.uniform(0.05, 1.4)
    cone = Cone.around(origin, unit, radius)
    assert cone is not None
    return rng, cone, origin, radius


@settings(max_examples=60)
@given(SEEDS)
def test_it_holds_what_is_near(seed: int) -> None:
    rng, cone, origin, radius = made(seed)
    assert cone.holds(origin)
    assert cone.holds(17 * origin)
    for other in origin + rng.normal(size=(20, 4)):
        apart = distance(other, origin, cone.unit[None])
        if abs(apart - radius) > 1e-6:
            assert cone.holds(other) == (apart < radius)
        pulled = cone.pulled(other, origin)
        assert distance(pulled, origin, cone.unit[None]) <= radius + 1e-6
        assert cone.holds(other) == bool(np.array_equal(pulled, other))


@settings(max_examples=100)
@given(SEEDS)
def test_lines_stay_as_far_as_it_says(seed: int) -> None:
    rng, cone, origin, _ = made(seed)
    weights = cone.pulled(3 * rng.normal(size=4), origin)
    directions = np.concatenate([np.eye(4), rng.normal(size=(3, 4)), origin[None]])
    low, high = cone.reach(directions, weights)
    assert (low <= 0).all()
    assert (high >= 0).all()
    for direction, least, most in zip(directions, low, high, strict=True):
        for t in np.concatenate([3 * rng.normal(size=20), 1e3 * rng.normal(size=3)]):
            if min(abs(t - least), abs(t - most)) > 1e-5 * max(1, abs(t)):
                assert cone.holds(weights + t * direction) == (least <= t <= most)


def test_no_cone_where_there_is_no_direction_or_no_limit() -> None:
    one = np.ones(2)
    assert Cone.around(np.zeros(2), one, 0.3) is None
    assert Cone.around(one, np.zeros(2), 0.3) is None
    assert Cone.around(one, one, math.sqrt(2)) is None
    assert len(cones_around(one, np.array([1.0, 0.0]), one, 0.3)) == 2


def test_features_that_do_not_vary_count_in_no_unit() -> None:
    cones = cones_around(np.array([1.0, 1.0, 5.0]), np.array([1.0, 1.0, 0.0]), np.array([1.0, 2.0, 40.0]), 0.3)
    for cone in cones:
        assert cone.holds(np.array([1.0, 1.0, -9.0]))
    first, second = (float(cone.unit @ np.ones(3)) for cone in cones)
    assert (first, second) == pytest.approx((2.0, 3.0))
