"""A trust region as a cone of weights: only directions count (``host/learn/trust_region.py``)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_HALVINGS = 40
_EDGE = 1e-9


def cones_around(weights: Array, spread: Array, size: Array, distance: float) -> list[Cone]:
    """Cones of the weights within a distance, by spread and by size; features without spread are left out of both."""
    import numpy as np

    cones = (Cone.around(weights, unit, distance) for unit in (spread, np.where(spread > 0, size, 0.0)))
    return [cone for cone in cones if cone is not None]


@dataclass(frozen=True)
class Cone:
    """All weights whose contributions have an angle of at most ``acos(cosine)`` to the ``axis``, a unit vector.

    A contribution is a weight times its ``unit``.
    """

    axis: Array
    unit: Array
    cosine: float

    @classmethod
    def around(cls, weights: Array, unit: Array, distance: float) -> Cone | None:
        """The weights within a distance from 0 to 2; None for zero weights or a distance of a right angle or more."""
        import numpy as np

        own = weights * unit
        length = float(np.linalg.norm(own))
        # From a right angle on it is no convex cone and does not bound the search.
        if not length or distance >= math.sqrt(2):
            return None
        return cls(own / length, unit, 1 - distance**2 / 2)

    def holds(self, weights: Array) -> bool:
        """Whether weights are in the cone or on its edge."""
        import numpy as np

        own = weights * self.unit
        return float(own @ self.axis) >= (self.cosine - _EDGE) * float(np.linalg.norm(own))

    def pulled(self, weights: Array, inner: Array) -> Array:
        """The weights if they are in the cone, else the last point in it on the way from ``inner`` to them."""
        if self.holds(weights):
            return weights
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            inside = self.holds(inner + middle * (weights - inner))
            low, high = (middle, high) if inside else (low, middle)
        result: Array = inner + low * (weights - inner)
        return result

    def reach(self, directions: Array, weights: Array) -> tuple[Array, Array]:
        """How far each direction (a row) can be followed from weights in the cone, down and up, without leaving it.

        At the edge, (axis . x)^2 = cosine^2 |x|^2 for x = weights + t * direction: a quadratic in t. A line meets a
        cone in an interval, which holds 0.
        """
        import numpy as np

        here, by = weights * self.unit, directions * self.unit
        square = self.cosine**2
        along, ahead = float(self.axis @ here), by @ self.axis
        a = ahead**2 - square * (by**2).sum(axis=1)
        half = along * ahead - square * (by @ here)
        c = max(along**2 - square * float(here @ here), 0.0)
        root = np.sqrt(np.maximum(half**2 - a * c, 0.0))
        # The stable form: one root by adding what has the same sign, the other by the product of both.
        sum_ = -(half + np.where(half >= 0, root, -root))
        with np.errstate(divide="ignore", invalid="ignore"):
            roots = np.sort(
                np.stack([np.where(a != 0, sum_ / a, np.inf), np.where(sum_ != 0, c / sum_, np.inf)]), axis=0
            )
        first, last = roots
        inside = a < 0  # between the roots; else before the first or after the last
        low = np.where(inside, first, np.where(last <= 0, last, -np.inf))
        high = np.where(inside, last, np.where(first >= 0, first, np.inf))
        still = (by == 0).all(axis=1)
        return np.where(still, -np.inf, np.minimum(low, 0.0)), np.where(still, np.inf, np.maximum(high, 0.0))
