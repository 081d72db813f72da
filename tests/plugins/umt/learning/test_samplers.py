"""Samplers: frequencies against the distributions that they are drawn from, by chi-square on fixed seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import chdtrc

from smtplugins.host.learn.search_tasks import Path
from smtplugins.plugins.umt.learning.samplers import ACTIONS, STATES, Softmax, Zipf, action_sampler, state_sampler

DRAWS = 20_000


def fits(numbers: list[int], masses: Any) -> bool:
    """Whether these numbers may well be drawn from masses."""
    wanted = DRAWS * np.asarray(masses, dtype=np.float64) / np.sum(masses)
    counts = np.bincount(numbers, minlength=len(wanted))
    # Pearson's chi-squared test.
    return bool(chdtrc(len(wanted) - 1, ((counts - wanted) ** 2 / wanted).sum()) > 0.001)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("count", [2, 7, 100])
def test_zipf(exponent: float, count: int) -> None:
    random, sampler = np.random.default_rng(17), Zipf(exponent)
    masses, scores = 1 / np.arange(1, count + 1) ** exponent, np.zeros(count)
    drawn = [sampler(scores, random) for _ in range(DRAWS)]
    assert fits(drawn, masses)
    # The test would tell: a neighbouring exponent does not fit.
    assert not fits(drawn, 1 / np.arange(1, count + 1) ** (exponent + 0.25))


def test_zipf_is_the_same_whatever_was_drawn_before() -> None:
    fresh, used = Zipf(), Zipf()
    for count in (1000, 3, 50):
        used(np.zeros(count), np.random.default_rng(0))
    for count in (1, 3, 50, 999):
        one, other = np.random.default_rng(4), np.random.default_rng(4)
        assert [fresh(np.zeros(count), one) for _ in range(50)] == [used(np.zeros(count), other) for _ in range(50)]


def test_softmax() -> None:
    scores = np.array([3.0, 2.5, 2.5, 0.0, -1.0])
    for temperature in (0.5, 1.0, 4.0):
        random, sampler = np.random.default_rng(5), Softmax(temperature)
        drawn = [sampler(scores, random) for _ in range(DRAWS)]
        assert fits(drawn, np.exp(scores / temperature))
    far = np.array([1e6, 0.0, -1e6])
    assert {Softmax(0.1)(far, np.random.default_rng(k)) for k in range(20)} == {0}


def test_uniform_and_others() -> None:
    random, scores = np.random.default_rng(3), np.array([3.0, 1.0, 0.0])
    uniform = action_sampler("uniform", 1.0, 1.0)
    assert fits([uniform(scores, random) for _ in range(DRAWS)], np.ones(3))
    assert {action_sampler("second", 1.0, 1.0)(scores, random) for _ in range(9)} == {0}
    path = Path("stuv", "abc", *np.zeros((3, 1)), [0.0] * 3)
    anywhere = state_sampler("uniform")
    assert fits([anywhere(path, random) for _ in range(DRAWS)], np.ones(3))
    assert {name: state_sampler(name)(path, random) for name in ("first", "last")} == {"first": 0, "last": 2}


def test_one_action_is_chosen_whoever_chooses() -> None:
    random, path = np.random.default_rng(1), Path("st", "a", *np.zeros((3, 1)), [0.0])
    assert {action_sampler(name, 1.0, 1.0)(np.array([2.0]), random) for name in ACTIONS} == {0}
    assert {state_sampler(name)(path, random) for name in STATES} == {0}
