"""Minimising functions of many weights with bounds and penalties: L-BFGS in numpy alone.

D. Liu and J. Nocedal, "On the Limited Memory BFGS Method" (1989). Bounds as in D. Bertsekas' two-metric projection
(1982): weights that a bound holds stay out of the direction. Steps are those of A. Lewis and M. Overton, "Nonsmooth
Optimization via Quasi-Newton Methods" (2013), which pass edges such as that of a brevity penalty.

scipy has L-BFGS-B, but calls BLAS for it, whose threads wait for each other: with two threads on a busy machine it took
4 to 20 times the CPU time of what is here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

Objective = Callable[["Array"], "tuple[float, Array]"]
"""A function of weights: its value and its gradient."""

_MEMORY = 20
_DECREASE, _CURVATURE = 1e-4, 0.9
_TRIALS = 40


@dataclass(frozen=True)
class Space:
    """Where weights may be: which are free, and the least and greatest value of each."""

    free: Array
    low: Array
    high: Array

    def clipped(self, weights: Array, ids: Array | None = None) -> Array:
        """The nearest weights within the bounds, fixed ones as they are; with ``ids``, of those numbers only."""
        import numpy as np

        free, low, high = (one if ids is None else one[ids] for one in (self.free, self.low, self.high))
        found: Array = np.where(free, np.clip(weights, low, high), weights)
        return found


@dataclass(frozen=True)
class Minimum:
    """Where a minimiser stopped."""

    weights: Array
    value: float
    iterations: int


def minimise(
    objective: Objective,
    start: Array,
    space: Space,
    *,
    l1: float = 0.0,
    l2: float = 0.0,
    iterations: int = 100,
    tolerance: float = 1e-9,
) -> Minimum:
    """Minimise an objective plus l1 * |w| + l2 / 2 * |w|^2 over the free weights, within bounds.

    With l1, each weight is the difference of two that are not negative, so that the penalty is smooth (T. Goodman,
    "Exponential Priors for Maximum Entropy Models", 2004). Fixed weights are not penalised. ``tolerance`` is the least
    relative decrease that is worth another iteration.
    """
    import numpy as np

    free = np.flatnonzero(space.free)
    count = len(free)
    begin = space.clipped(np.asarray(start, dtype=np.float64))
    low, high = space.low[free], space.high[free]
    if not count:
        return Minimum(begin, objective(begin)[0], 0)

    def spread(parts: Array) -> Array:
        weights: Array = begin.copy()
        weights[free] = parts[:count] - parts[count:] if l1 else parts
        return weights

    def smooth(parts: Array) -> tuple[float, Array]:
        weights = spread(parts)
        value, slopes = objective(weights)
        own = weights[free]
        value += l2 / 2 * dot(own, own)
        down = slopes[free] + l2 * own
        if not l1:
            return value, down
        return value + l1 * float(parts.sum()), np.concatenate([down + l1, l1 - down])

    first = begin[free]
    if l1:
        first = np.concatenate([np.maximum(first, 0), np.maximum(-first, 0)])
        low, high = (
            np.concatenate([np.maximum(low, 0), np.maximum(-high, 0)]),
            np.concatenate([np.maximum(high, 0), np.maximum(-low, 0)]),
        )
    done = 0
    while True:
        first, value, taken = _descend(smooth, first, low, high, iterations - done, tolerance)
        done += taken
        # Two parts of one weight that are both there cost more than their difference: without, and on from there.
        twice = np.minimum(first[:count] - low[:count], first[count:] - low[count:]) if l1 else np.zeros(1)
        if not np.any(twice > 0):
            return Minimum(spread(first), value, done)
        first = first - np.concatenate([twice, twice])
        if done >= iterations or 2 * l1 * float(twice.sum()) <= tolerance * max(1.0, abs(value)):
            return Minimum(spread(first), smooth(first)[0], done)


def dot(one: Array, other: Array) -> float:
    """The sum of products, without BLAS and its threads."""
    import numpy as np

    return float(np.einsum("i,i->", one, other))


def _descend(
    objective: Objective, at: Array, low: Array, high: Array, iterations: int, tolerance: float
) -> tuple[Array, float, int]:
    """Where the descent stops, the value there, and after how many iterations."""
    import numpy as np

    value, slopes = objective(at)
    memory: deque[tuple[Array, Array]] = deque(maxlen=_MEMORY)
    for done in range(iterations):
        held = ((at <= low) & (slopes > 0)) | ((at >= high) & (slopes < 0))
        open_slopes = np.where(held, 0.0, slopes)
        steepest = float(np.abs(open_slopes).max())
        if not steepest > 1e-12 or not np.isfinite(value):
            return at, value, done
        way = _direction(open_slopes, ~held, memory)
        if not dot(way, open_slopes) < 0:
            memory.clear()
            way = -open_slopes
        # Without a memory the length of the slopes says nothing: a first step of length 1.
        length = 1.0 if memory else min(1.0, 1 / float(np.sqrt(dot(way, way))))
        found = _step(objective, at, value, slopes, way, length, low, high)
        if found is None:
            if not memory:
                return at, value, done
            memory.clear()
            continue
        there, less, behind = found
        moved, change = there - at, behind - slopes
        if dot(moved, change) > 1e-10 * dot(change, change):
            memory.append((moved, change))
        gained = (value - less) / max(abs(value), abs(less), 1.0)
        at, value, slopes = there, less, behind
        if gained <= tolerance:
            return at, value, done + 1
    return at, value, iterations


def _direction(slopes: Array, free: Array, memory: deque[tuple[Array, Array]]) -> Array:
    """Downwards by the curvature of the steps before, among free weights: the two loops."""
    way = -slopes
    whole = bool(free.all())
    pairs = []
    for moved, change in reversed(memory):
        one, two = (moved, change) if whole else (moved * free, change * free)
        product = dot(one, two)
        if product > 1e-10 * dot(two, two):
            share = dot(one, way) / product
            way = way - share * two
            pairs.append((one, two, product, share))
    if pairs:
        one, two, product, _ = pairs[0]
        way = way * (product / dot(two, two))
    for one, two, product, share in reversed(pairs):
        way = way + (share - dot(two, way) / product) * one
    return way


def _step(
    objective: Objective, at: Array, value: float, slopes: Array, way: Array, length: float, low: Array, high: Array
) -> tuple[Array, float, Array] | None:
    """A point along the way, bent at bounds, that is low enough, and behind which the slope is less steep."""
    import numpy as np

    least, most = 0.0, np.inf
    kept: tuple[Array, float, Array] | None = None
    steep = dot(way, slopes)
    for _ in range(_TRIALS):
        straight = at + length * way
        there = np.clip(straight, low, high)
        less, behind = objective(there)
        if not less <= value + _DECREASE * dot(slopes, there - at) or not np.any(there != at):
            most = length
        else:
            kept = there, less, behind
            if dot(behind, way) >= _CURVATURE * steep or bool(np.any(there != straight)):
                return kept
            least = length
        length = (least + most) / 2 if most < np.inf else 2 * least
    return kept
