"""Minimise functions of many weights with bounds and penalties: L-BFGS in plain numpy.

D. Liu and J. Nocedal, "On the Limited Memory BFGS Method" (1989). Bounds as in D. Bertsekas' two-metric projection
(1982): weights held at a bound are left out of the direction. The line search is that of A. Lewis and M. Overton,
"Nonsmooth Optimization via Quasi-Newton Methods" (2013), which copes with kinks such as the brevity penalty's.

scipy's L-BFGS-B calls BLAS, whose threads wait for each other: with two threads on a busy machine it took 4 to 20 times
the CPU time of this module.
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
    """The weights' bounds: which weights are free, and the lowest and highest value of each."""

    free: Array
    low: Array
    high: Array

    def clipped(self, weights: Array, ids: Array | None = None) -> Array:
        """Clip free weights to the bounds; with ``ids``, ``weights`` are the weights with these ids only."""
        import numpy as np

        free, low, high = (column if ids is None else column[ids] for column in (self.free, self.low, self.high))
        clipped: Array = np.where(free, np.clip(weights, low, high), weights)
        return clipped


@dataclass(frozen=True)
class Minimum:
    """The point where a minimiser stopped."""

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

    With l1, each weight is the difference of two non-negative parts, so that the penalty is smooth (T. Goodman,
    "Exponential Priors for Maximum Entropy Models", 2004). Fixed weights are not penalised. The descent stops when the
    relative decrease of an iteration is at most ``tolerance``.
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
        # If both parts of a weight are above their bounds, subtract the common amount, which costs less, and continue.
        twice = np.minimum(first[:count] - low[:count], first[count:] - low[count:]) if l1 else np.zeros(1)
        if not np.any(twice > 0):
            return Minimum(spread(first), value, done)
        first = first - np.concatenate([twice, twice])
        if done >= iterations or 2 * l1 * float(twice.sum()) <= tolerance * max(1.0, abs(value)):
            return Minimum(spread(first), smooth(first)[0], done)


def dot(first: Array, second: Array) -> float:
    """The dot product, without BLAS and its threads."""
    import numpy as np

    return float(np.einsum("i,i->", first, second))


def _descend(
    objective: Objective, at: Array, low: Array, high: Array, iterations: int, tolerance: float
) -> tuple[Array, float, int]:
    """Descend; return the final point, its value and the number of iterations."""
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
        # Without a memory the gradient's length has no scale: the first step has length 1.
        length = 1.0 if memory else min(1.0, 1 / float(np.sqrt(dot(way, way))))
        step = _step(objective, at, value, slopes, way, length, low, high)
        if step is None:
            if not memory:
                return at, value, done
            memory.clear()
            continue
        there, less, behind = step
        moved, change = there - at, behind - slopes
        if dot(moved, change) > 1e-10 * dot(change, change):
            memory.append((moved, change))
        gained = (value - less) / max(abs(value), abs(less), 1.0)
        at, value, slopes = there, less, behind
        if gained <= tolerance:
            return at, value, done + 1
    return at, value, iterations


def _direction(slopes: Array, free: Array, memory: deque[tuple[Array, Array]]) -> Array:
    """The L-BFGS direction over the free weights: the two-loop recursion over past steps."""
    way = -slopes
    whole = bool(free.all())
    pairs = []
    for moved, change in reversed(memory):
        step, bend = (moved, change) if whole else (moved * free, change * free)
        product = dot(step, bend)
        if product > 1e-10 * dot(bend, bend):
            share = dot(step, way) / product
            way = way - share * bend
            pairs.append((step, bend, product, share))
    if pairs:
        _, bend, product, _ = pairs[0]
        way = way * (product / dot(bend, bend))
    for step, bend, product, share in reversed(pairs):
        way = way + (share - dot(bend, way) / product) * step
    return way


def _step(
    objective: Objective, at: Array, value: float, slopes: Array, way: Array, length: float, low: Array, high: Array
) -> tuple[Array, float, Array] | None:
    """Line search along ``way``, clipped to the bounds: a point with enough decrease and a flatter slope, or None."""
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
