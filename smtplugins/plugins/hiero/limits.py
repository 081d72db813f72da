"""Conversion of the toolkits' pop limits to ours, and default pruning thresholds for a pop limit.

A pop of ours is an edge in a bundle's grid; the toolkits count pops differently, so equal limits are not comparable.
The points for each toolkit were measured (``python tests/bench decoding``): its pop limit, and the limit with which we
reach the same mean model score. Limits between and beyond the points are inter- and extrapolated on a log-log scale.
"""

from __future__ import annotations

import itertools
import math

TOOLKITS: dict[str, tuple[tuple[int, int], ...]] = {
    "cdec": ((30, 48), (200, 455), (1000, 4000)),
    "moses": ((30, 44), (200, 222), (1000, 3000)),
    "joshua": ((10, 25), (100, 250), (1000, 2500)),
}
# Up to this pop limit speed matters more than the last derivations; beyond it a search should be thorough.
_THOROUGH = 500


def own_limit(limit: int, toolkit: str) -> int:
    """Convert a toolkit's pop limit to ours; Joshua's 0 means no limit, which is -1 here."""
    if limit == 0:
        return -1
    points = TOOLKITS[toolkit]
    lines = list(itertools.pairwise(points))
    (low, ours_low), (high, ours_high) = next((line for line in lines if limit <= line[1][0]), lines[-1])
    power = math.log(ours_high / ours_low) / math.log(high / low)
    return max(1, math.ceil(ours_low * math.exp(power * math.log(limit / low))))


def pruning(limit: int) -> tuple[float, float]:
    """Return the defaults of ``adapt`` and ``beam`` for a pop limit."""
    return (0.8, 5.0) if 0 <= limit <= _THOROUGH else (0.5, 12.0)
