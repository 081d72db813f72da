"""How far weights move along a difference of features, and in which proportions.

The perceptron is that of A. Gesmundo and J. Henderson (2014); the updates that they found worse: K. Crammer et al.,
"Online Passive-Aggressive Algorithms" (2006); of L. Shen et al., "Guided Learning for Bidirectional Sequence
Classification" (2007), they give the name alone: ``aggressive`` is our reading. ``logistic`` and scaling are ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from smtplugins.contracts.spec import suggestion
from smtplugins.host.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


class Update(Protocol):
    """How far the weights move along the difference of two sums of features; 0 is not at all.

    ``margin`` is the weighted sum of the difference, how much better the policy thinks of the better path; ``norm`` how
    much a step of 1 adds to it, the square of its length if it is not scaled; ``gain`` how much higher the reward is.
    """

    def __call__(self, margin: float, norm: float, gain: float) -> float: ...


UPDATES = ("perceptron", "pa", "mira", "aggressive", "logistic")


def update_of(which: str | Update, rate: float, c: float, scale: float, width: float = 1.0) -> Update:
    """An update by name, or the one given."""

    def perceptron(margin: float, norm: float, gain: float) -> float:
        return rate

    def passive_aggressive(margin: float, norm: float, gain: float) -> float:
        return max(0.0, 1.0 - margin) / norm

    def mira(margin: float, norm: float, gain: float) -> float:
        return min(c, max(0.0, scale * gain - margin) / norm)

    def aggressive(margin: float, norm: float, gain: float) -> float:
        # A step adds rate * norm to the margin: as many as it takes to be above 0, and at least one.
        lacking = -margin / (rate * norm)
        return rate * max(1.0, math.floor(lacking) + 1.0) if math.isfinite(lacking) else math.nan

    def logistic(margin: float, norm: float, gain: float) -> float:
        # The slope of 1 / (1 + exp(-margin / width)), times 4 * width: 1 where it is steepest.
        small = math.exp(-abs(margin) / width)
        return rate * gain * 4.0 * small / (1.0 + small) ** 2

    if not isinstance(which, str):
        return which
    if which not in UPDATES:
        raise UsageError(f"update: there is none called {which!r}{suggestion(which, UPDATES)}")
    updates = (perceptron, passive_aggressive, mira, aggressive, logistic)
    return dict(zip(UPDATES, updates, strict=True))[which]


_SIDES = 1e-4
"""No feature is scaled as if its differences were less than a hundredth of its sums."""


@dataclass
class Scale:
    """What is known of the size of each feature's differences: sums of their squares, and how many they are."""

    squares: Array
    counts: Array

    @classmethod
    def blank(cls, size: int) -> Scale:
        """No difference was seen."""
        import numpy as np

        return cls(np.zeros(size), np.zeros(size))

    def along(self, ids: Array, values: Array, sides: Array, size: int) -> Array:
        """Differences, each divided by the mean square of those of its feature so far, itself among them.

        ``sides`` are the sums of squares of what they are the differences of: what cancels out but for rounding has
        hardly any difference, and is not made larger. ``size`` is how many features there are now.
        """
        self.squares, self.counts = longer(self.squares, size), longer(self.counts, size)
        self.squares[ids] += values * values + _SIDES * sides
        self.counts[ids] += 1.0
        mean = self.squares[ids] / self.counts[ids]
        mean[mean == 0.0] = 1.0
        found: Array = values / mean
        return found


def squares_of(ids: Array, row: tuple[Array, Array]) -> Array:
    """The squares of a sparse row's values, for each of these numbers."""
    import numpy as np

    own, values = row
    if not len(own):
        return np.zeros(len(ids))
    at = np.minimum(np.searchsorted(own, ids), len(own) - 1)
    found: Array = np.where(own[at] == ids, values[at], 0.0) ** 2
    return found


def longer(values: Array, size: int) -> Array:
    """With zeros behind them, so that there are as many."""
    import numpy as np

    return values if len(values) >= size else np.concatenate([values, np.zeros(size - len(values))])
