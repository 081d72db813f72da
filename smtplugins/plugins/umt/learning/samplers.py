"""Samplers of discriminative reinforcement learning: which state of a path, and which action instead of the best.

A. Gesmundo and J. Henderson, "Undirected Machine Translation with Discriminative Reinforcement Learning" (2014), 3.2:
states uniformly from the path, actions from a Zipfian distribution over the ranks of the other actions. The paper does
not give the exponent; the default here is 1. The other samplers are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import suggestion

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from smtplugins.contracts.tools.learning import Path


class StateSampler(Protocol):
    """Chooses a state of a nonempty path, by the number of the action taken there."""

    def __call__(self, path: Path, random: Generator) -> int: ...


class ActionSampler(Protocol):
    """Chooses an action that the policy does not take, from a nonempty array of scores, best first."""

    def __call__(self, scores: NDArray[Any], random: Generator) -> int: ...


class Zipf:
    """Samples rank k with probability proportional to 1 / k^exponent, by binary search in prefix sums."""

    def __init__(self, exponent: float = 1.0) -> None:
        import numpy as np

        if not 0 <= exponent < np.inf:
            raise UsageError(f"exponent: expected 0 or more, found {exponent}")
        self._exponent = exponent
        self._sums = np.zeros(0)

    def __call__(self, scores: NDArray[Any], random: Generator) -> int:
        import numpy as np

        count = len(scores)
        if len(self._sums) < count:
            # A running sum: each prefix sum is the same whatever the array's length.
            self._sums = np.cumsum(np.arange(1, 2 * count + 1, dtype=np.float64) ** -self._exponent)
        return _draw_index(self._sums[:count], random)


class Softmax:
    """Samples actions with probability proportional to exp(score / temperature)."""

    def __init__(self, temperature: float = 1.0) -> None:
        if not 0 < temperature < float("inf"):
            raise UsageError(f"temperature: expected more than 0, found {temperature}")
        self._temperature = temperature

    def __call__(self, scores: NDArray[Any], random: Generator) -> int:
        import numpy as np

        # The first score is the highest, so nothing overflows.
        return _draw_index(np.cumsum(np.exp((scores - scores[0]) / self._temperature)), random)


def _draw_index(sums: NDArray[Any], random: Generator) -> int:
    """Draw an index from a distribution given by its prefix sums."""
    number = int(sums.searchsorted(random.random() * sums[-1], side="right"))
    return min(number, len(sums) - 1)


def uniform_state(path: Path, random: Generator) -> int:
    """Choose any state of the path except its end, which has no action."""
    return int(random.integers(len(path)))


def first_state(path: Path, random: Generator) -> int:
    """Choose the first state of the path."""
    return 0


def last_state(path: Path, random: Generator) -> int:
    """Choose the state of the last action."""
    return len(path) - 1


def uniform_action(scores: NDArray[Any], random: Generator) -> int:
    """Choose any action."""
    return int(random.integers(len(scores)))


def second_action(scores: NDArray[Any], random: Generator) -> int:
    """Choose the second-best action."""
    return 0


STATES: Mapping[str, StateSampler] = {"uniform": uniform_state, "first": first_state, "last": last_state}
ACTIONS = ("zipf", "uniform", "second", "softmax")


def state_sampler(which: str | StateSampler) -> StateSampler:
    """Look up a state sampler by name; functions pass through."""
    if not isinstance(which, str):
        return which
    if which not in STATES:
        raise UsageError(f"unknown state sampler {which!r}{suggestion(which, STATES)}")
    return STATES[which]


def action_sampler(which: str | ActionSampler, exponent: float, temperature: float) -> ActionSampler:
    """Look up an action sampler by name; functions pass through."""
    if not isinstance(which, str):
        return which
    if which not in ACTIONS:
        raise UsageError(f"unknown action sampler {which!r}{suggestion(which, ACTIONS)}")
    if which == "zipf":
        return Zipf(exponent)
    if which == "softmax":
        return Softmax(temperature)
    return uniform_action if which == "uniform" else second_action
