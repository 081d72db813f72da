"""Pop limits of toolkits as our own."""

from __future__ import annotations

import pytest

from smtplugins.plugins.hiero.limits import TOOLKITS, own_limit


@pytest.mark.parametrize("toolkit", TOOLKITS)
def test_measured_points_are_kept_and_all_others_grow_between_them(toolkit: str) -> None:
    for theirs, ours in TOOLKITS[toolkit]:
        # A power is a float: one more does no harm.
        assert own_limit(theirs, toolkit) in (ours, ours + 1)
    limits = [own_limit(one, toolkit) for one in (1, 2, 5, 10, 30, 100, 200, 1000, 10_000)]
    assert limits == sorted(limits)
    assert limits[0] >= 1


def test_zero_is_no_limit() -> None:
    assert own_limit(0, "joshua") < 0
