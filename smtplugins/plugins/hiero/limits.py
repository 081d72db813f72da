"""Pop limits of the toolkits as our own, and how hard a search prunes beside its pop limit.

A pop of ours is an edge of a bundle's grid, one of theirs may be less or more, so equal numbers mean nothing. The
points of each line were measured (``python tests/bench decoding``): a pop limit of the toolkit, and ours that reaches
its mean model score. Between and beyond them ours is a power of the toolkit's.
"""

from __future__ import annotations

import itertools
import math

TOOLKITS: dict[str, tuple[tuple[int, int], ...]] = {
    "cdec": ((30, 48), (200, 455), (1000, 4000)),
    "moses": ((30, 44), (200, 222), (1000, 3000)),
    "joshua": ((10, 25), (100, 250), (1000, 2500)),
}
# Up to so many pops speed is worth more than the last derivations; beyond, a search is to find what others have not.
_THOROUGH = 500


def own_limit(limit: int, toolkit: str) -> int:
    """Our pop limit for a toolkit's; no limit for Joshua's 0."""
    if limit == 0:
        return -1
    points = TOOLKITS[toolkit]
    lines = list(itertools.pairwise(points))
    (low, ours_low), (high, ours_high) = next((line for line in lines if limit <= line[1][0]), lines[-1])
    power = math.log(ours_high / ours_low) / math.log(high / low)
    return max(1, math.ceil(ours_low * math.exp(power * math.log(limit / low))))


def pruning(limit: int) -> tuple[float, float]:
    """``adapt`` and ``beam`` where nobody says what they are to be."""
    return (0.8, 5.0) if 0 <= limit <= _THOROUGH else (0.5, 12.0)
