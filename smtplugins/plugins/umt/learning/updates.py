"""Updates: the step size along a difference of features, and per-feature scaling.

The perceptron is the update of A. Gesmundo and J. Henderson (2014). They found two others worse: K. Crammer et al.,
"Online Passive-Aggressive Algorithms" (2006), and L. Shen et al., "Guided Learning for Bidirectional Sequence
Classification" (2007), of which they give only the name; ``aggressive`` is our reading. ``logistic`` and scaling are
ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import suggestion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


class Update(Protocol):
    """Computes the step size along the difference of two feature vectors; 0 leaves the weights unchanged.

    ``margin`` is the weighted difference: the score of the better path minus that of the worse path. ``norm`` is how
    much a step of size 1 adds to the margin: the squared norm of the difference if it is not scaled. ``gain`` is the
    difference of rewards.
    """

    def __call__(self, margin: float, norm: float, gain: float) -> float: ...


UPDATES = ("perceptron", "pa", "mira", "aggressive", "logistic")


def update_of(which: str | Update, rate: float, c: float, scale: float, width: float = 1.0) -> Update:
    """Look up an update by name; functions pass through."""

    def perceptron(margin: float, norm: float, gain: float) -> float:
        return rate

    def passive_aggressive(margin: float, norm: float, gain: float) -> float:
        return max(0.0, 1.0 - margin) / norm

    def mira(margin: float, norm: float, gain: float) -> float:
        return min(c, max(0.0, scale * gain - margin) / norm)

    def aggressive(margin: float, norm: float, gain: float) -> float:
        # A perceptron step adds rate * norm to the margin: take as many as it needs to be above 0, at least one.
        lacking = -margin / (rate * norm)
        return rate * max(1.0, math.floor(lacking) + 1.0) if math.isfinite(lacking) else math.nan

    def logistic(margin: float, norm: float, gain: float) -> float:
        # The derivative of 1 / (1 + exp(-margin / width)), times 4 * width so that its maximum is 1.
        small = math.exp(-abs(margin) / width)
        return rate * gain * 4.0 * small / (1.0 + small) ** 2

    if not isinstance(which, str):
        return which
    if which not in UPDATES:
        raise UsageError(f"unknown update {which!r}{suggestion(which, UPDATES)}")
    updates = (perceptron, passive_aggressive, mira, aggressive, logistic)
    return dict(zip(UPDATES, updates, strict=True))[which]


_SIDES = 1e-4
"""Lower bound of a feature's scale: its differences count as at least a hundredth of its sums."""


@dataclass
class Scale:
    """The scale of each feature's differences: sums of squares and counts."""

    squares: Array
    counts: Array

    @classmethod
    def blank(cls, size: int) -> Scale:
        """Return the initial scale, before any difference is counted."""
        import numpy as np

        return cls(np.zeros(size), np.zeros(size))

    def along(self, ids: Array, values: Array, sides: Array, size: int) -> Array:
        """Divide each difference by the mean square of its feature's differences so far, including this one.

        ``sides`` holds the sums of squares of both sides of each difference, which keep rounding errors of features
        that cancel out from being scaled up. ``size`` is the current number of features.
        """
        self.squares, self.counts = longer(self.squares, size), longer(self.counts, size)
        self.squares[ids] += values * values + _SIDES * sides
        self.counts[ids] += 1.0
        mean = self.squares[ids] / self.counts[ids]
        mean[mean == 0.0] = 1.0
        scaled: Array = values / mean
        return scaled


def squares_of(ids: Array, row: tuple[Array, Array]) -> Array:
    """Return the squares of a sparse row's values at ``ids``, 0 where it has none."""
    import numpy as np

    own, values = row
    if not len(own):
        return np.zeros(len(ids))
    at = np.minimum(np.searchsorted(own, ids), len(own) - 1)
    squares: Array = np.where(own[at] == ids, values[at], 0.0) ** 2
    return squares


def longer(values: Array, size: int) -> Array:
    """Pad with zeros to ``size``."""
    import numpy as np

    return values if len(values) >= size else np.concatenate([values, np.zeros(size - len(values))])
